"""Printed rows: the lines side by side on one baseline seen as one. Headings are looked for among rows, not lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from normrag_core.ingest.identity import clean
from normrag_core.ingest.layout import Page, PageLine


@dataclass(frozen=True, slots=True)
class Row:
    """`lines[start:stop]` of the document (furniture left out), on one baseline of one page.

    size, bold, family: of most of its characters; family is the font's name without subset tag, weight and slant.
    """

    page: int
    start: int
    stop: int
    text: str
    size: float
    bold: bool
    family: str
    x0: float
    x1: float
    y0: float
    y1: float

    @property
    def style(self) -> tuple[str, float, bool]:
        return self.family, self.size, self.bold


def document_lines(pages: Sequence[Page]) -> list[PageLine]:
    """All lines of all pages, without furniture, in reading order."""
    return [line for page in pages for line in page.lines]


def document_rows(lines: Sequence[PageLine]) -> list[Row]:
    """Rows over `document_lines`. Print that is not upright makes none."""
    rows = []
    start = 0
    while start < len(lines):
        stop = start + 1
        while stop < len(lines) and (lines[stop].page, lines[stop].row) == (lines[start].page, lines[start].row):
            stop += 1
        if lines[start].upright:
            rows.append(_row(lines, start, stop))
        start = stop
    return rows


def _row(lines: Sequence[PageLine], start: int, stop: int) -> Row:
    members = lines[start:stop]
    weights: Counter[tuple[float, bool, str]] = Counter()
    for line in members:
        for span in line.spans:
            if not span.script:
                weights[(round(span.size * 2) / 2, span.bold, family(span.font))] += len(span.text.strip())
    size, bold, name = max(weights.items(), key=lambda item: (item[1], item[0]))[0] if weights else (members[0].size, False, "")
    return Row(
        page=members[0].page,
        start=start,
        stop=stop,
        text=clean(" ".join(line.text for line in members)),
        size=size,
        bold=bold,
        family=name,
        x0=min(line.bbox[0] for line in members),
        x1=max(line.bbox[2] for line in members),
        y0=min(line.bbox[1] for line in members),
        y1=max(line.bbox[3] for line in members),
    )


def family(font: str) -> str:
    """ "ABCDEF+Arial-BoldMT" → "arial": what stays when subset tag, weight, slant and vendor are taken off."""
    name = font.split("+")[-1].lower()
    name = name.split("-")[0].split(",")[0]
    for tail in ("boldmt", "mt", "psmt", "ps", "bold", "italic", "roman"):
        name = name.removesuffix(tail)
    return name


def body_style(rows: Sequence[Row]) -> tuple[str, float, bool]:
    """The style of most of the text."""
    weights: Counter[tuple[str, float, bool]] = Counter()
    for row in rows:
        weights[row.style] += len(row.text)
    return weights.most_common(1)[0][0] if weights else ("", 10.0, False)


def margins(rows: Sequence[Row]) -> dict[int, tuple[float, ...]]:
    """Left edges of the text on odd (1) and even (0) pages: where many rows begin, and a second column's edge."""
    edges = {}
    for parity in (0, 1):
        starts = Counter(round(row.x0) for row in rows if row.page % 2 == parity and row.page > 1)
        total = sum(starts.values())
        near = {x: starts[x - 1] + starts[x] + starts[x + 1] for x in starts}
        often = [x for x in near if near[x] >= max(3, 0.05 * total)]
        left = min(often, default=0)
        columns = [x for x in often if x > left + 180 and near[x] >= 0.3 * total]
        edges[parity] = (float(left), *map(float, columns[:1]))
    return edges


def indent(row: Row, edges: dict[int, tuple[float, ...]]) -> float:
    """How far from the text's left edge the row begins, points."""
    return min(abs(row.x0 - edge) for edge in edges[row.page % 2])
