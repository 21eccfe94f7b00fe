"""Where a stretch of a unit's body stands on the page, and the sentence around it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from normrag_core.model import InfoUnit, Line, Rect

# An end of sentence: a stop before a space and a capital, a digit, a bracket or a bullet (not after "e.g."); a blank line;
# a bullet or a table row on the next line.
_SENTENCE_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bNo)(?<!\bFig)(?<!\bvs)(?<!\betc)[.;!?](?=\s+[A-Z0-9(•–-])|\n\s*\n|\n(?=[•–|-]\s)"
)
_CONTEXT = 400  # characters a context has at most


class Places:
    """Lines of one unit, for look-ups by offset."""

    def __init__(self, unit: InfoUnit) -> None:
        self.unit = unit
        self._lines: Sequence[Line] = sorted(unit.lines, key=lambda n: n.start)
        self._starts = [line.start for line in self._lines]

    def lines(self, start: int, end: int) -> list[Line]:
        """Lines that hold a part of `body[start:end]`."""
        at = max(bisect_right(self._starts, start) - 1, 0)
        found = []
        while at < len(self._lines) and self._lines[at].start < end:
            if self._lines[at].end > start:
                found.append(self._lines[at])
            at += 1
        return found

    def page(self, offset: int) -> int:
        """Physical page of one character; of the line before it where it stands between lines; else the unit's page."""
        at = bisect_right(self._starts, offset) - 1
        return self._lines[at].rect.page if at >= 0 else self.unit.page

    def rects(self, start: int, end: int) -> tuple[Rect, ...]:
        """One rectangle a line, cut to the share of its characters (proportional, so a few points off in wide fonts)."""
        found = []
        for line in self.lines(start, end):
            length = max(line.end - line.start, 1)
            left, right = (max(start, line.start) - line.start) / length, (min(end, line.end) - line.start) / length
            box, width = line.rect, line.rect.x1 - line.rect.x0
            found.append(Rect(box.page, round(box.x0 + left * width, 1), box.y0, round(box.x0 + right * width, 1), box.y1))
        return tuple(found)


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a text, in order, blank space around them left out."""
    spans, start = [], 0
    for match in [*_SENTENCE_END.finditer(text), None]:
        end = len(text) if match is None else match.end()
        piece = text[start:end]
        if piece.strip():
            spans.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
        start = end
    return spans


def sentence_around(text: str, spans: Sequence[tuple[int, int]], start: int, end: int) -> str:
    """The sentence that holds `text[start:end]`, shortened evenly around it where it is very long."""
    at = max(bisect_right(spans, (start, len(text))) - 1, 0) if spans else 0
    left, right = spans[at] if spans else (0, len(text))
    right = max(right, end)
    if right - left > _CONTEXT:
        left, right = max(left, start - _CONTEXT // 2), min(right, end + _CONTEXT // 2)
    return re.sub(r"\s+", " ", text[left:right]).strip()
