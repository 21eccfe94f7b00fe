"""Which printed lines of a page are labels of drawings, and which ruled grids are drawings (charts) rather than tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise

from normrag_core.ingest.drafts import Row, typewriter
from normrag_core.ingest.grid import Grid
from normrag_core.ingest.kinds import MATH, STEP, Frame, ends, is_caption, kind_of
from normrag_core.ingest.layout import Box, Page, PageLine

_FIGURE = re.compile(r"\s*Figure\s+[A-Z]?\.?\d", re.I)
_TABLE = re.compile(r"\s*Table\s+[A-Z]?\.?\d", re.I)
_NEAR = 16.0  # a label may stand this far above or below its drawing, points
_CHART = 60.0  # a grid that ends this close above a figure's caption is a chart
_ABOVE = 45.0  # a table's caption stands this close above it

Print = list[tuple[int, Row]]  # rows from top to bottom, each with the index of its first line


def find_labels(
    lines: Sequence[PageLine], page: Page, grids: Sequence[Grid], drawings: Sequence[Box], frame: Frame
) -> tuple[set[int], set[int]]:
    """Indices of `lines` that are labels, and indices of `grids` that are drawings.

    A line is a label inside a drawing, beside it and not set like prose, or in the band between prose and a figure's
    caption where something is drawn or where it is set in another font than the prose.
    """
    rows: Print = []
    for _, group in groupby(range(len(lines)), key=lambda i: lines[i].row):
        members = list(group)
        rows.append((members[0], Row(lines[members[0]].page, tuple(lines[i] for i in members))))
    found, charts = _above_captions(rows, page, grids, drawings, frame)
    for box in drawings:
        if not _is_frame_of_code(box, lines) and not _is_formula(box, lines):
            found |= {i for i, line in enumerate(lines) if _beside(line, box, frame)}
    found -= _rest_of_prose(rows, found, frame)
    held = [g.box for i, g in enumerate(grids) if i not in charts]
    found = {i for i in found if not any(_within(lines[i], box) for box in held)}
    found |= {i for i, line in enumerate(lines) if not line.upright and not any(_within(line, box) for box in held)}
    return found, charts


def _rest_of_prose(rows: Print, found: set[int], frame: Frame) -> set[int]:
    """Indices in `found` of lines that only end a paragraph whose full lines stand right above the drawing."""
    rest: set[int] = set()
    for (above_at, above), (at, row) in pairwise(rows):
        if at not in found or (above_at in found and above_at not in rest):
            continue
        close = 0 < row.baseline - above.baseline <= STEP * row.size and abs(row.size - above.size) < 0.6
        flush = min(abs(row.box[0] - line.bbox[0]) for line in above.lines) < 3
        if close and flush and (above_at in rest or any(_like_prose(line, frame) for line in above.lines)):
            rest |= {at + k for k in range(len(row.lines))}
    return rest


def _within(line: PageLine, box: Box) -> bool:
    x, y = (line.bbox[0] + line.bbox[2]) / 2, (line.bbox[1] + line.bbox[3]) / 2
    return box[0] - 2 <= x <= box[2] + 2 and box[1] - 1 <= y <= box[3] + 1


def _beside(line: PageLine, box: Box, frame: Frame) -> bool:
    """Whether a line at the height of a drawing, or right above or below it, is no prose and no caption."""
    left, top, right, bottom = box
    x0, y0, x1, y1 = line.bbox
    middle = (y0 + y1) / 2
    if not top - _NEAR <= middle <= bottom + _NEAR or _like_prose(line, frame):
        return False
    if not top - 4 <= middle <= bottom + 4 and not (
        x0 > frame.left + 30 and x1 - x0 < 0.4 * frame.width and left < x1 and x0 < right
    ):
        return False
    row = Row(line.page, (line,))
    return not is_caption(row, frame) and (top <= middle <= bottom or kind_of(row, None, frame) in ("paragraph", "list"))


def _like_prose(line: PageLine, frame: Frame) -> bool:
    return line.upright and line.bbox[2] - line.bbox[0] > 0.55 * frame.width and line.bbox[0] < frame.left + 60


def _above_captions(
    rows: Print, page: Page, grids: Sequence[Grid], drawings: Sequence[Box], frame: Frame
) -> tuple[set[int], set[int]]:
    """Labels and charts in the bands above figure captions."""
    found: set[int] = set()
    charts: set[int] = set()
    prose_font = _prose_font(page, frame)
    for at, (_, row) in enumerate(rows):
        if not _FIGURE.match(row.text) or not is_caption(row, frame):
            continue
        bottom = row.box[1]
        top = at
        while top > 0 and not _stops(rows[top - 1][1], grids, rows, frame):
            top -= 1
        if top > 0:
            top = _past_rest(rows, top, frame)
        ceiling = rows[top - 1][1].box[3] if top else 0.0
        for index, grid in enumerate(grids):
            if ceiling - 4 <= grid.ys[0] and 0 <= bottom - grid.ys[-1] <= _CHART and not _has_table_caption(grid, rows):
                charts.add(index)
        drawn = any(ceiling - 4 <= y0 and y1 <= bottom + 4 for _, y0, _, y1 in drawings) or any(
            grids[i].ys[-1] <= bottom for i in charts
        )
        for first, band in rows[top:at]:
            for offset, line in enumerate(band.lines):
                if drawn or _family(line) != prose_font:
                    found.add(first + offset)
    return found, charts


def _stops(row: Row, grids: Sequence[Grid], rows: Print, frame: Frame) -> bool:
    """Whether a row bounds the band above a figure's caption: prose, a caption, a note, a table with its caption."""
    if not row.lines[0].upright:
        return False
    home = next((g for g in grids if _within(row.lines[0], g.box)), None)
    if home is not None:
        return _has_table_caption(home, rows)
    if is_caption(row, frame) or kind_of(row, None, frame) in ("note", "example", "reference", "definition"):
        return True
    if kind_of(row, None, frame) == "list" and row.box[2] - row.box[0] > 0.3 * frame.width:
        return True
    return any(_like_prose(line, frame) for line in row.lines) or (
        row.box[0] < frame.left + 4 and (len(row.text) > 12 or ends(row.text))
    )


def _past_rest(rows: Print, top: int, frame: Frame) -> int:
    """The band without the rest of the paragraph or note above it."""
    bound = rows[top - 1][1]
    hang = bound.lines[-1].bbox[0]
    while top < len(rows):
        above, row = rows[top - 1][1], rows[top][1]
        close = row.baseline - above.baseline <= STEP * row.size and abs(row.size - above.size) < 0.6
        if not close or min(abs(row.box[0] - hang), abs(row.box[0] - bound.box[0])) > 3 or is_caption(row, frame):
            return top
        top += 1
    return top


def _has_table_caption(grid: Grid, rows: Print) -> bool:
    return any(_TABLE.match(row.text) and 0 <= grid.ys[0] - row.box[3] + 4 <= _ABOVE for _, row in rows)


def _prose_font(page: Page, frame: Frame) -> str:
    fonts: Counter[str] = Counter()
    for line in page.lines:
        if line.bbox[0] < frame.left + 60 and line.bbox[2] - line.bbox[0] > 0.5 * frame.width:
            fonts[_family(line)] += len(line.text)
    return fonts.most_common(1)[0][0] if fonts else ""


def _family(line: PageLine) -> str:
    return max(line.spans, key=lambda s: len(s.text)).font.split("-")[0].split(",")[0]


def _is_formula(box: Box, lines: Sequence[PageLine]) -> bool:
    """Whether strokes are roots, fraction bars and brackets: much of the print is mathematical and no caption follows."""
    within = [
        line for line in lines if box[0] - 8 <= line.bbox[0] <= box[2] + 8 and box[1] - 12 <= line.baseline <= box[3] + 12
    ]
    if any(_FIGURE.match(line.text) and 0 < line.bbox[1] - box[3] < 80 for line in lines):
        return False
    return sum(bool(MATH.search(line.text)) for line in within) > 0.25 * len(within)


def _is_frame_of_code(box: Box, lines: Sequence[PageLine]) -> bool:
    """Whether the print inside is mostly in a typewriter font: an example in a frame (GS QKD 014, page 14)."""
    spans = [s for line in lines if box[0] <= line.bbox[0] <= box[2] and box[1] <= line.baseline <= box[3] for s in line.spans]
    return sum(len(s.text.strip()) for s in spans if typewriter(s)) > 0.6 * sum(len(s.text.strip()) for s in spans) > 0
