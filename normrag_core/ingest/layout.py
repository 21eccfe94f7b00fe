"""PDF → placed lines. One call of PyMuPDF's text extraction a page; everything after works on these plain lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pymupdf

Box = tuple[float, float, float, float]

# Vectors come out of the same pass as the text, so that table rules cost no second interpretation of the page.
_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_COLLECT_VECTORS
_VECTOR = 3
_MONO = ("courier", "consola", "mono", "typewriter", "lucidasans-type")
_MAX_RULES = 4000
GUTTER = 6.0  # points to either side of the middle
COLUMN_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Span:
    """A run of characters in one font. origin: baseline start (x, y) in points. script: "" | "sup" | "sub"."""

    text: str
    font: str
    size: float
    bold: bool
    italic: bool
    mono: bool
    bbox: Box
    origin: tuple[float, float]
    script: str = ""


@dataclass(frozen=True, slots=True)
class PageLine:
    """One run of print on a physical page (from 1): text as extracted, its spans, its box, its dominant size and weight.

    Print on one baseline is cut where the gap is wider than a space: a bullet and its text, a clause number and its
    title, the cells of a table row are separate lines with the same `row` (from 0, top to bottom of a column).
    upright is False for print that runs in another direction than left to right.
    """

    page: int
    text: str
    spans: tuple[Span, ...]
    bbox: Box
    size: float
    bold: bool
    baseline: float = 0.0
    row: int = 0
    upright: bool = True


@dataclass(frozen=True, slots=True)
class Link:
    """A link annotation: its box and its goal, a physical page (from 1) and y, or a URI."""

    page: int
    bbox: Box
    to_page: int | None
    to_y: float | None
    uri: str | None


@dataclass(frozen=True, slots=True)
class Page:
    """Lines in reading order with header and footer kept apart; ruled rectangles and strokes for the table reader.

    rules: boxes of all strokes and filled or stroked shapes, thin ones being lines. images: number of images placed.
    """

    number: int
    width: float
    height: float
    lines: tuple[PageLine, ...]
    furniture: tuple[PageLine, ...]
    links: tuple[Link, ...]
    rules: tuple[Box, ...]
    images: int


def read_pages(document: Any, progress: Callable[[int, int], None] | None = None) -> list[Page]:
    """Pages of an open PyMuPDF document. `furniture` is still empty: it takes all pages to tell."""
    count = document.page_count
    pages = []
    for index in range(count):
        pages.append(_read_page(document[index], index + 1))
        if progress is not None:
            progress(index + 1, count)
    # A page of two wide table columns looks like two columns of text; a document is set in columns throughout.
    divided = sum(in_columns(page.lines, page.width) for page in pages) >= max(1, COLUMN_SHARE * count)
    return [replace(page, lines=tuple(arrange(page.lines, page.width, divided))) for page in pages]


def _read_page(page: Any, number: int) -> Page:
    # Text is extracted in unrotated coordinates; everything else in NormRAG means the page as it is seen.
    turn = page.rotation_matrix if page.rotation else None
    data = page.get_text("dict", flags=_FLAGS)
    fragments: list[PageLine] = []
    rules: list[Box] = []
    for block in data["blocks"]:
        if block["type"] == _VECTOR:
            if len(rules) < _MAX_RULES:
                rules.append(_turned(block["bbox"], turn))
            continue
        for line in block.get("lines", ()):
            fragment = _fragment(line, number, turn)
            if fragment is not None:
                fragments.append(fragment)
    return Page(
        number=number,
        width=page.rect.width,
        height=page.rect.height,
        lines=tuple(fragments),
        furniture=(),
        links=tuple(_links(page, number)),
        rules=tuple(rules),
        images=len(page.get_images()),
    )


def _fragment(line: dict[str, Any], number: int, turn: Any) -> PageLine | None:
    spans = []
    for s in line["spans"]:
        text = s["text"]
        if not text:
            continue
        font, flags = s["font"], s["flags"]
        name = font.lower()
        spans.append(
            Span(
                text=text,
                font=font,
                size=s["size"],
                bold=bool(flags & 16) or "bold" in name or "black" in name,
                italic=bool(flags & 2) or "italic" in name or "oblique" in name,
                mono=bool(flags & 8) or any(m in name for m in _MONO),
                bbox=_turned(s["bbox"], turn),
                origin=_point(s["origin"], turn),
            )
        )
    if not any(s.text.strip() for s in spans):
        return None
    x, y = line["dir"]
    if turn is not None:
        x, y = x * turn.a + y * turn.c, x * turn.b + y * turn.d
    return _line(number, spans, upright=x > 0.99)


def _line(number: int, spans: Sequence[Span], upright: bool = True) -> PageLine:
    weights: Counter[tuple[float, bool]] = Counter()
    for s in spans:
        weights[(round(s.size, 1), s.bold)] += len(s.text.strip())
    (size, bold), _ = max(weights.items(), key=lambda item: (item[1], item[0]))
    baselines = [s.origin[1] for s in spans if round(s.size, 1) == size and s.text.strip()]
    return PageLine(
        page=number,
        text="".join(s.text for s in spans),
        spans=tuple(spans),
        bbox=(
            min(s.bbox[0] for s in spans),
            min(s.bbox[1] for s in spans),
            max(s.bbox[2] for s in spans),
            max(s.bbox[3] for s in spans),
        ),
        size=size,
        bold=bold,
        baseline=baselines[0] if baselines else spans[0].origin[1],
        upright=upright,
    )


def arrange(fragments: Sequence[PageLine], width: float, divided: bool = False) -> list[PageLine]:
    """Fragments of one page in reading order: by row and from left to right; column by column where the text is divided.

    The order of the content stream is not kept: table headers are drawn last and whole pages in vertical strips
    (EN 302 755 V1.4.1, page 106). Print that is not upright comes last.
    """
    upright = [f for f in fragments if f.upright]
    ordered: list[PageLine] = []
    row = 0
    for column in _columns(upright, width) if divided and in_columns(upright, width) else [upright]:
        for members in _rows(column):
            joined = _join([replace(m, row=row) for m in members])
            ordered.extend(_scripted(joined))
            row += 1
    for fragment in fragments:
        if not fragment.upright:
            ordered.append(replace(fragment, row=row))
            row += 1
    return ordered


def in_columns(lines: Sequence[PageLine], width: float) -> bool:
    """Whether most of a page is set in two columns with a clear gutter in the middle."""
    middle = width / 2
    wide = [f for f in lines if f.upright and f.bbox[2] - f.bbox[0] > 0.28 * width]
    across = sum(f.bbox[0] < middle - GUTTER and f.bbox[2] > middle + GUTTER for f in wide)
    left = sum(f.bbox[2] <= middle + GUTTER for f in wide)
    right = sum(f.bbox[0] >= middle - GUTTER for f in wide)
    return left >= 12 and right >= 12 and across <= 0.25 * len(wide)


def _columns(fragments: Sequence[PageLine], width: float) -> list[list[PageLine]]:
    """Bands from top to bottom: print across the page alone, else the left column and the right column."""
    middle = width / 2
    bands: list[list[PageLine]] = []
    pending: tuple[list[PageLine], list[PageLine]] = ([], [])
    for f in sorted(fragments, key=lambda f: f.baseline):
        if f.bbox[0] < middle - GUTTER and f.bbox[2] > middle + GUTTER:
            bands += [list(side) for side in pending if side] + [[f]]
            pending = ([], [])
        else:
            pending[f.bbox[0] >= middle - GUTTER].append(f)
    return bands + [list(side) for side in pending if side]


def _rows(fragments: Sequence[PageLine]) -> list[list[PageLine]]:
    """Fragments grouped by baseline, each group from left to right. Small raised or lowered print joins its row."""
    rows: list[list[PageLine]] = []
    small: list[PageLine] = []
    typical = _median([f.size for f in fragments]) if fragments else 10.0
    for f in sorted(fragments, key=lambda f: (f.baseline, f.bbox[0])):
        if f.size < 0.8 * typical and len(f.text.strip()) <= 12:
            small.append(f)
            continue
        if rows and abs(rows[-1][0].baseline - f.baseline) <= 0.22 * min(f.size, rows[-1][0].size):
            rows[-1].append(f)
        else:
            rows.append([f])
    alone = []
    for f in small:
        host = _host(f, rows)
        if host is None:
            alone.append(f)
        else:
            host.append(f)
    for f in alone:
        near = next((r for r in rows if abs(r[0].baseline - f.baseline) <= 0.22 * f.size), None)
        if near is None:
            rows.append([f])
        else:
            near.append(f)
    rows.sort(key=lambda row: row[0].baseline)
    return [sorted(row, key=lambda f: f.bbox[0]) for row in rows]


def _host(script: PageLine, rows: Sequence[list[PageLine]]) -> list[PageLine] | None:
    """The row that a loose sub- or superscript touches; None where it touches none."""
    best, least = None, 3.0
    for row in rows:
        shift = row[0].baseline - script.baseline
        if not -0.45 * row[0].size <= shift <= 0.75 * row[0].size:
            continue
        for f in row:
            gap = max(script.bbox[0] - f.bbox[2], f.bbox[0] - script.bbox[2], 0.0)
            if f.size > 1.15 * script.size and gap < least:
                best, least = row, gap + 0.05
    return best


def _join(row: Sequence[PageLine]) -> list[PageLine]:
    """Fragments of a row that continue each other made one; doubled letters at the seam of two strips dropped."""
    joined: list[PageLine] = []
    for f in row:
        last = joined[-1] if joined else None
        gap = f.bbox[0] - last.bbox[2] if last else 0.0
        if last is None or gap > 0.3 * max(f.size, last.size) or gap < -0.7 * (f.bbox[2] - f.bbox[0]):
            joined.append(f)
            continue
        spans = list(f.spans)
        overlap = _doubled(last, f, gap)
        if overlap:
            spans[0] = replace(spans[0], text=spans[0].text[overlap:])
        elif gap > 0.15 * f.size and not last.text.endswith(" ") and not f.text.startswith(" "):
            spans[0] = replace(spans[0], text=" " + spans[0].text)
        joined[-1] = replace(_line(f.page, [*last.spans, *(s for s in spans if s.text)]), row=f.row)
    return joined


def _doubled(left: PageLine, right: PageLine, gap: float) -> int:
    """Number of characters at the start of `right` that repeat the end of `left` in the same place."""
    if gap > -1.0:
        return 0
    first = right.spans[0].text
    for n in range(min(4, len(first), len(left.text)), 0, -1):
        if left.text.endswith(first[:n]) and abs(-gap - n * 0.5 * right.size) < 0.5 * right.size:
            return n
    return 0


def _scripted(row: Sequence[PageLine]) -> list[PageLine]:
    """The row with sub- and superscripts told by size and baseline against the print they touch."""
    marked = []
    for line in row:
        main = max(line.spans, key=lambda s: (round(s.size, 1), len(s.text)))
        peers = [s for s in line.spans if s.size > 0.9 * main.size and s.text.strip()]
        if not peers or all(s.size > 0.9 * main.size and abs(s.origin[1] - peers[0].origin[1]) < 0.5 for s in line.spans):
            marked.append(line)
            continue
        base = Counter(round(s.origin[1], 1) for s in peers for _ in s.text).most_common(1)[0][0]
        marked.append(replace(line, spans=tuple(_script(s, main.size, base) for s in line.spans)))
    return marked


def _script(span: Span, size: float, base: float) -> Span:
    rise = base - span.origin[1]
    if not span.text.strip():
        return span
    if span.size < 0.86 * size:
        if rise > 0.12 * size:
            return replace(span, script="sup")
        if rise < -0.04 * size:
            return replace(span, script="sub")
    elif abs(rise) > 0.2 * size:
        return replace(span, script="sup" if rise > 0 else "sub")
    return span


def _links(page: Any, number: int) -> list[Link]:
    links = []
    for link in page.get_links():
        box = tuple(link["from"])
        goal = link.get("page")
        if link["kind"] in (pymupdf.LINK_GOTO, pymupdf.LINK_NAMED) and isinstance(goal, int) and goal >= 0:
            to = link.get("to")
            links.append(Link(number, box, goal + 1, float(to.y) if isinstance(to, pymupdf.Point) else None, None))
        elif link.get("uri"):
            links.append(Link(number, box, None, None, str(link["uri"])))
    return links


def _turned(box: Any, turn: Any) -> Box:
    if turn is None:
        return tuple(box)
    return tuple((pymupdf.Rect(box) * turn).normalize())


def _point(point: Any, turn: Any) -> tuple[float, float]:
    return tuple(point) if turn is None else tuple(pymupdf.Point(point) * turn)


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
