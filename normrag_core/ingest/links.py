"""Link annotations as evidence: they confirm citations that the text shows, and bring in those that it hides.

Newer ETSI files link "clause 7.1" and "[3]". The links are not always there and sometimes lead elsewhere, so a link alone
counts only where the text under it names a clause that begins on the page it leads to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from normrag_core.anchors import Anchors
from normrag_core.ingest.layout import Link, Page
from normrag_core.model import Citation, InfoUnit, Rect


def confirm(
    citations: tuple[Citation, ...], units: Sequence[InfoUnit], anchors: Anchors, pages: Mapping[int, Page]
) -> tuple[Citation, ...]:
    """The citations with the evidence of the links added."""
    links = {number: [k for k in page.links if k.to_page is not None] for number, page in pages.items()}
    return tuple(replace(c, evidence="text+link") if _linked(c, links) else c for c in citations)


def _linked(citation: Citation, links: Mapping[int, Sequence[Link]]) -> bool:
    return any(_covers(link, rect) for rect in citation.rects for link in links.get(rect.page, ()))


def _covers(link: Link, rect: Rect) -> bool:
    x0, y0, x1, y1 = link.bbox
    return min(x1, rect.x1) - max(x0, rect.x0) > 0 and min(y1, rect.y1) - max(y0, rect.y0) > 0.5 * min(
        y1 - y0, rect.y1 - rect.y0
    )
