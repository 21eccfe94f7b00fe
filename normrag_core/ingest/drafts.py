"""Blocks on their way into a body: printed pieces with their place, before offsets exist."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from normrag_core.ingest.layout import Box, Page, PageLine, Span
from normrag_core.ingest.scripts import prose
from normrag_core.model import BlockKind, Rect

_NAMELESS = re.compile(r"T\d+|TT[0-9A-F]+o\d+")


def typewriter(span: Span) -> bool:
    """Whether a span is set in a typewriter font; subset fonts without a name are told by the width of their letters."""
    if span.mono:
        return True
    if not _NAMELESS.fullmatch(span.font) or len(span.text) < 6 or span.size <= 0:
        return False
    width = (span.bbox[2] - span.bbox[0]) / (len(span.text) * span.size)
    return 0.547 <= width <= 0.559 or 0.595 <= width <= 0.607  # Consolas; Courier and its like


@dataclass(slots=True)
class Printed:
    """Text of one printed line (or of its part in one table cell) and what stands between it and the piece before."""

    text: str
    rect: Rect
    before: str = " "


@dataclass(frozen=True)
class Row:
    """The printed lines of one baseline, left to right."""

    page: int
    lines: tuple[PageLine, ...]

    @cached_property
    def box(self) -> Box:
        """Box around all lines, points."""
        boxes = [line.bbox for line in self.lines]
        return min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Marked text of each line, stripped."""
        return tuple(prose(line) for line in self.lines)

    @cached_property
    def text(self) -> str:
        """The whole row, one space between lines."""
        return " ".join(t for t in self.texts if t)

    @cached_property
    def size(self) -> float:
        """Type size of the longest line."""
        return max(self.lines, key=lambda line: len(line.text)).size

    @cached_property
    def baseline(self) -> float:
        """Baseline of the longest line, points from the top."""
        return max(self.lines, key=lambda line: len(line.text)).baseline

    @property
    def bold(self) -> bool:
        """Whether all its lines are bold."""
        return all(line.bold for line in self.lines)

    @cached_property
    def mono(self) -> float:
        """Share of its characters set in a typewriter font."""
        spans = [s for line in self.lines for s in line.spans]
        total = sum(len(s.text.strip()) for s in spans)
        return sum(len(s.text.strip()) for s in spans if typewriter(s)) / total if total else 0.0


@dataclass(slots=True)
class Draft:
    """A block without offsets. Text kinds use `printed`; tables use `cells` (rows of cells of pieces) and `edges` (column xs).

    rows: the printed rows it came from, for joins over the page break.
    """

    kind: BlockKind
    printed: list[Printed] = field(default_factory=list)
    level: int = 0
    cells: list[list[list[Printed]]] = field(default_factory=list)
    edges: tuple[float, ...] = ()
    rows: list[Row] = field(default_factory=list)
    hang: float = 0.0


def rows_of(lines: Sequence[PageLine]) -> list[Row]:
    """Lines of one page in reading order, grouped by printed row; print a little higher beside others shares their row."""
    rows: list[list[PageLine]] = []
    for line in lines:
        if rows and (rows[-1][0].row == line.row or _beside(line, rows[-1])):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [Row(r[0].page, tuple(sorted(r, key=lambda line: line.bbox[0]))) for r in rows]


def _beside(line: PageLine, row: Sequence[PageLine]) -> bool:
    return line.upright and all(
        abs(line.baseline - other.baseline) < 0.4 * min(line.size, other.size)
        and (line.bbox[0] > other.bbox[2] - 1 or line.bbox[2] < other.bbox[0] + 1)
        for other in row
    )


def rect(line: PageLine) -> Rect:
    """Place of a line."""
    return Rect(line.page, *line.bbox)


class Vocabulary:
    """Words of the document as printed, counted when first asked: evidence for what a hyphen at a line's end means."""

    def __init__(self, pages: Mapping[int, Page]) -> None:
        self._pages = pages

    @cached_property
    def words(self) -> Counter[str]:
        """How often each word, hyphenated ones whole, occurs; lower case."""
        return Counter(
            word
            for page in self._pages.values()
            for line in page.lines
            for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", line.text.lower())
        )


_BROKEN = re.compile(r"([^\W\d_]+)-$")
_START = re.compile(r"[^\W\d_]+")
_SUSPENDED = re.compile(r"(?:and|or|to|und|et|and/or)\b")


def append(pieces: list[Printed], piece: Printed, vocabulary: Vocabulary) -> None:
    """Put a piece behind others: a space between them, none after a hyphen; a hyphen that only broke a word is undone.

    A real hyphen stays (`time-slicing`, `MPE-FEC`). It is taken for a mere break where the rest is no word of this document
    and the hyphenated form occurs nowhere else, or the unbroken form does.
    """
    if pieces and piece.before == " ":
        last = pieces[-1]
        if last.text.endswith("\u00ad"):
            last.text = last.text[:-1]
            piece.before = ""
        elif re.search(r"\w-$", last.text) and piece.text[:1].isalnum():
            left, right = _BROKEN.search(last.text), _START.match(piece.text)
            if _SUSPENDED.match(piece.text):
                pieces.append(piece)
                return
            piece.before = ""
            if left and right and right.group()[0].islower():
                a, b = left.group(1).lower(), right.group().lower()
                words = vocabulary.words
                whole = words[a + b]
                if not words[f"{a}-{b}"] and (whole or words[b] < 2):
                    last.text = last.text[:-1]
        elif re.search(r"\w[/_]$", last.text) and re.match(r"[^\W\d_]|\d", piece.text):
            piece.before = ""
    pieces.append(piece)


def join(pieces: Iterable[Printed]) -> str:
    """Text of pieces with what stands between them."""
    return "".join((p.before if i else "") + p.text for i, p in enumerate(pieces))
