"""Files that are no ordinary standard: broken, locked, scanned, without structure. And what the report says of them."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from pdfs import sheet

from normrag_core.cli import main
from normrag_core.ingest import IngestError, read_pdf

WORDS = "abcdefghijklmnopqrstuvwxyzabcdef"


def test_errors_name_the_file_and_the_remedy(tmp_path: Path) -> None:
    cases = {
        "empty.pdf": (b"", "empty"),
        "page.pdf": (b"<html></html>", "expected a PDF"),
        "cut.pdf": (b"%PDF-1.7\n%%", "download"),
    }
    for name, (data, words) in cases.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(IngestError, match=words) as error:
            read_pdf(tmp_path / name)
        assert str(error.value).startswith(f"{name}: ")
    with pytest.raises(IngestError, match=r"gone\.pdf: cannot be opened"):
        read_pdf(tmp_path / "gone.pdf")


def test_too_many_pages(tmp_path: Path) -> None:
    s = sheet().turn().prose()
    with pytest.raises(IngestError, match="has 2 pages, more than the limit of 1"):
        read_pdf(s.save(tmp_path / "a.pdf"), max_pages=1)


@pytest.mark.parametrize("password", ["", "secret"])
def test_locked_files(tmp_path: Path, password: str) -> None:
    s = sheet().turn().head("1", "Scope").prose()
    path = tmp_path / "a.pdf"
    s.pdf.save(path, encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="owner", user_pw=password, permissions=0)
    if password:
        with pytest.raises(IngestError, match="password"):
            read_pdf(path)
    else:
        assert [u.key for u in read_pdf(path).units] == ["", "1"]


def test_progress_counts_pages(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    read_pdf(sheet().turn().prose().save(tmp_path / "a.pdf"), progress=lambda done, of: seen.append((done, of)))
    assert seen == [(1, 2), (2, 2)]


def test_scanned_pages_ask_for_ocr(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 8, 8), False)
    picture.clear_with(200)
    for _ in range(3):
        page = pdf.new_page()
        page.insert_image(page.rect, pixmap=picture)
    pdf.save(tmp_path / "scan.pdf")
    parsed = read_pdf(tmp_path / "scan.pdf")
    assert [u.key for u in parsed.units] == ["", "Page 1", "Page 2", "Page 3"]
    finding = next(f for f in parsed.document.report.findings if f.kind == "page-without-text")
    assert finding.severity == "error"
    assert "pages 1–3" in finding.text
    assert "OCR" in finding.text
    assert parsed.document.report.counts["pages without text"] == 3


def test_text_without_headings_comes_out_as_pages(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    for number in range(3):
        page = pdf.new_page()
        for row in range(20):
            page.insert_text(
                (72, 90 + 14 * row), f"{WORDS[(row + 7 * number) % 26 :][:4]} is written here and is no heading at all."
            )
    pdf.save(tmp_path / "letter.pdf")
    parsed = read_pdf(tmp_path / "letter.pdf")
    assert [(u.key, u.page, u.kind) for u in parsed.units[1:]] == [(f"Page {n}", n, "heading") for n in (1, 2, 3)]
    assert parsed.units[2].body.startswith("hijk is written here")
    assert "no-structure" in {f.kind for f in parsed.document.report.findings}


def test_rfc_in_one_typeface_is_read_by_its_contents(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    pages = [
        [
            "Request for Comments: 9999                      May 2031",
            "",
            "Table of Contents",
            "",
            "1.  Introduction . . . . . . . . . . . . . . .   2",
            "  1.1.  Terms . . . . . . . . . . . . . . . . . .   2",
            "2.  Security Considerations . . . . . . . . .   3",
        ],
        ["1.  Introduction", "", "   The protocol of section 2 is safe.", "", "1.1.  Terms", "", "   3. is a number."],
        ["2.  Security Considerations", "", "   None that we know of."],
    ]
    for rows in pages:
        page = pdf.new_page()
        for n, text in enumerate(rows):
            page.insert_text((72, 80 + 12 * n), text, fontname="cour", fontsize=10)
    pdf.save(tmp_path / "rfc.pdf")
    parsed = read_pdf(tmp_path / "rfc.pdf")
    assert parsed.document.id == "RFC 9999"
    assert [(u.key, u.title, u.parent, u.page) for u in parsed.units[1:]] == [
        ("1", "Introduction", "", 2),
        ("1.1", "Terms", "1", 2),
        ("2", "Security Considerations", "", 3),
    ]


def test_command_line_prints_json_and_keeps_messages_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = sheet().turn().head("1", "Scope").prose().save(tmp_path / "a.pdf")
    assert main(["parse", str(path)]) == 0
    assert '"code": "1"' in capsys.readouterr().out
    (tmp_path / "b.pdf").write_bytes(b"")
    assert main(["parse", str(tmp_path / "b.pdf")]) == 1
    done = capsys.readouterr()
    assert done.out == ""
    assert "b.pdf: the file is empty" in done.err
