"""Ruled strokes of a page → table grids. Pure geometry on `Page.rules`, no text.

PyMuPDF's `find_tables` takes 0.8 s a page on such files; this takes about a millisecond.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from normrag_core.ingest.layout import Box

_THIN = 2.6  # thickest stroke, points
_SNAP = 2.2  # strokes this close are one line
_TOUCH = 3.0  # ends this close to a line meet it
_MOST = 800  # longest strokes looked at each way; only drawings have more
_MOST_FIELDS = 4000  # rows × columns; graph paper has more
_COVER = 0.88  # share of the longer outer edge that must be drawn


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell at (row, col) over `rows` × `cols` elementary fields."""

    row: int
    col: int
    rows: int
    cols: int


@dataclass(frozen=True, slots=True)
class Grid:
    """A ruled table: edges xs (n_cols + 1) and ys (n_rows + 1), ascending, in points; cells tile it."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    cells: tuple[Cell, ...]

    @property
    def box(self) -> Box:
        """Outer box."""
        return self.xs[0], self.ys[0], self.xs[-1], self.ys[-1]

    def at(self, x: float, y: float) -> tuple[int, int]:
        """(row, col) of the cell that holds a point; points outside fall into the nearest."""
        col = min(max(bisect_right(self.xs, x) - 1, 0), len(self.xs) - 2)
        row = min(max(bisect_right(self.ys, y) - 1, 0), len(self.ys) - 2)
        for cell in self.cells:
            if cell.row <= row < cell.row + cell.rows and cell.col <= col < cell.col + cell.cols:
                return cell.row, cell.col
        return row, col


@dataclass(slots=True)
class _Stroke:
    """A straight line at `at` from `lo` to `hi`; cuts: where one of its pieces ends and the next begins."""

    at: float
    lo: float
    hi: float
    cuts: list[float]


@lru_cache(maxsize=8)
def find_grids(rules: tuple[Box, ...]) -> tuple[Grid, ...]:
    """All ruled grids of a page with two cells or more, top to bottom."""
    across = _merge((((y0 + y1) / 2, x0, x1) for x0, y0, x1, y1 in rules if y1 - y0 <= _THIN < x1 - x0))
    down = _merge((((x0 + x1) / 2, y0, y1) for x0, y0, x1, y1 in rules if x1 - x0 <= _THIN < y1 - y0))
    across, down = (sorted(strokes, key=lambda s: s.lo - s.hi)[:_MOST] for strokes in (across, down))
    grids = []
    for hs, vs in _components(across, down):
        grid = _grid(hs, vs)
        if grid is not None:
            grids.append(grid)
    grids.sort(key=lambda g: (g.ys[0], g.xs[0]))
    outer = [g for g in grids if not any(o is not g and _inside(g.box, o.box) and len(o.cells) > 1 for o in grids)]
    return tuple(outer)


def _inside(inner: Box, outer: Box) -> bool:
    return inner[0] >= outer[0] - 1 and inner[1] >= outer[1] - 1 and inner[2] <= outer[2] + 1 and inner[3] <= outer[3] + 1


def _merge(pieces: Iterable[tuple[float, float, float]]) -> list[_Stroke]:
    """Collinear pieces that touch, made one."""
    strokes: list[_Stroke] = []
    lane: list[_Stroke] = []
    ordered = sorted(pieces)
    lanes: list[list[tuple[float, float, float]]] = []
    for piece in ordered:
        if lanes and piece[0] - lanes[-1][0][0] <= _SNAP:
            lanes[-1].append(piece)
        else:
            lanes.append([piece])
    for pieces_of_lane in lanes:
        lane = []
        for at, lo, hi in sorted(pieces_of_lane, key=lambda p: (p[1], p[2])):
            last = lane[-1] if lane else None
            if last is not None and lo <= last.hi + _TOUCH:
                if lo >= last.hi - _TOUCH and hi > last.hi:
                    last.cuts.append((lo + last.hi) / 2)
                last.hi = max(last.hi, hi)
            else:
                lane.append(_Stroke(at, lo, hi, []))
        strokes += lane
    return strokes


def _components(across: list[_Stroke], down: list[_Stroke]) -> list[tuple[list[_Stroke], list[_Stroke]]]:
    """Strokes grouped by touching or crossing."""
    parent = list(range(len(across) + len(down)))

    def find(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for i, h in enumerate(across):
        for j, v in enumerate(down):
            if h.lo - _TOUCH <= v.at <= h.hi + _TOUCH and v.lo - _TOUCH <= h.at <= v.hi + _TOUCH:
                parent[find(i)] = find(len(across) + j)
    groups: dict[int, tuple[list[_Stroke], list[_Stroke]]] = {}
    for i, stroke in enumerate([*across, *down]):
        groups.setdefault(find(i), ([], []))[i >= len(across)].append(stroke)
    return [g for g in groups.values() if len(g[0]) >= 2 and len(g[1]) >= 1]


def _positions(strokes: list[_Stroke]) -> list[float]:
    found: list[float] = []
    for at in sorted(s.at for s in strokes):
        if not found or at - found[-1] > _SNAP:
            found.append(at)
    return found


def _covered(strokes: list[_Stroke], at: float, lo: float, hi: float) -> float:
    """Share of [lo, hi] drawn at `at`."""
    drawn = sum(max(0.0, min(s.hi, hi) - max(s.lo, lo)) for s in strokes if abs(s.at - at) <= _SNAP)
    return drawn / (hi - lo) if hi > lo else 0.0


def _grid(hs: list[_Stroke], vs: list[_Stroke]) -> Grid | None:
    """The grid that the strokes draw, None where they draw something else (a flow chart, an axis with ticks)."""
    ys = _positions(hs)
    if len(ys) < 2:
        return None
    left, right = min(h.lo for h in hs), max(h.hi for h in hs)
    xs = _positions(vs)
    # A table may lack its outer verticals.
    if xs[0] - left > 2 * _TOUCH:
        xs.insert(0, left)
    if right - xs[-1] > 2 * _TOUCH:
        xs.append(right)
    if len(xs) < 2 or xs[-1] - xs[0] < 30 or ys[-1] - ys[0] < 8:
        return None
    drawn = sorted(_covered(hs, y, xs[0], xs[-1]) for y in (ys[0], ys[-1]))
    if drawn[0] < 0.1 or drawn[1] < _COVER:  # one edge may be shorter: rows of different lengths
        return None
    if any(v.lo < ys[0] - 2 * _TOUCH or v.hi > ys[-1] + 2 * _TOUCH for v in vs):
        return None
    ys = _with_cuts(ys, hs, vs)
    rows, cols = len(ys) - 1, len(xs) - 1
    if not 2 <= rows * cols <= _MOST_FIELDS or not _tiled(xs, ys, hs, vs):
        return None
    return Grid(tuple(xs), tuple(ys), _cells(xs, ys, hs, vs))


def _with_cuts(ys: list[float], hs: list[_Stroke], vs: list[_Stroke]) -> list[float]:
    """Rows without a line between them: Word draws verticals row by row, so all of them are cut at the same height."""
    counts: list[tuple[float, int]] = []
    for cut in sorted(c for v in vs for c in v.cuts):
        if counts and cut - counts[-1][0] <= _SNAP:
            counts[-1] = (counts[-1][0], counts[-1][1] + 1)
        else:
            counts.append((cut, 1))
    more = [
        at
        for at, n in counts
        if n >= 2
        and n >= sum(v.lo < at - _SNAP and v.hi > at + _SNAP for v in vs)
        and all(abs(at - y) > 2 * _SNAP for y in ys)
        and not any(abs(h.at - at) <= 2 * _SNAP for h in hs)
    ]
    return sorted([*ys, *more])


def _tiled(xs: list[float], ys: list[float], hs: list[_Stroke], vs: list[_Stroke]) -> bool:
    """Whether the ends of inner strokes lie on other strokes, as in a table; the shafts of a drawing end anywhere."""
    loose = 0
    for h in hs:
        loose += not any(abs(h.lo - x) <= 2 * _TOUCH for x in xs)
        loose += not any(abs(h.hi - x) <= 2 * _TOUCH for x in xs)
    for v in vs:
        loose += not any(abs(v.lo - y) <= 2 * _TOUCH for y in ys)
        loose += not any(abs(v.hi - y) <= 2 * _TOUCH for y in ys)
    return loose <= 0.1 * 2 * (len(hs) + len(vs))


def _cells(xs: list[float], ys: list[float], hs: list[_Stroke], vs: list[_Stroke]) -> tuple[Cell, ...]:
    """Elementary fields joined where no stroke parts them; a row that no line parts from the next is parted all the same."""
    rows, cols = len(ys) - 1, len(xs) - 1
    inner = {y for y in ys if any(abs(h.at - y) <= _SNAP for h in hs)}

    def parted_right(r: int, c: int) -> bool:
        return _covered(vs, xs[c + 1], ys[r], ys[r + 1]) > 0.5

    def parted_below(r: int, c: int) -> bool:
        return ys[r + 1] not in inner or _covered(hs, ys[r + 1], xs[c], xs[c + 1]) > 0.5

    taken: set[tuple[int, int]] = set()
    cells = []
    for r in range(rows):
        for c in range(cols):
            if (r, c) in taken:
                continue
            wide = 1
            while c + wide < cols and (r, c + wide) not in taken and not parted_right(r, c + wide - 1):
                wide += 1
            high = 1
            while r + high < rows and not any(parted_below(r + high - 1, c + k) for k in range(wide)):
                if any((r + high, c + k) in taken for k in range(wide)):
                    break
                high += 1
            taken |= {(r + i, c + k) for i in range(high) for k in range(wide)}
            cells.append(Cell(r, c, high, wide))
    return tuple(cells)
