"""Lines that stand in a ruled grid → rows and cells; continued tables joined; a table as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from normrag_core.ingest.drafts import Draft, Printed, Vocabulary, append, join, typewriter
from normrag_core.ingest.grid import Cell, Grid
from normrag_core.ingest.layout import PageLine, Span
from normrag_core.ingest.scripts import indent, prose
from normrag_core.model import Rect

_NOTE = re.compile(r"(?:NOTE|EXAMPLE)(?:\s*\d+)?\s*:|\(\*+\)")
_NUMBERS = re.compile(r"\s*\d+(?:\s+\d+)+\s*")
_SAME = 4.0  # column edges this close are one, points
_REACH = 3.5  # how far print may run over a cell's edge before it is cut there, points


def table(grid: Grid, lines: Sequence[PageLine], vocabulary: Vocabulary) -> Draft:
    """The table that a grid and the lines inside it make.

    A merged cell's text stands at its top left field and the fields it covers stay empty. Rows that print line by line
    without strokes between them (DVB syntax) become rows of their own; a full-width cell of notes becomes a row a note.
    """
    places: dict[tuple[int, int], list[PageLine]] = {}
    for line in lines:
        for part in _cut(line, grid):
            x0, y0, x1, y1 = part.bbox
            places.setdefault(grid.at((x0 + x1) / 2, (y0 + y1) / 2), []).append(part)
    for cell in grid.cells:
        if cell.cols > 1:
            _spread(places, cell, grid)
    n_rows, n_cols = len(grid.ys) - 1, len(grid.xs) - 1
    wide = {(c.row, c.col): c for c in grid.cells}
    cells: list[list[list[Printed]]] = []
    for r in range(n_rows):
        row = [_ordered(places.get((r, c), [])) for c in range(n_cols)]
        band = [wide[r, c] for c in range(n_cols) if (r, c) in wide]
        if not any(row) and any(c.row < r < c.row + c.rows for c in grid.cells):
            continue
        if len([c for c in row if c]) <= 1 and len(band) == 1:
            cells += [_line_of(group, n_cols, grid, vocabulary) for group in _notes(next((c for c in row if c), []))]
            continue
        for part_of_band in _by_line(row):
            cells.append([_cell(lines_, grid.xs[c], vocabulary) for c, lines_ in enumerate(part_of_band)])
    cells = [row for row in cells if any(row)]
    keep = [c for c in range(n_cols) if any(row[c] for row in cells) or grid.xs[c + 1] - grid.xs[c] > 8]
    cells = [[row[c] for c in keep] for row in cells]
    return Draft("table", cells=cells, edges=(*(grid.xs[c] for c in keep), grid.xs[-1]))


def _spread(places: dict[tuple[int, int], list[PageLine]], cell: Cell, grid: Grid) -> None:
    """Give print to the single columns it stands over where a merged cell only lacks strokes (shaded header rows)."""
    lines = places.get((cell.row, cell.col), [])
    columns = [_column(line, grid) for line in lines]
    first = lines[0].row if lines else 0
    if None in columns or len({c for c, line in zip(columns, lines, strict=True) if line.row == first}) < 2:
        return
    del places[cell.row, cell.col]
    for column, line in zip(columns, lines, strict=True):
        assert column is not None
        places.setdefault((cell.row, column), []).append(line)


def _column(line: PageLine, grid: Grid) -> int | None:
    """The one elementary column that a line stands in, None where it reaches over more."""
    x0, _, x1, _ = line.bbox
    return next((c for c in range(len(grid.xs) - 1) if grid.xs[c] - 2 <= x0 and x1 <= grid.xs[c + 1] + 2), None)


def _ordered(lines: list[PageLine]) -> list[PageLine]:
    return sorted(lines, key=lambda p: (p.row, p.bbox[0])) if all(p.upright for p in lines) else lines


def _cut(line: PageLine, grid: Grid) -> list[PageLine]:
    """A line cut where it runs over the strokes between cells."""
    if not line.upright:
        return [line]
    x0, y0, x1, y1 = line.bbox
    middle = (y0 + y1) / 2
    edges = [x for x in grid.xs[1:-1] if x0 + _REACH < x < x1 - _REACH]
    edges = [x for x in edges if grid.at(x - 1, middle) != grid.at(x + 1, middle)]
    if not edges:
        return [line]
    groups: list[list[Span]] = [[] for _ in range(len(edges) + 1)]
    for span in line.spans:
        for part in _cut_span(span, edges):
            center = (part.bbox[0] + part.bbox[2]) / 2
            groups[sum(center > x for x in edges)].append(part)
    parts = []
    for spans in groups:
        if any(s.text.strip() for s in spans):
            box = (spans[0].bbox[0], min(s.bbox[1] for s in spans), spans[-1].bbox[2], max(s.bbox[3] for s in spans))
            parts.append(replace(line, spans=tuple(spans), bbox=box, text="".join(s.text for s in spans)))
    return parts


def _cut_span(span: Span, edges: Sequence[float]) -> list[Span]:
    """A span cut at the space nearest to each edge it crosses (places of letters are estimated); whole where it has none."""
    x0, y0, x1, y1 = span.bbox
    for edge in edges:
        if not x0 + _REACH < edge < x1 - _REACH:
            continue
        width = (x1 - x0) / len(span.text)
        spaces = [m.start() for m in re.finditer(r"\s", span.text) if span.text[: m.start()].strip()]
        if not spaces:
            continue
        at = min(spaces, key=lambda i: abs(x0 + (i + 0.5) * width - edge))
        if not span.text[at:].strip():
            continue
        left = replace(span, text=span.text[:at], bbox=(x0, y0, min(edge, x0 + at * width), y1))
        right = replace(span, text=span.text[at + 1 :], bbox=(max(edge, x0 + (at + 1) * width), y0, x1, y1))
        return [left, *_cut_span(right, edges)]
    return [span]


def _by_line(row: list[list[PageLine]]) -> list[list[list[PageLine]]]:
    """A band of cells as one row, or as one row a printed line where its first column is code, or all of it rows of numbers."""
    first = row[0]
    baselines = sorted({round(p.baseline) for p in first})
    mono = sum(len(s.text) for p in first for s in p.spans if typewriter(s))
    total = sum(len(s.text) for p in first for s in p.spans)
    numbers = all(_NUMBERS.fullmatch(p.text) for lines in row for p in lines)
    if len(baselines) < 2 or len(row) < 2 or (mono < 0.6 * total and not numbers):
        return [row]
    starts = [b - 0.6 * first[0].size for b in sorted({p.baseline for p in first})]
    merged = [starts[0]]
    for s in starts[1:]:
        if s - merged[-1] > 0.5 * first[0].size:
            merged.append(s)
    bands: list[list[list[PageLine]]] = [[[] for _ in row] for _ in merged]
    for c, lines in enumerate(row):
        for p in lines:
            index = max(sum(p.baseline + 0.15 * p.size >= s for s in merged) - 1, 0)
            bands[index][c].append(p)
    return bands


def _notes(lines: list[PageLine]) -> list[list[PageLine]]:
    """Lines of a full-width cell, parted before each note."""
    groups: list[list[PageLine]] = []
    for line in lines:
        if not groups or (_NOTE.match(line.text.strip()) and line.row != groups[-1][-1].row):
            groups.append([line])
        else:
            groups[-1].append(line)
    return groups


def _line_of(lines: list[PageLine], n_cols: int, grid: Grid, vocabulary: Vocabulary) -> list[list[Printed]]:
    return [_cell(lines, grid.xs[0], vocabulary), *([] for _ in range(n_cols - 1))]


def _cell(lines: Sequence[PageLine], left: float, vocabulary: Vocabulary) -> list[Printed]:
    """Pieces of one cell; a single line of code keeps its indentation, in whole characters of its own width."""
    pieces: list[Printed] = []
    for line in lines:
        text = prose(line)
        if text:
            append(pieces, Printed(text, Rect(line.page, *line.bbox)), vocabulary)
    if len(lines) == 1 and pieces and typewriter(lines[0].spans[0]):
        pieces[0].text = " " * indent(lines[0], left + 5) + pieces[0].text
    return pieces


def continues(above: Draft, below: Draft) -> bool:
    """Whether a table at the top of a page goes on from the one that ends the page before: the same column edges.

    One of them may lack edges of the other, where its rows have merged cells only.
    """
    few, many = sorted((above.edges, below.edges), key=len)
    outer = len(few) > 2 and abs(few[0] - many[0]) <= _SAME and abs(few[-1] - many[-1]) <= _SAME
    return outer and all(any(abs(a - b) <= _SAME for b in many) for a in few)


def joined(above: Draft, below: Draft) -> Draft:
    """One table of two; header rows that the second repeats word for word are dropped."""
    edges = max(above.edges, below.edges, key=len)
    first, second = _on(above, edges), _on(below, edges)
    skip = 0
    while skip < min(3, len(second) - 1, len(first)) and _texts(first[skip]) == _texts(second[skip]):
        skip += 1
    return Draft("table", cells=first + second[skip:], edges=edges, rows=above.rows)


def _on(draft: Draft, edges: Sequence[float]) -> list[list[list[Printed]]]:
    """Rows of a table spread over the columns between other edges, of which its own are some."""
    if len(draft.edges) == len(edges):
        return draft.cells
    columns = [min(range(len(edges) - 1), key=lambda i: abs(edges[i] - left)) for left in draft.edges[:-1]]
    rows = []
    for cells in draft.cells:
        row: list[list[Printed]] = [[] for _ in edges[:-1]]
        for column, cell in zip(columns, cells, strict=True):
            row[column] = cell
        rows.append(row)
    return rows


def _texts(row: list[list[Printed]]) -> list[str]:
    return [join(cell) for cell in row]
