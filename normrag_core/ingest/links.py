"""Link annotations as evidence: they confirm citations that the text shows, and bring in those that the words do not give away.

Newer ETSI files link "clause 7.1" and "[3]". The links are not always there and sometimes lead elsewhere, so a link alone
counts only where the print under it is the number of a clause that begins on the page it leads to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from normrag_core.anchors import Anchors
from normrag_core.ingest.layout import Link, Page
from normrag_core.ingest.places import Places, sentence_around, sentences
from normrag_core.model import Citation, InfoUnit, Line, Rect

_CODE = re.compile(r"(?:\d{1,3}|[A-Z]{1,2})(?:\.\d{1,3}[A-Za-z]{0,2})+")
# The number of a table is linked from its own caption.
_CAPTIONED = re.compile(r"(?:table|figure)s?\s+$", re.I)
_SLACK = 3  # characters: rectangles within a line are cut by proportion


def confirm(
    citations: tuple[Citation, ...],
    citing: Sequence[InfoUnit],
    anchors: Anchors,
    document: str,
    pages: Mapping[int, Page],
) -> tuple[Citation, ...]:
    """The citations in reading order with the evidence of the links added.

    citing: units that may hold citations, in reading order. document: id of this document.
    """
    links = {number: [k for k in page.links if k.to_page is not None] for number, page in pages.items()}
    if not any(links.values()):
        return citations
    marked = [replace(c, evidence="text+link") if _linked(c, links) else c for c in citations]
    held: dict[tuple[int, int], list[Rect]] = {}
    for citation in citations:
        for rect in citation.rects:
            held.setdefault((rect.page, round(rect.y0)), []).append(rect)
    order = {unit.id: number for number, unit in enumerate(citing)}
    fresh = [c for unit in citing for c in _added(unit, anchors, document, links, held)]
    return tuple(sorted([*marked, *fresh], key=lambda c: (order[c.source], c.start)) if fresh else marked)


def _linked(citation: Citation, links: Mapping[int, Sequence[Link]]) -> bool:
    return any(_covers(link.bbox, rect) for rect in citation.rects for link in links.get(rect.page, ()))


def _covers(box: tuple[float, float, float, float], rect: Rect) -> bool:
    x0, y0, x1, y1 = box
    return min(x1, rect.x1) - max(x0, rect.x0) > 0 and min(y1, rect.y1) - max(y0, rect.y0) > 0.5 * min(
        y1 - y0, rect.y1 - rect.y0
    )


def _added(
    unit: InfoUnit,
    anchors: Anchors,
    document: str,
    links: Mapping[int, Sequence[Link]],
    held: Mapping[tuple[int, int], Sequence[Rect]],
) -> Iterator[Citation]:
    """Citations that only a link shows."""
    places, spans = Places(unit), sentences(unit.body)
    for line in unit.lines:
        for link in links.get(line.rect.page, ()):
            if not _covers(link.bbox, line.rect) or any(
                _covers(link.bbox, r) for r in held.get((line.rect.page, round(line.rect.y0)), ())
            ):
                continue
            found = _number_below(unit.body, line, link)
            goal = anchors.clause(found[2]) if found else None
            if found is None or goal is None or goal.page != link.to_page or goal.id == unit.id:
                continue
            start, end, code = found
            yield Citation(
                source=unit.id,
                page=line.rect.page,
                start=start,
                end=end,
                text=code,
                context=sentence_around(unit.body, spans, start, end),
                document=document,
                code=goal.code,
                target=goal.id,
                state="resolved",
                form="link",
                evidence="link",
                informative=unit.informative,
                rects=places.rects(start, end),
            )


def _number_below(body: str, line: Line, link: Link) -> tuple[int, int, str] | None:
    """Start, end and text of the clause number that the link lies on."""
    width = max(line.rect.x1 - line.rect.x0, 1.0)
    scale = (line.end - line.start) / width
    left = line.start + (link.bbox[0] - line.rect.x0) * scale - _SLACK
    right = line.start + (link.bbox[2] - line.rect.x0) * scale + _SLACK
    for match in _CODE.finditer(body, line.start, line.end):
        if left <= match.start() and match.end() <= right and not _CAPTIONED.search(body[: match.start()][-12:]):
            return match.start(), match.end(), match[0]
    return None
