"""Lines between two headings → a unit's body with its blocks and printed lines, all as offsets into the body."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from normrag_core.ingest import tables
from normrag_core.ingest.drafts import Draft, Printed, Vocabulary, join, rows_of
from normrag_core.ingest.figures import clusters, find_figures
from normrag_core.ingest.grid import Grid, find_grids
from normrag_core.ingest.kinds import Frame, kind_of
from normrag_core.ingest.labels import find_labels
from normrag_core.ingest.layout import Page, PageLine
from normrag_core.ingest.paragraphs import Stop, blocks, extend, set_levels, tab_stops
from normrag_core.ingest.scripts import prose, settled
from normrag_core.model import Block, Line, Rect

_FLOW = ("paragraph", "list", "note", "example", "definition", "reference")


def build_body(
    lines: Sequence[PageLine], pages: Mapping[int, Page], vocabulary: Vocabulary | None = None
) -> tuple[str, tuple[Block, ...], tuple[Line, ...]]:
    """Body, blocks and printed lines of a unit.

    lines: those between its heading and the next, header and footer removed, in reading order. pages: all of the document
    by physical number. vocabulary: of the same pages; given, it is counted once for all units. The body is the blocks' text
    joined by blank lines; every line of print gets a `Line`, in order.
    """
    vocabulary = vocabulary or Vocabulary(pages)
    by_page = {number: settled(list(group)) for number, group in groupby(lines, key=lambda line: line.page)}
    stops: set[Stop] = set()
    if by_page:
        rows = [row for of_page in by_page.values() for row in rows_of(of_page)]
        stops = tab_stops(rows, frame_of(pages[lines[0].page]))
    drafts: list[Draft] = []
    for number, of_page in by_page.items():
        more = _page(of_page, pages[number], vocabulary, stops)
        _join_over_break(drafts, more, pages, vocabulary)
        drafts += more
    set_levels(drafts)
    return _write(drafts)


def frame_of(page: Page) -> Frame:
    """Text area of a page, from where its lines begin and end."""
    lefts = sorted(line.bbox[0] for line in page.lines if line.upright)
    rights = sorted(line.bbox[2] for line in page.lines if line.upright)
    if not lefts:
        return Frame(0.1 * page.width, 0.9 * page.width)
    left = min(lefts[len(lefts) // 20], 0.2 * page.width)
    right = max(rights[-1 - len(rights) // 20], 0.8 * page.width)
    return Frame(left, min(right, page.width))


def _page(lines: list[PageLine], page: Page, vocabulary: Vocabulary, stops: set[Stop]) -> list[Draft]:
    """Blocks of a unit's lines on one page; a table or drawing stands where its first line does."""
    frame = frame_of(page)
    grids = find_grids(page.rules)
    drawings = find_figures(page.rules, grids, page.width, page.height)
    drawn, charts = find_labels(lines, page, grids, drawings, frame)
    inside = [None if i in drawn else _grid_of(line, grids, charts) for i, line in enumerate(lines)]
    by_grid: dict[int, list[PageLine]] = {}
    for line, at in zip(lines, inside, strict=True):
        if at is not None:
            by_grid.setdefault(at, []).append(line)
    drafts: list[Draft] = []
    done: set[int] = set()
    for (grid, label), group in groupby(range(len(lines)), key=lambda i: (inside[i], i in drawn)):
        members = [lines[i] for i in group]
        if grid is not None:
            if grid not in done:
                done.add(grid)
                drafts.append(tables.table(grids[grid], by_grid[grid], vocabulary))
        elif label:
            drafts.append(_figure(members))
        else:
            drafts += blocks(rows_of(members), frame, vocabulary, stops)
    return drafts


def _grid_of(line: PageLine, grids: Sequence[Grid], charts: set[int]) -> int | None:
    x0, y0, x1, y1 = line.bbox
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    for index, grid in enumerate(grids):
        left, top, right, bottom = grid.box
        if index not in charts and top - 1 <= y <= bottom + 1 and (left - 2 <= x <= right + 2 or left - 2 <= x0 + 2 <= right):
            return index
    return None


def _figure(lines: Sequence[PageLine]) -> Draft:
    """Labels, one a line of text; those of several printed lines joined."""
    printed = []
    for group in clusters(lines):
        for index, line in enumerate(group):
            text = prose(line)
            if text:
                printed.append(Printed(text, Rect(line.page, *line.bbox), " " if index else "\n"))
    return Draft("figure", printed)


def _join_over_break(above: list[Draft], below: list[Draft], pages: Mapping[int, Page], vocabulary: Vocabulary) -> None:
    """Join the last block of a page with the first of the next where it goes on; takes the joined one out of `below`."""
    if not above or not below:
        return
    last, first = above[-1], below[0]
    if last.kind == first.kind == "table" and tables.continues(last, first):
        above[-1] = tables.joined(last, first)
        del below[0]
    elif last.kind == first.kind == "code" and last.rows and first.rows:
        first.printed[0].before = "\n"
        last.printed += first.printed
        last.rows += first.rows
        del below[0]
    elif last.kind in _FLOW and first.kind == "paragraph" and _sentence_goes_on(last, first, pages):
        for row in first.rows:
            extend(last, row, vocabulary)
        del below[0]


def _sentence_goes_on(last: Draft, first: Draft, pages: Mapping[int, Page]) -> bool:
    above, row = last.rows[-1], first.rows[0]
    if abs(above.size - row.size) > 0.6 or row.bold != above.bold:
        return False
    begins = above.box[0] if len(last.rows) > 1 else last.hang
    if abs(row.box[0] - begins) > 4:
        return False
    frame = frame_of(pages[above.page])
    if kind_of(row, None, frame) != "paragraph":
        return False
    if re.search(r"[.:;?!]$", last.printed[-1].text):
        return False
    return row.text[:1].islower() or above.box[2] > frame.right - 80


class _Writer:
    """Collects text and the places of what it is made of."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.at = 0
        self.blocks: list[Block] = []
        self.lines: list[Line] = []

    def put(self, text: str) -> None:
        self.parts.append(text)
        self.at += len(text)

    def piece(self, text: str, rect: Rect) -> None:
        start = self.at
        self.put(text)
        self.lines.append(Line(start, self.at, rect))


def _write(drafts: Sequence[Draft]) -> tuple[str, tuple[Block, ...], tuple[Line, ...]]:
    writer = _Writer()
    for draft in drafts:
        if not draft.printed and not draft.cells:
            continue
        if writer.at:
            writer.put("\n\n")
        start = writer.at
        rows: tuple[tuple[str, ...], ...] = ()
        if draft.kind == "table":
            rows = _write_table(writer, draft)
        else:
            for index, piece in enumerate(draft.printed):
                if index:
                    writer.put(piece.before)
                writer.piece(piece.text, piece.rect)
        writer.blocks.append(Block(draft.kind, start, writer.at, draft.level, rows))
    return "".join(writer.parts), tuple(writer.blocks), tuple(writer.lines)


def _write_table(writer: _Writer, draft: Draft) -> tuple[tuple[str, ...], ...]:
    """Markdown: pipe rows with a rule under the first; pipes inside cells escaped."""
    for number, row in enumerate(draft.cells):
        if number:
            writer.put("\n")
        for cell in row:
            writer.put("| ")
            for index, piece in enumerate(cell):
                if index:
                    writer.put(piece.before)
                writer.piece(piece.text.replace("|", "\\|"), piece.rect)
            writer.put(" ")
        writer.put("|")
        if number == 0:
            writer.put("\n" + "| --- " * len(row) + "|")
    return tuple(tuple(join(cell) for cell in row) for row in draft.cells)
