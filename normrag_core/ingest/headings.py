"""Headings of a document, each with its place, from bookmarks, contents pages and the body's own typography."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from normrag_core.ingest.identity import clean
from normrag_core.ingest.layout import PageLine
from normrag_core.ingest.numbering import Numbered, take_apart
from normrag_core.ingest.outline import Finder, Mark, Place, squeeze
from normrag_core.ingest.rows import Row
from normrag_core.model import UnitKind


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and its place: document lines `start:stop` print it (empty where it is listed but not printed).

    level: from the bookmarks, from 1; None where only the number tells. source: what it was found by.
    """

    code: str
    title: str
    kind: UnitKind
    page: int
    y: float
    start: int
    stop: int
    informative: bool | None = None
    level: int | None = None
    source: Literal["bookmark", "contents", "body"] = "body"
    alike: float = 1.0


def from_marks(
    marks: Sequence[Mark], finder: Finder, lines: Sequence[PageLine], source: Literal["bookmark", "contents"]
) -> list[Heading]:
    """Headings of the marks in the order of the document; those not found in print stand where their mark points."""
    taken: set[int] = set()
    headings = []
    for mark in marks:
        place = finder.find(mark, taken)
        if place is not None:
            taken.update(range(place.first, place.stop))
            headings.append(_placed(mark, place, finder.rows, source))
        elif source == "bookmark":
            headings.append(_unplaced(mark, lines))
    return headings


def _placed(mark: Mark, place: Place, rows: Sequence[Row], source: Literal["bookmark", "contents"]) -> Heading:
    members = rows[place.first : place.stop]
    listed, printed = take_apart(mark.text), take_apart(join_wrapped([row.text for row in members]))
    best = listed if _prefer_listed(listed, printed, len(members)) else printed
    return Heading(
        code=listed.code if best is listed else best.code,
        title=best.title,
        kind=best.kind,
        page=members[0].page,
        y=members[0].y0,
        start=members[0].start,
        stop=members[-1].stop,
        informative=printed.informative if printed.informative is not None else listed.informative,
        level=mark.level if source == "bookmark" else None,
        source=source,
        alike=place.alike,
    )


def _prefer_listed(listed: Numbered, printed: Numbered, rows: int) -> bool:
    """The listed form knows how a wrapped title is spaced; else the page is the truth."""
    return listed.code != printed.code or (rows > 1 and squeeze(listed.title) == squeeze(printed.title))


def _unplaced(mark: Mark, lines: Sequence[PageLine]) -> Heading:
    y = mark.y or 0.0
    at = next((i for i, line in enumerate(lines) if (line.page, line.bbox[3]) >= (mark.page, y + 2)), len(lines))
    parts = take_apart(mark.text)
    return Heading(
        parts.code, parts.title, parts.kind, mark.page, y, at, at, parts.informative, mark.level, "bookmark", alike=0.0
    )


def join_wrapped(parts: Sequence[str]) -> str:
    """Rows of one heading as one text; a row that ends in a hyphen or slash is joined without a space."""
    text = ""
    for part in parts:
        text += part if not text or text.endswith(("-", "/")) else f" {part}"
    return clean(text)
