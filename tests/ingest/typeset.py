"""Pages written line by line for tests of bodies: letters are half a type size wide, typewriter letters 0.6."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from normrag_core.ingest.bodies import build_body
from normrag_core.ingest.layout import Page, PageLine, Span
from normrag_core.model import Block, Line

LEFT, RIGHT = 56.0, 540.0
Run = tuple[str, str]  # text, style: letters of "b" bold, "m" typewriter, "^" raised, "_" lowered


class Sheet:
    """One page. Lines put on the same height share a row."""

    def __init__(self, number: int = 1) -> None:
        self.number = number
        self.lines: list[PageLine] = []
        self.rules: list[tuple[float, float, float, float]] = []

    def put(
        self,
        x: float,
        y: float,
        text: str | Sequence[Run],
        style: str = "",
        size: float = 10.0,
        font: str = "",
        upright: bool = True,
    ) -> Sheet:
        """Print text with its baseline at y."""
        runs = [(text, style)] if isinstance(text, str) else list(text)
        spans, at = [], x
        for run, look in runs:
            mono = "m" in look
            small = size * 0.7 if set(look) & set("^_") else size
            base = y - 0.35 * size if "^" in look else y + 0.2 * size if "_" in look else y
            width = len(run) * small * (0.6 if mono else 0.5)
            name = font or ("Courier" if mono else "Times-Roman")
            script = "sup" if "^" in look else "sub" if "_" in look else ""
            box = (at, base - 0.75 * small, at + width, base + 0.25 * small)
            spans.append(Span(run, name, small, "b" in look, False, mono, box, (at, base), script))
            at += width
        main = max(spans, key=lambda s: (s.size, len(s.text)))
        box = (x, y - 0.75 * size, at, y + 0.25 * size) if upright else (x, y - (at - x), x + size, y)
        line = PageLine(
            self.number, "".join(s.text for s in spans), tuple(spans), box, size, main.bold, y, round(y * 10), upright
        )
        self.lines.append(line)
        return self

    def prose(self, y: float, *texts: str, x: float = LEFT, style: str = "") -> Sheet:
        """Lines of one paragraph, 11.5 points apart."""
        for index, text in enumerate(texts):
            self.put(x, y + 11.5 * index, text, style)
        return self

    def grid(self, xs: Sequence[float], ys: Sequence[float], skip: Sequence[tuple[str, int, int]] = ()) -> Sheet:
        """Strokes of a table, one a field. skip: ("h", edge, column) or ("v", row, edge) left out."""
        for j, y in enumerate(ys):
            self.rules += [(a, y, b, y + 0.5) for i, (a, b) in enumerate(itertools.pairwise(xs)) if ("h", j, i) not in skip]
        for i, x in enumerate(xs):
            self.rules += [(x, a, x + 0.5, b) for j, (a, b) in enumerate(itertools.pairwise(ys)) if ("v", j, i) not in skip]
        return self

    def page(self) -> Page:
        """The page, its lines in reading order."""
        lines = tuple(sorted(self.lines, key=lambda line: (line.row, line.bbox[0])))
        return Page(self.number, 595.0, 842.0, lines, (), (), tuple(self.rules), 0)


def full(words: str) -> str:
    """A line that fills the text area: the words, then a filler word."""
    room = int((RIGHT - LEFT) / 5) - len(words) - 1
    return f"{words} {'x' * max(room, 1)}"


def body(*sheets: Sheet) -> tuple[str, tuple[Block, ...], tuple[Line, ...]]:
    """Body, blocks and lines of a unit that fills the sheets."""
    pages = {s.number: s.page() for s in sheets}
    return build_body([line for page in pages.values() for line in page.lines], pages)


def blocks(*sheets: Sheet) -> list[tuple[str, str]]:
    """Kind and text of each block."""
    text, found, _ = body(*sheets)
    return [(b.kind, text[b.start : b.end]) for b in found]
