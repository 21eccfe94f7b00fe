"""What becomes of hostile and broken PDFs: a document or a message with a remedy, and never the parent or the next file."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hostile import CASES, STANDARD, standard

from normrag_core.ingest.limits import Limits
from normrag_core.ingest.pool import IngestError, ParsePool

NAMES = (
    "../../etc/passwd",
    "a'b\"c<script>.pdf",
    "x" * 300 + ".pdf",
    "📡 норма.pdf",
    "..\\..\\boot.ini",
    ".pdf",
    "con.pdf",
    "a\nb.pdf",
)


@pytest.fixture(scope="module")
def pool() -> Iterator[ParsePool]:
    with ParsePool(1, Limits(seconds=60, stall_seconds=60, memory_mb=900, file_mb=50)) as pool:
        yield pool


@pytest.mark.parametrize("case", CASES)
def test_outcome(case: str, pool: ParsePool) -> None:
    make, refused = CASES[case]
    if refused is None:
        parsed = pool.parse(f"{case}.pdf", make())
        assert parsed.document.file == f"{case}.pdf"
        assert parsed.units[0].parent is None
        assert parsed.document.pages >= 1
    else:
        with pytest.raises(IngestError) as raised:
            pool.parse(f"{case}.pdf", make())
        assert str(raised.value).startswith(f"{case}.pdf: ")
        assert re.search(refused, str(raised.value))
    assert [u.code for u in pool.parse("next.pdf", bytes(standard().tobytes())).units] == ["", "1", "2", "3"]


def test_a_scanned_document_says_that_text_recognition_is_needed(pool: ParsePool) -> None:
    findings = pool.parse("scan.pdf", CASES["scanned only"][0]()).document.report.findings
    assert any(f.kind == "page-without-text" and "OCR" in f.text for f in findings)


def test_permissions_do_not_keep_a_reader_out(pool: ParsePool) -> None:
    parsed = pool.parse("x.pdf", CASES["permission-encrypted"][0]())
    assert parsed.document.label == STANDARD.split(" (")[0]
    assert [u.code for u in parsed.units] == ["", "1", "2", "3"]


@pytest.mark.parametrize("name", NAMES)
def test_a_strange_name_is_only_a_name(name: str, pool: ParsePool) -> None:
    parsed = pool.parse(name, bytes(standard().tobytes()))
    assert parsed.document.file == (re.split(r"[/\\]", name)[-1] or "unnamed file")
    assert parsed.document.id == "EN 399 001"
