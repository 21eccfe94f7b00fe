"""Placed lines of pages drawn for the purpose: order, rows, scripts, strips, columns, turned pages."""

from __future__ import annotations

import pymupdf

from normrag_core.ingest.furniture import split_furniture
from normrag_core.ingest.layout import Page, read_pages


def texts(page: Page) -> list[str]:
    return [line.text.strip() for line in page.lines]


def drawn(*prints: tuple[float, float, str], **kwargs: object) -> pymupdf.Document:
    """One page with prints (x, baseline, text)."""
    pdf = pymupdf.open()
    page = pdf.new_page(width=595, height=842)
    for x, y, text in prints:
        page.insert_text((x, y), text, fontname="tiro", fontsize=10, **kwargs)
    return pdf


def test_order_is_by_place_not_by_stream() -> None:
    pdf = drawn((57, 120, "row 2"), (300, 120, "cell 2"), (57, 140, "row 3"), (57, 100, "header row drawn last"))
    page = read_pages(pdf)[0]
    assert texts(page) == ["header row drawn last", "row 2", "cell 2", "row 3"]
    assert [line.row for line in page.lines] == [0, 1, 1, 2]


def test_sub_and_superscripts_are_told_by_size_and_baseline() -> None:
    pdf = pymupdf.open()
    page = pdf.new_page(width=595, height=842)
    for x, y, text, size in ((57, 100, "2", 10), (62, 95.5, "19", 6.5), (69, 100, " cells of T", 10), (109.5, 102, "S", 6.5)):
        page.insert_text((x, y), text, fontname="tiro", fontsize=size)
    lines = read_pages(pdf)[0].lines
    assert [(s.text.strip(), s.script) for line in lines for s in line.spans] == [
        ("2", ""),
        ("19", "sup"),
        ("cells of T", ""),
        ("S", "sub"),
    ]
    assert len({line.row for line in lines}) == 1


def test_page_in_strips_reads_line_by_line_without_doubled_letters() -> None:
    width = pymupdf.get_text_length("The pilots are modul", "tiro", 10)
    pdf = drawn((57, 100, "The pilots are modul"), (57, 112, "Table 54: Presence"))
    page = pdf[0]
    seam = 57 + width - pymupdf.get_text_length("l", "tiro", 10)
    for y, text in ((100, "lated by a sequence"), (112, "of carriers")):
        page.insert_text((seam if y == 100 else 57 + 95, y), text, fontname="tiro", fontsize=10)
    assert texts(read_pages(pdf)[0])[0] == "The pilots are modulated by a sequence"


def test_two_columns_are_read_one_after_the_other() -> None:
    rows = [(57.0, 100.0 + 12 * n, f"left column line number {n:02} of the text here and some more") for n in range(15)]
    rows += [(320.0, 100.0 + 12 * n, f"right column line number {n:02} of the text here and some more") for n in range(15)]
    page = read_pages(drawn(*rows))[0]
    assert [t.split()[0] for t in texts(page)] == ["left"] * 15 + ["right"] * 15


def test_coordinates_of_a_turned_page_are_those_that_are_seen() -> None:
    pdf = drawn((57, 100, "seen after a turn"))
    pdf[0].set_rotation(90)
    page = read_pages(pdf)[0]
    assert (page.width, page.height) == (842, 595)
    line = page.lines[0]
    assert not line.upright
    assert line.bbox[0] > 700  # the top left of the sheet is at the top right now
    assert line.bbox[1] < 100


def test_links_and_rules_come_with_the_page() -> None:
    pdf = drawn((57, 100, "clause 7"))
    pdf.new_page(width=595, height=842)
    page = pdf[0]
    page.draw_line((57, 200), (300, 200))
    page.insert_link(
        {"kind": pymupdf.LINK_GOTO, "from": pymupdf.Rect(57, 90, 100, 102), "page": 1, "to": pymupdf.Point(57, 300)}
    )
    page.insert_link({"kind": pymupdf.LINK_URI, "from": pymupdf.Rect(57, 190, 100, 202), "uri": "https://example.org/"})
    read = read_pages(pymupdf.open(stream=pdf.tobytes()))[0]
    assert [(link.to_page, link.uri) for link in read.links] == [(2, None), (None, "https://example.org/")]
    assert any(x1 - x0 > 240 and y1 - y0 < 3 for x0, y0, x1, y1 in read.rules)


def test_furniture_is_found_by_repetition_and_place() -> None:
    pdf = pymupdf.open()
    for number in range(1, 7):
        page = pdf.new_page(width=595, height=842)
        page.insert_text((57, 40), "3GPP TS 29.999 version 16.4.0 Release 16", fontname="hebo", fontsize=9)
        page.insert_text((295, 40), str(number - 1), fontname="hebo", fontsize=9)
        page.insert_text((398, 52), "ETSI TS 129 999 V16.4.0 (2020-11)", fontname="hebo", fontsize=9)
        page.insert_text((287, 823), "ETSI", fontname="hebi", fontsize=9)
        page.insert_text((150, 500), "DRAFT", fontname="hebo", fontsize=60)
        page.insert_text((57, 80), f"{number}.{number}", fontname="helv", fontsize=14)
        page.insert_text((57, 780), "ETSI" if number == 3 else f"last line {'abcdefg'[number]}", fontname="tiro", fontsize=10)
    pages = split_furniture(read_pages(pdf))
    assert texts(pages[1]) == ["2.2", "last line c"]
    assert texts(pages[2]) == ["3.3", "ETSI"]  # a line of text that says ETSI stays
    assert sorted(line.text for line in pages[1].furniture) == [
        "1",
        "3GPP TS 29.999 version 16.4.0 Release 16",
        "DRAFT",
        "ETSI",
        "ETSI TS 129 999 V16.4.0 (2020-11)",
    ]


def test_odd_and_even_headers_of_the_1990s() -> None:
    pdf = pymupdf.open()
    for number in range(1, 9):
        page = pdf.new_page(width=595, height=842)
        x = 57 if number % 2 == 0 else 440
        page.insert_text((x, 50), f"Page {number}", fontname="hebo", fontsize=10)
        page.insert_text((x, 62), "ETS 300 999: May 1995", fontname="hebo", fontsize=10)
        page.insert_text((57, 100), "abcdefghijk"[number] * 9, fontname="helv", fontsize=10)
    pages = split_furniture(read_pages(pdf))
    assert [texts(page) for page in pages[1:]] == [[letter * 9] for letter in "cdefghi"]
