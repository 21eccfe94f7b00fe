"""Tables without strokes: rows of print that stand in the same columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from normrag_core.ingest.drafts import Draft, Printed, Row, Vocabulary, append, rect

_NUMBERS = re.compile(r"[-+−]?\d[\d\s.,/+−-]*")
_LEAST_ROWS = 3
_STEP = 2.2  # rows further apart than this many type sizes are no table


def run_of_columns(rows: Sequence[Row], at: int) -> int:
    """End of the run of tabular rows that begins at `at`; `at` itself where none does.

    Tabular: three rows or more, of three columns each or of nothing but numbers in two, most columns filled in most rows.
    """
    stop = at
    while stop < len(rows) and _tabular(rows[stop]):
        if stop > at and rows[stop].baseline - rows[stop - 1].baseline > _STEP * rows[stop].size:
            break
        stop += 1
    run = rows[at:stop]
    if len(run) < _LEAST_ROWS:
        return at
    columns = _columns(run)
    filled = sum(len(row.lines) for row in run) / (len(columns) * len(run))
    if len(columns) < 2 or filled <= 0.6:
        return at
    while stop < len(rows) and _rest_of_column(rows[stop], rows[stop - 1], columns):
        stop += 1
    return stop


def _rest_of_column(row: Row, above: Row, columns: Sequence[tuple[float, float]]) -> bool:
    """Whether a row of numbers goes on one column that is longer than the others."""
    near = row.baseline - above.baseline <= 1.6 * row.size
    return (
        near
        and len(row.lines) == 1
        and bool(_NUMBERS.fullmatch(row.text))
        and any(a <= row.box[0] and row.box[2] <= b for a, b in columns)
    )


def _tabular(row: Row) -> bool:
    texts = [t for t in row.texts if t]
    if len(texts) < 2 or not all(line.upright for line in row.lines):
        return False
    numbers = sum(bool(_NUMBERS.fullmatch(t)) for t in texts)
    return numbers == len(texts) or (len(texts) >= 3 and max(len(t) for t in texts) < 40)


def _columns(run: Sequence[Row]) -> list[tuple[float, float]]:
    """Stretches of x that print of the run covers, left to right."""
    stretches: list[list[float]] = []
    for x0, x1 in sorted((line.bbox[0], line.bbox[2]) for row in run for line in row.lines if line.text.strip()):
        if stretches and x0 <= stretches[-1][1]:
            stretches[-1][1] = max(stretches[-1][1], x1)
        else:
            stretches.append([x0, x1])
    return [(a, b) for a, b in stretches]


def unruled_table(rows: Sequence[Row], vocabulary: Vocabulary) -> Draft:
    """The table that a run of rows makes."""
    columns = _columns(rows)
    cells: list[list[list[Printed]]] = []
    for row in rows:
        out: list[list[Printed]] = [[] for _ in columns]
        for line, text in zip(row.lines, row.texts, strict=True):
            if text:
                middle = (line.bbox[0] + line.bbox[2]) / 2
                index = next(i for i, (a, b) in enumerate(columns) if a <= middle <= b)
                append(out[index], Printed(text, rect(line)), vocabulary)
        cells.append(out)
    return Draft("table", cells=cells, edges=(*(a for a, _ in columns), columns[-1][1]), rows=list(rows))
