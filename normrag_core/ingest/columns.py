"""What a table's header says about the cells below it: the document a column is about, and columns of bare clause numbers.

"| Attribute | Clause defined |" over "| Public-Identity | 6.3.2 |" cites 6.3.2; "| ETSI TS 119 612 [1] field and clause |" over
"| TSL type (clause 5.3.3) |" cites clause 5.3.3 of TS 119 612.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from normrag_core.model import Block

_BAR = re.compile(r"(?<!\\)\|")
_NUMBERS_BELOW = re.compile(r"\b(?:sub-?)?clauses?\b|\bsections?\b|\breferences?\b", re.I)
_NUMBER = re.compile(r"\s*(?P<code>(?:\d{1,2}|[A-Z])(?:\.\d{1,3}[A-Za-z]{0,2}){1,6})\s*")
_HEAD_ROWS = 2  # a header may have a row of group headings above it

Span = tuple[int, int]


class Columns:
    """Tables of one body, cell by cell."""

    def __init__(self, body: str, blocks: Sequence[Block]) -> None:
        self._body = body
        self._tables = [(b.start, b.end, _cells(body, b)) for b in blocks if b.kind == "table"]
        self._starts = [start for start, _, _ in self._tables]

    def head(self, offset: int) -> list[Span]:
        """Spans of the header cells above the cell that holds `offset`; none in the header itself or outside tables."""
        at = bisect_right(self._starts, offset) - 1
        if at < 0 or offset >= self._tables[at][1]:
            return []
        rows = self._tables[at][2]
        number = bisect_right(rows, offset, key=lambda row: row[0][0]) - 1
        if number < 0:
            return []
        column = bisect_right(rows[number], offset, key=lambda cell: cell[0]) - 1
        return [r[column] for r in rows[: min(number, _HEAD_ROWS)] if column < len(r)]

    def numbers(self) -> Iterator[Span]:
        """Cells that hold nothing but a clause number, below a header that announces such."""
        for _, _, rows in self._tables:
            for head, row in enumerate(rows[:_HEAD_ROWS]):
                for column, (start, end) in enumerate(row):
                    if end - start <= 70 and _NUMBERS_BELOW.search(self._body, start, end):
                        for below in rows[head + 1 :]:
                            match = _NUMBER.fullmatch(self._body, *below[column]) if column < len(below) else None
                            if match:
                                yield match.span("code")


def _cells(body: str, block: Block) -> list[list[Span]]:
    """Cells of each printed row as spans of the body; the rule below the header left out."""
    rows, start = [], block.start
    for line in body[block.start : block.end].split("\n"):
        bars = [m.start() for m in _BAR.finditer(line)]
        if len(bars) >= 2 and not re.fullmatch(r"[|\s:]*-{3}[|\s:-]*", line):
            rows.append([(start + a + 1, start + b) for a, b in pairwise(bars)])
        start += len(line) + 1
    return rows
