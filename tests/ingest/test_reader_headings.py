"""Headings of whole PDFs, read with `read_pdf`: each test draws one of the traps that real standards set."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from pdfs import LEFT, TAB, Sheet, sheet

from normrag_core.ingest import read_pdf
from normrag_core.model import InfoUnit, ParsedDocument

NAMES = ("Scope", "References", "Definitions", "Architecture", "Interfaces", "Timers", "Tests")


def tree(parsed: ParsedDocument) -> list[tuple[str, str, str | None]]:
    """(key, title, parent) of all units but the root."""
    return [(u.key, u.title, u.parent) for u in parsed.units[1:]]


def unit(parsed: ParsedDocument, key: str) -> InfoUnit:
    return next(u for u in parsed.units if u.key == key)


def kinds_of_finding(parsed: ParsedDocument) -> set[str]:
    return {f.kind for f in parsed.document.report.findings}


def plain(tmp_path: Path) -> Sheet:
    """Two clauses that every test needs so that the document's typography is known."""
    s = sheet().turn()
    s.head("", "Foreword").prose()
    s.head("1", "Scope").prose()
    s.head("2", "References").head("2.1", "Normative references", 2).prose()
    return s


def test_number_and_title_drawn_apart_make_one_heading_with_its_place(tmp_path: Path) -> None:
    parsed = read_pdf(plain(tmp_path).save(tmp_path / "a.pdf"))
    assert tree(parsed) == [
        ("Foreword", "Foreword", ""),
        ("1", "Scope", ""),
        ("2", "References", ""),
        ("2.1", "Normative references", "2"),
    ]
    scope = unit(parsed, "1")
    assert (scope.page, scope.kind) == (2, "clause")
    assert 165 < scope.y < 180  # the top of its print, not the top of the page
    assert unit(parsed, "2").body == ""
    assert unit(parsed, "Foreword").informative
    assert not scope.informative


def test_number_on_a_line_of_its_own_takes_the_title_below(tmp_path: Path) -> None:
    s = plain(tmp_path)
    s.y += 20
    s.put(LEFT, s.y, "3", "helv", 18)
    s.put(LEFT, s.y + 20, "Definitions", "helv", 18)
    s.y += 40
    parsed = read_pdf(s.prose().save(tmp_path / "a.pdf"))
    assert ("3", "Definitions", "") in tree(parsed)


def test_wrapped_title_may_go_on_with_a_number(tmp_path: Path) -> None:
    s = plain(tmp_path)
    s.head("2.2", "Support of terminals that use a channel of", 2)
    s.put(113, s.y + 2, "8 kHz structured bearers", "helv", 16)
    s.y += 10
    s.head("3", "Void").prose()
    parsed = read_pdf(s.save(tmp_path / "a.pdf"))
    assert ("2.2", "Support of terminals that use a channel of 8 kHz structured bearers", "2") in tree(parsed)
    assert ("3", "Void", "") in tree(parsed)


@pytest.mark.parametrize("listed", [True, False])
def test_letters_in_numbers(tmp_path: Path, listed: bool) -> None:
    s = plain(tmp_path)
    s.head("3", "Elements").head("3.1", "First", 2).prose(1)
    s.head("3.1A", "Put in later", 2).prose(1).head("3.2", "Second", 2).prose(1)
    s.turn().head("4a", "Late chapter").head("4a.5", "Part", 2).head("4a.5.4", "Detail", 3).prose()
    toc = [
        [1, "3 Elements", 2],
        [2, "3.1 First", 2],
        [2, "3.1A Put in later", 2],
        [2, "3.2 Second", 2],
        [1, "4a Late chapter", 3],
    ]
    parsed = read_pdf(s.save(tmp_path / "a.pdf", toc if listed else ()))
    assert ("3.1A", "Put in later", "3") in tree(parsed)
    assert ("4a.5.4", "Detail", "4a.5") in tree(parsed)


def test_annexes_with_title_below_and_double_letters(tmp_path: Path) -> None:
    s = plain(tmp_path).turn()
    for letter, note, title in (("I", "normative", "Signalling"), ("AA", "informative", "Bibliography")):
        s.head("", f"Annex {letter} ({note}):")
        s.put(LEFT, s.y + 4, title, "helv", 18)
        s.y += 16
        s.head(f"{letter}.1", "General").head(f"{letter}.1.1", "Detail", 2).prose()
    parsed = read_pdf(s.save(tmp_path / "a.pdf"))
    assert tree(parsed)[4:] == [
        ("I", "Signalling", ""),
        ("I.1", "General", "I"),
        ("I.1.1", "Detail", "I.1"),
        ("AA", "Bibliography", ""),
        ("AA.1", "General", "AA"),
        ("AA.1.1", "Detail", "AA.1"),
    ]
    assert [u.kind for u in parsed.units[5:8]] == ["annex", "clause", "clause"]
    assert unit(parsed, "AA.1.1").informative
    assert not unit(parsed, "I.1.1").informative


def test_number_that_occurs_twice_is_kept_twice_and_told(tmp_path: Path) -> None:
    s = plain(tmp_path)
    s.head("3", "Terms").head("3.1", "Definitions", 2).prose(1).head("3.1", "Abbreviations", 2).prose(1)
    parsed = read_pdf(s.save(tmp_path / "a.pdf", [[1, "3 Terms", 2], [2, "3.1 Definitions", 2], [2, "3.1 Abbreviations", 2]]))
    assert ("3.1", "Definitions", "3") in tree(parsed)
    assert ("3.1~2", "Abbreviations", "3") in tree(parsed)
    assert unit(parsed, "3.1~2").code == "3.1"
    assert "duplicate-number" in kinds_of_finding(parsed)


def test_rows_items_values_and_formulas_are_no_headings(tmp_path: Path) -> None:
    s = plain(tmp_path)
    s.head("3", "Values")
    s.line("64 800").line("5 Reserved").line("1 to 4").line("3.1 The receiver shall wait, see table 2.").prose(1)
    for number, text in ((1, "Reserved"), (4, "Initialization"), (5, "Synchronization")):
        s.line(f"{number}   {text}", x=130)
    assert s.page is not None
    top = s.y + 10
    for row in range(4):  # a ruled table whose cells hold clause numbers in heading print
        s.page.draw_line((LEFT, top + 24 * row), (500, top + 24 * row))
        if row < 3:
            s.put(LEFT + 4, top + 24 * row + 16, f"4.{row + 1} Requirement", "helv", 12)
    s.page.draw_line((LEFT, top), (LEFT, top + 72))
    s.page.draw_line((500, top), (500, top + 72))
    s.y = top + 90
    s.line("4 x + 7 = 11", x=200).head("4", "Further values").prose()
    parsed = read_pdf(s.save(tmp_path / "a.pdf"))
    assert [key for key, _, _ in tree(parsed)] == ["Foreword", "1", "2", "2.1", "3", "4"]
    assert "64 800" in unit(parsed, "3").body
    assert "4.2 Requirement" in unit(parsed, "3").body.replace("|", "").replace("\t", " ")


def test_change_history_rows_are_no_headings(tmp_path: Path) -> None:
    s = plain(tmp_path).turn()
    s.head("", "Annex A (informative):")
    s.put(LEFT, s.y + 4, "Change history", "helv", 18)
    s.y += 20
    for number in range(1, 9):
        s.line(f"2019-0{number}   CP-8{number}   012{number}   1   F   Correction of clause {number}.1   16.{number}.0", size=8)
    parsed = read_pdf(s.save(tmp_path / "a.pdf"))
    assert tree(parsed)[-1] == ("A", "Change history", "")
    assert "16.8.0" in unit(parsed, "A").body


def test_contents_pages_list_headings_and_stay_out_of_the_text(tmp_path: Path) -> None:
    s = sheet().turn()
    s.head("", "Contents")
    s.entry("", "Foreword", 3).entry("1", "Scope", 3, leaders="............................")
    s.entry("2", "Signalling of the rate of 100 Hz,", "", leaders="")
    s.entry("", "120 000/1 001 Hz, or time-", "", leaders="").entry("", "slicing", 3).entry("2.1", "General", 3)
    s.turn()
    s.head("", "Foreword").prose().head("1", "Scope").prose()
    s.head("2", "Signalling of the rate of 100 Hz,")
    s.put(113, s.y + 4, "120 000/1 001 Hz, or time-", "helv", 18)
    s.put(113, s.y + 24, "slicing", "helv", 18)
    s.y += 30
    s.head("2.1", "General", 2).prose().head("2.1.1", "Deeper than the contents", 3).prose()
    parsed = read_pdf(s.save(tmp_path / "a.pdf"))
    assert tree(parsed) == [
        ("Foreword", "Foreword", ""),
        ("1", "Scope", ""),
        ("2", "Signalling of the rate of 100 Hz, 120 000/1 001 Hz, or time-slicing", ""),
        ("2.1", "General", "2"),
        ("2.1.1", "Deeper than the contents", "2.1"),
    ]
    assert not any("....." in u.body for u in parsed.units)
    assert parsed.document.report.counts["contents entries"] == 4
    assert "contents-left-out" in kinds_of_finding(parsed)
    unlisted = [f.text for f in parsed.document.report.findings if f.kind == "heading-unlisted"]
    assert unlisted == ["2.1.1 Deeper than the contents: found in the body, not in the contents"]


def test_contents_entry_without_heading_is_told(tmp_path: Path) -> None:
    s = sheet().turn()
    s.head("", "Contents").entry("1", "Scope", 3).entry("2", "Lost clause", 3).entry("3", "References", 3)
    s.turn().head("1", "Scope").prose().head("3", "References").prose()
    parsed = read_pdf(s.save(tmp_path / "a.pdf"))
    lost = [(f.page, f.text) for f in parsed.document.report.findings if f.kind == "contents-not-found"]
    assert lost == [(3, "2 Lost clause: listed in the contents, not found in the body")]


def test_printed_page_numbers_may_differ_from_physical_ones(tmp_path: Path) -> None:
    s = sheet(header="ETSI TS 139 100 V16.1.0 (2020-11)")
    s.numbers = False
    s.turn()
    s.head("", "Contents").entry("1", "Scope", 1).entry("2", "Procedures", 2).entry("2.1", "General", 2)
    s.turn().head("1", "Scope").prose()
    s.turn().head("2", "Procedures").head("2.1", "General", 2).prose()
    parsed = read_pdf(s.save(tmp_path / "a.pdf"))
    assert [(u.key, u.page) for u in parsed.units[1:]] == [("1", 3), ("2", 4), ("2.1", 4)]


def test_bookmarks_are_checked_against_the_page(tmp_path: Path) -> None:
    s = plain(tmp_path).turn()
    s.line("Scope of the second part is given elsewhere.").head("3", "Results").prose()
    s.head("3.1", "Deep", 2).head("3.1.1", "Deeper than the bookmarks", 3).prose()
    toc = [[1, "Foreword", 2], [1, "1\tScope", 2], [1, "2 References", 2], [2, "2.1 Normative references", 2]]
    toc += [[1, "3 Results", 2], [2, "3.1 Deep", 3], [2, "3.2 Never printed", 3, 400]]
    parsed = read_pdf(s.save(tmp_path / "a.pdf", toc))
    assert unit(parsed, "3").page == 3  # the bookmark says 2
    assert ("3.1.1", "Deeper than the bookmarks", "3.1") in tree(parsed)
    assert ("3.2", "Never printed", "3") in tree(parsed)
    findings = {f.kind: f for f in parsed.document.report.findings}
    assert findings["heading-not-printed"].page == 3
    assert findings["heading-unlisted"].text.startswith("3.1.1 ")


def test_wrong_bookmark_level_loses_against_the_number(tmp_path: Path) -> None:
    s = plain(tmp_path)
    s.head("2.1.1", "Dated", 3).prose(1).head("2.1.2", "Undated", 3).prose(1)
    toc = [
        [1, "1 Scope", 2],
        [1, "2 References", 2],
        [2, "2.1 Normative references", 2],
        [3, "2.1.1 Dated", 2],
        [1, "2.1.2 Undated", 2],
    ]
    assert ("2.1.2", "Undated", "2.1") in tree(read_pdf(s.save(tmp_path / "a.pdf", toc)))


def test_bookmarks_that_name_no_headings_are_not_trusted(tmp_path: Path) -> None:
    s = plain(tmp_path)
    parsed = read_pdf(s.save(tmp_path / "a.pdf", [[1, "scan0001.tif", 1], [1, "scan0002.tif", 2]]))
    assert [key for key, _, _ in tree(parsed)] == ["Foreword", "1", "2", "2.1"]


def test_clause_numbers_in_the_first_line_of_many_pages_are_no_running_header(tmp_path: Path) -> None:
    s = sheet()
    for number in range(1, 8):
        s.turn()
        s.y = 62
        s.put(TAB + 150, 78, "NOTE:")
        s.head(str(number), NAMES[number - 1], gap=16).prose()
    parsed = read_pdf(s.save(tmp_path / "a.pdf"))
    assert [key for key, _, _ in tree(parsed)] == [str(n) for n in range(1, 8)]
    assert not any("ETSI" in u.body for u in parsed.units[1:])


def test_headings_in_bold_of_the_same_size_as_in_the_1990s(tmp_path: Path) -> None:
    s = sheet(header="ETS 300 999: May 1995")
    for page in range(2, 5):
        s.turn()
        s.put(LEFT, 63, "ETS 300 999: May 1995" if page % 2 else f"Page {page}", "hebo", 9)
        for number in (f"{page - 1}", f"{page - 1}.1", f"{page - 1}.2"):
            s.y += 10
            s.put(LEFT, s.y, number, "hebo", 10)
            s.put(TAB, s.y, "General requirements of the unit", "hebo", 10)
            for _ in range(4):
                s.line("Text of the clause in the same size, but not in bold, of which there is much more.", font="helv")
            s.line("warning tone:", font="hebo").line("5 Reserved", font="helv").y += 14
    parsed = read_pdf(s.save(tmp_path / "a.pdf"))
    assert [key for key, _, _ in tree(parsed)] == ["1", "1.1", "1.2", "2", "2.1", "2.2", "3", "3.1", "3.2"]


def test_centred_annex_title_of_other_bodies(tmp_path: Path) -> None:
    s = plain(tmp_path).turn()
    for text in ("Annex A", "Procedure of the test"):
        s.line(text, x=297 - pymupdf.get_text_length(text, "hebo", 12) / 2, font="hebo", size=12, step=14)
    parsed = read_pdf(s.prose().save(tmp_path / "a.pdf"))
    assert tree(parsed)[-1] == ("A", "Procedure of the test", "")


def test_bookmark_cut_off_by_its_writer_takes_the_whole_title(tmp_path: Path) -> None:
    rows = (
        "Support of terminals which use a circuit mode bearer",
        "with a rate of 64 kbit/s, unrestricted, for the transfer",
        "of audio information between two exchanges of a",
        "private network",
    )
    s = plain(tmp_path).head("3", rows[0])
    for row in rows[1:]:
        s.put(TAB, s.y + 4, row, "helv", 18)
        s.y += 20
    s.prose()
    toc = [[1, "1 Scope", 2], [1, "2 References", 2], [2, "2.1 Normative references", 2], [1, f"3 {' '.join(rows)}"[:128], 2]]
    parsed = read_pdf(s.save(tmp_path / "a.pdf", toc))
    assert unit(parsed, "3").title == " ".join(rows)
    assert unit(parsed, "3").body.startswith("The equipment")


def test_bookmarks_without_a_page_are_looked_up_in_order(tmp_path: Path) -> None:
    s = plain(tmp_path).turn().head("3", "Tests").head("3.1", "General", 2).prose()
    toc = [
        [1, "1 Scope", -1],
        [1, "2 References", -1],
        [2, "2.1 Normative references", -1],
        [1, "3 Tests", -1],
        [1, "9 Gone", -1],
    ]
    keys = [(u.key, u.page) for u in read_pdf(s.save(tmp_path / "a.pdf", toc)).units[1:]]
    assert keys == [("Foreword", 2), ("1", 2), ("2", 2), ("2.1", 2), ("3", 3), ("3.1", 3)]


def test_form_with_dotted_lines_is_no_contents_page(tmp_path: Path) -> None:
    s = plain(tmp_path).turn().head("3", "Declaration")
    for label in ("Manufacturer", "Type", "Serial number", "Laboratory"):
        s.line(f"{label}: ..........................................")
    parsed = read_pdf(s.save(tmp_path / "a.pdf"))
    assert "Serial number" in unit(parsed, "3").body
    assert parsed.document.report.counts["contents entries"] == 0
