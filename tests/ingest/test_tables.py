"""Tables: grids from strokes, cells, continued tables, Markdown."""

from __future__ import annotations

import itertools

import pytest
from typeset import LEFT, Sheet, blocks, body, full

from normrag_core.ingest.grid import Cell, find_grids
from normrag_core.model import Block

XS = [100.0, 250.0, 330.0, 400.0]


def fill(page: Sheet, top: float, rows: list[list[str]], xs: list[float] = XS, style: str = "") -> Sheet:
    """Print one row of cells every 12 points."""
    for r, row in enumerate(rows):
        for x, cell in zip(xs, row, strict=False):
            if cell:
                page.put(x + 5, top + 9 + 12 * r, cell, style, size=9)
    return page


def ys(top: float, rows: int) -> list[float]:
    """Edges of rows 12 points high."""
    return [top + 12 * i for i in range(rows + 1)]


def table(*sheets: Sheet) -> Block:
    """The only table."""
    (found,) = [b for b in body(*sheets)[1] if b.kind == "table"]
    return found


def test_a_ruled_table_becomes_rows_and_markdown_behind_its_caption():
    page = Sheet().put(LEFT, 80, full("Prose")).put(200, 110, "Table 1: Bits", "b").grid(XS, ys(120, 3))
    fill(page, 120, [["Syntax", "Bits", "Identifier"], ["table_id", "8", "uimsbf"], ["a|b", "", "bslbf"]])
    found = blocks(page)
    assert found[1] == ("caption", "Table 1: Bits")
    assert found[2] == (
        "table",
        "| Syntax | Bits | Identifier |\n| --- | --- | --- |\n| table_id | 8 | uimsbf |\n| a\\|b |  | bslbf |",
    )
    assert table(page).rows == (("Syntax", "Bits", "Identifier"), ("table_id", "8", "uimsbf"), ("a|b", "", "bslbf"))


def test_each_line_of_a_cell_has_its_own_place():
    page = Sheet().put(LEFT, 80, full("Prose")).grid(XS, [120, 150, 162])
    page.put(105, 129, "Digest-", size=9).put(105, 140, "Realm (see", size=9).put(105, 148, "7.9)", size=9).put(
        255, 129, "M", size=9
    )
    fill(page, 150, [["x", "y", "z"]])
    text, _, lines = body(page)
    assert table(page).rows[0] == ("Digest-Realm (see 7.9)", "M", "")
    assert [text[line.start : line.end] for line in lines[1:]] == ["Digest-", "Realm (see", "7.9)", "M", "x", "y", "z"]
    assert all(a.end <= b.start for a, b in itertools.pairwise(lines))


def test_a_header_drawn_last_comes_first():
    page = Sheet().put(LEFT, 80, full("Prose")).grid(XS, ys(120, 2))
    fill(page, 132, [["one", "two", "three"]])
    fill(page, 120, [["H1", "H2", "H3"]])
    assert table(page).rows[0] == ("H1", "H2", "H3")


def test_merged_cells_print_once_at_their_top_left():
    skip = [("v", 0, 2), ("h", 2, 0)]  # header over two columns, first column over two rows
    page = Sheet().put(LEFT, 80, full("Prose")).grid(XS, ys(120, 3), skip)
    fill(page, 120, [["Mode", "", ""], ["A", "1", "2"], ["", "3", "4"]])
    page.put(255, 129, "both columns of it", size=9)
    assert table(page).rows == (("Mode", "both columns of it", ""), ("A", "1", "2"), ("", "3", "4"))


def test_a_header_that_only_lacks_strokes_is_spread_over_its_columns():
    """Shaded header rows (GS QKD 014, page 12)."""
    page = Sheet().put(LEFT, 80, full("Prose")).grid(XS, ys(120, 2), [("v", 0, 1), ("v", 0, 2)])
    fill(page, 120, [["Items", "Type", "Text"], ["size", "integer", "bits"]])
    assert table(page).rows == (("Items", "Type", "Text"), ("size", "integer", "bits"))


def test_notes_in_a_full_width_cell_are_a_row_each():
    page = Sheet().put(LEFT, 80, full("Prose")).grid(XS, [120, 132, 168], [("v", 1, 1), ("v", 1, 2)])
    fill(page, 120, [["a", "b", "c"]])
    page.put(105, 141, "NOTE 1:", size=9).put(150, 141, "It is said that the first one", size=9).put(
        150, 152, "is long.", size=9
    )
    page.put(105, 163, "NOTE 2:", size=9).put(150, 163, "The second one is said to be short.", size=9)
    assert table(page).rows[1:] == (
        ("NOTE 1: It is said that the first one is long.", "", ""),
        ("NOTE 2: The second one is said to be short.", "", ""),
    )


def test_syntax_rows_without_lines_between_them_keep_row_and_indentation():
    """DVB syntax tables: verticals drawn row by row, no horizontals (EN 300 468, page 36)."""
    skip = [("h", j, i) for j in (2, 3, 4) for i in range(3)]
    page = Sheet().put(LEFT, 80, full("Prose")).grid(XS, ys(120, 5), skip)
    fill(page, 120, [["Syntax", "Bits", "Id"]])
    for i, (indent, text, bits) in enumerate([(0, "section(){", ""), (3, "table_id", "8"), (3, "length", "12"), (0, "}", "")]):
        page.put(105 + indent * 4.8, 141 + 12 * i, text, "m", size=8)
        if bits:
            page.put(285, 142 + 12 * i, bits, size=9)
    assert table(page).rows == (
        ("Syntax", "Bits", "Id"), ("section(){", "", ""), ("   table_id", "8", ""), ("   length", "12", ""), ("}", "", ""),
    )  # fmt: skip


def test_code_in_one_tall_row_is_parted_line_by_line():
    page = Sheet().put(LEFT, 80, full("Prose"))
    page.rules += [(100, y, 400, y + 0.5) for y in (120, 132, 170)] + [(x, 120, x + 0.5, 170) for x in XS]
    fill(page, 120, [["Syntax", "Bits", "Id"]])
    page.put(105, 142, "loop(){", "m", size=8).put(115, 154, "byte", "m", size=8).put(285, 154, "8", size=9).put(
        105, 166, "}", "m", size=8
    )
    assert table(page).rows[1:] == (("loop(){", "", ""), ("  byte", "8", ""), ("}", "", ""))


@pytest.mark.parametrize(("header", "expected"), [(["H", "I", "J"], 4), (["H", "I", "K"], 5)])
def test_a_continued_table_is_joined_and_only_an_identical_header_dropped(header, expected):
    one = Sheet().put(LEFT, 80, full("Prose")).grid(XS, ys(700, 3))
    fill(one, 700, [["H", "I", "J"], ["1", "2", "3"], ["4", "5", "6"]])
    two = Sheet(2).grid(XS, ys(80, 2)).put(LEFT, 200, full("Prose"))
    fill(two, 80, [header, ["7", "8", "9"]])
    assert len(table(one, two).rows) == expected
    assert table(one, two).rows[-1] == ("7", "8", "9")


def test_a_continued_table_may_lack_a_column_edge():
    one = Sheet().put(LEFT, 80, full("Prose")).grid(XS, ys(700, 2))
    fill(one, 700, [["H", "I", "J"], ["1", "2", "3"]])
    two = Sheet(2).grid([XS[0], XS[2], XS[3]], ys(80, 1)).put(LEFT, 200, full("Prose"))
    fill(two, 80, [["4", "5"]], [XS[0], XS[2]])
    assert table(one, two).rows[-1] == ("4", "", "5")


def test_a_caption_alone_on_the_page_before_stays_next_to_its_table():
    one = Sheet().put(LEFT, 80, full("Prose")).put(200, 760, "Table 9: Alone", "b")
    two = Sheet(2).grid(XS, ys(80, 2)).put(LEFT, 200, full("Prose"))
    fill(two, 80, [["a", "b", "c"], ["1", "2", "3"]])
    assert [kind for kind, _ in blocks(one, two)] == ["paragraph", "caption", "table", "paragraph"]


def test_cells_full_of_number_rows_are_parted_line_by_line():
    """Code tables set as two tall cells (EN 302 755, page 137)."""
    page = Sheet().put(LEFT, 80, full("Prose")).grid([100.0, 250.0, 400.0], [120.0, 160.0])
    for i, (left, right) in enumerate([("3 3198 478", "8 1015 1945"), ("4 2681 2135", "9 1948 412"), ("5 3107 4027", "")]):
        page.put(105, 129 + 12 * i, left, size=9)
        if right:
            page.put(255, 129 + 12 * i, right, size=9)
    assert table(page).rows == (("3 3198 478", "8 1015 1945"), ("4 2681 2135", "9 1948 412"), ("5 3107 4027", ""))


def test_print_that_runs_over_a_stroke_is_cut_between_the_cells():
    page = Sheet().put(LEFT, 80, full("Prose")).grid(XS, ys(120, 2))
    fill(page, 120, [["a", "b", "c"]])
    page.put(200, 141, "https://uri.example UTF8String", size=9)
    assert table(page).rows[1] == ("https://uri.example", "UTF8String", "")


def test_rows_of_different_lengths_are_still_a_table():
    """EN 302 755, page 172: the first rows are shorter than the last."""
    page = Sheet().put(LEFT, 80, full("Prose")).grid(XS, ys(120, 3), [("h", 0, 2), ("v", 0, 3)])
    fill(page, 120, [["Format", "QPSK"], ["in", "0", "1"], ["out", "2", "3"]])
    assert table(page).rows == (("Format", "QPSK", ""), ("in", "0", "1"), ("out", "2", "3"))


def test_columns_without_strokes_are_a_table():
    page = Sheet().put(LEFT, 80, full("Prose"))
    for i, row in enumerate(
        [["0 2084 1613", "13 9156", "7"], ["1 2479 178", "14 7067", "8"], ["2 10175 99", "15 9027", "9"], ["3 11"]]
    ):
        for x, cell in zip((70, 200, 300), row, strict=False):
            page.put(x, 120 + 11 * i, cell)
    assert table(page).rows == (
        ("0 2084 1613", "13 9156", "7"),
        ("1 2479 178", "14 7067", "8"),
        ("2 10175 99", "15 9027", "9"),
        ("3 11", "", ""),
    )


def test_a_frame_around_prose_is_no_table():
    page = Sheet().grid([50.0, 545.0], [70.0, 130.0]).put(LEFT, 80, full("Framed")).prose(91.5, "prose inside.")
    assert blocks(page) == [("paragraph", full("Framed") + " prose inside.")]


def test_grids_of_strokes():
    page = Sheet().grid(XS, ys(120, 2), [("v", 0, 1)])
    (grid,) = find_grids(tuple(page.rules))
    assert grid.cells == (Cell(0, 0, 1, 2), Cell(0, 2, 1, 1), Cell(1, 0, 1, 1), Cell(1, 1, 1, 1), Cell(1, 2, 1, 1))
    assert grid.at(300, 125) == (0, 0)
    assert grid.at(300, 140) == (1, 1)


def test_axes_with_ticks_are_no_grid():
    rules = [(100, 300, 400, 300.5), (100, 100, 100.5, 300)] + [(x, 297, x + 0.5, 303) for x in range(130, 400, 30)]
    assert find_grids(tuple((float(a), float(b), float(c), float(d)) for a, b, c, d in rules)) == ()
