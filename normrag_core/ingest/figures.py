"""Drawings of a page: where strokes that are no table cluster, so that labels inside are kept apart from prose."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from normrag_core.ingest.grid import Grid
from normrag_core.ingest.layout import Box, PageLine

_MESH = 9.0  # side of a raster field, points: strokes closer than about this belong to one drawing
_MOST_FIELDS = 400_000  # a page that fills the raster more often than this is art, and would take seconds


@lru_cache(maxsize=8)
def find_figures(rules: tuple[Box, ...], grids: tuple[Grid, ...], width: float, height: float) -> tuple[Box, ...]:
    """Boxes of drawings, top to bottom. Frames of the whole page and lone horizontal lines are none."""
    loose = [r for r in rules if not _page_frame(r, width, height) and not any(_within(r, g.box) for g in grids)]
    if len(loose) < 3:
        return ()
    fields: dict[tuple[int, int], list[int]] = {}
    budget = _MOST_FIELDS
    for index, (x0, y0, x1, y1) in enumerate(loose):
        columns = range(int(x0 // _MESH), int(x1 // _MESH) + 1)
        rows = range(int(y0 // _MESH), int(y1 // _MESH) + 1)
        budget -= len(columns) * len(rows)
        if budget < 0:
            return ()
        for column in columns:
            for row in rows:
                fields.setdefault((column, row), []).append(index)
    seen: set[tuple[int, int]] = set()
    boxes = []
    for start in fields:
        if start in seen:
            continue
        seen.add(start)
        queue, members = [start], set()
        while queue:
            column, row = queue.pop()
            members.update(fields[column, row])
            for near in ((column + i, row + j) for i in (-1, 0, 1) for j in (-1, 0, 1)):
                if near in fields and near not in seen:
                    seen.add(near)
                    queue.append(near)
        box = _around([loose[i] for i in members])
        if _drawing([loose[i] for i in members], box):
            boxes.append(box)
    return tuple(sorted(boxes, key=lambda b: (b[1], b[0])))


def clusters(lines: Sequence[PageLine]) -> list[list[PageLine]]:
    """Labels parted by where they stand: the lines of one box of a flow chart follow each other."""
    groups: list[list[PageLine]] = []
    for line in lines:
        home = next((g for g in reversed(groups) if _below(line, g[-1])), None)
        if home is None:
            groups.append([line])
        else:
            home.append(line)
    return groups


def _below(line: PageLine, above: PageLine) -> bool:
    overlap = min(line.bbox[2], above.bbox[2]) - max(line.bbox[0], above.bbox[0])
    narrow = min(line.bbox[2] - line.bbox[0], above.bbox[2] - above.bbox[0])
    step = line.baseline - above.baseline
    return (
        line.upright
        and above.upright
        and 0 < step < 1.5 * line.size
        and overlap > 0.6 * narrow
        and abs(line.size - above.size) < 1
    )


def _page_frame(rule: Box, width: float, height: float) -> bool:
    return rule[2] - rule[0] > 0.8 * width and rule[3] - rule[1] > 0.7 * height


def _within(rule: Box, box: Box) -> bool:
    x, y = (rule[0] + rule[2]) / 2, (rule[1] + rule[3]) / 2
    return box[0] - 3 <= x <= box[2] + 3 and box[1] - 3 <= y <= box[3] + 3


def _around(rules: Sequence[Box]) -> Box:
    return min(r[0] for r in rules), min(r[1] for r in rules), max(r[2] for r in rules), max(r[3] for r in rules)


def _drawing(rules: Sequence[Box], box: Box) -> bool:
    """Three strokes or more, not all of them horizontal (underlines, fraction bars) and not all on the edges of a frame."""
    upright = sum(r[3] - r[1] > 6 for r in rules)
    if all(_on_edge(r, box) for r in rules):
        return False
    return len(rules) >= 3 and upright >= 1 and box[3] - box[1] >= 20 and box[2] - box[0] >= 30


def _on_edge(rule: Box, box: Box) -> bool:
    """Whether a thin rule lies on an edge of the box, or the rule is the whole box."""
    x0, y0, x1, y1 = rule
    if x1 - x0 > 0.97 * (box[2] - box[0]) and y1 - y0 > 0.97 * (box[3] - box[1]):
        return True
    if y1 - y0 <= 3:
        return min(abs(y0 - box[1]), abs(y1 - box[3])) <= 3
    return x1 - x0 <= 3 and min(abs(x0 - box[0]), abs(x1 - box[2])) <= 3
