"""Headings of a document, each with its place, from bookmarks, contents pages and the body's own typography."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from normrag_core.ingest.body_headings import Candidate, choose, find_candidates, find_unnumbered, learn, title_end
from normrag_core.ingest.contents import Contents, read_contents, to_physical
from normrag_core.ingest.identity import clean
from normrag_core.ingest.layout import Page, PageLine
from normrag_core.ingest.numbering import Numbered, take_apart
from normrag_core.ingest.outline import Finder, Mark, Place, squeeze
from normrag_core.ingest.rows import Row


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and its place: document lines `start:stop` print it (empty where it is listed but not printed).

    level: from the bookmarks, from 1; None where only the number tells. source: what it was found by. alike, 0..1: how well
    the print agrees with the list that names the heading, or how much it looks like one where none does.
    """

    code: str
    title: str
    kind: Literal["clause", "annex", "heading"]
    page: int
    y: float
    start: int
    stop: int
    informative: bool | None = None
    level: int | None = None
    source: Literal["bookmark", "contents", "body"] = "body"
    alike: float = 1.0


FEW = 8
CUT = 120  # characters; some writers cut bookmarks off near 128, and the title goes on in print
SURE_POINTS = 5.0


@dataclass(frozen=True, slots=True)
class Headings:
    """headings: in printed order. left_out: document lines of contents pages, kept out of all bodies.

    contents: what the contents pages list. unlisted: headings in the contents that were not found in the body.
    bookmarks: number of bookmarks that were trusted.
    """

    headings: tuple[Heading, ...]
    contents: Contents
    left_out: frozenset[int]
    unlisted: tuple[Mark, ...]
    bookmarks: int = 0


def find_headings(marks: Sequence[Mark], lines: Sequence[PageLine], rows: Sequence[Row], pages: Mapping[int, Page]) -> Headings:
    """All headings of a document: those that bookmarks and contents pages list, checked in print, and those of the body."""
    finder = Finder(rows)
    contents = read_contents(rows)
    taken = set(contents.rows)
    headings = _from_marks(marks, finder, lines, taken, "bookmark")
    if headings and sum(h.alike > 0 for h in headings) < 0.5 * len(headings):
        # Bookmarks that name pages or merged files, not headings.
        headings, marks = [], ()
        taken = set(contents.rows)
    known = {squeeze(h.code) if h.kind != "heading" else squeeze(h.title) for h in headings}
    entries = to_physical(contents, finder)
    missing = [m for m in entries if _name(m) not in known]
    listed = _from_marks(missing, finder, lines, taken, "contents")
    headings += listed
    settled = [_candidate(h, rows) for h in headings if h.stop > h.start]
    aside = taken | {i for i, row in enumerate(rows) if row.page in contents.pages[:-1] or (row.page == 1 and len(pages) > 2)}
    for chosen in _of_body(rows, pages, settled, contents, aside):
        headings.append(_of_candidate(chosen, rows))
    found = {_name_of(h) for h in headings}
    left_out = frozenset(i for r in contents.rows for i in range(rows[r].start, rows[r].stop))
    return Headings(
        headings=tuple(sorted(headings, key=lambda h: (h.start, h.stop))),
        contents=contents,
        left_out=left_out,
        unlisted=tuple(m for m in missing if _name(m) not in found),
        bookmarks=len(marks),
    )


def by_page(pages: Sequence[Page], lines: Sequence[PageLine]) -> tuple[Heading, ...]:
    """One unnumbered heading a page, for documents in which no headings are recognised."""
    headings = []
    for page in pages:
        at = bisect_left(lines, page.number, key=lambda line: line.page)
        name = f"Page {page.number}"
        headings.append(Heading(name, name, "heading", page.number, 0.0, at, at))
    return tuple(headings)


def _of_body(
    rows: Sequence[Row], pages: Mapping[int, Page], settled: Sequence[Candidate], contents: Contents, aside: set[int]
) -> list[Candidate]:
    """Headings that nothing lists. Where next to nothing is listed, a first pass learns how this document prints headings."""
    chosen: list[Candidate] = []
    for _ in range(1 if len(settled) >= FEW else 2):
        typography = learn(rows, [*settled, *chosen], contents.rows)
        skip = set(aside)
        unnumbered = find_unnumbered(rows, typography, pages, skip)
        candidates = find_candidates(rows, typography, pages, skip)
        known = {id(c) for c in settled}
        chosen = [c for c in choose([*settled, *unnumbered, *candidates]) if id(c) not in known]
    return chosen


def _name(mark: Mark) -> str:
    parts = take_apart(mark.text)
    return squeeze(parts.code)


def _name_of(heading: Heading) -> str:
    return squeeze(heading.code)


def _candidate(heading: Heading, rows: Sequence[Row]) -> Candidate:
    first = bisect_left(rows, heading.start, key=lambda row: row.start)
    stop = bisect_left(rows, heading.stop, key=lambda row: row.start)
    return Candidate(first, stop, Numbered(heading.code, heading.title, heading.kind), 0.0, listed=True)


def _of_candidate(candidate: Candidate, rows: Sequence[Row]) -> Heading:
    first, last, parts = rows[candidate.first], rows[candidate.stop - 1], candidate.parts
    return Heading(
        code=parts.code,
        title=parts.title,
        kind=parts.kind,
        page=first.page,
        y=first.y0,
        start=first.start,
        stop=last.stop,
        informative=parts.informative,
        alike=min(1.0, candidate.points / SURE_POINTS),
    )


def _from_marks(
    marks: Sequence[Mark],
    finder: Finder,
    lines: Sequence[PageLine],
    taken: set[int],
    source: Literal["bookmark", "contents"],
) -> list[Heading]:
    """Headings of the marks, in their order, rows used up added to `taken`.

    A bookmark that is not found in print stands where it points; one that points nowhere and is not found makes none, nor
    does a contents entry that is not found.
    """
    headings = []
    after = 0
    for mark in marks:
        place = finder.find(mark, taken) if mark.page else None
        if place is None and (source == "contents" or not mark.page):
            place = finder.find_after(mark, taken, after)
        if place is not None:
            if len(mark.text) >= CUT:
                stop = title_end(finder.rows, place.first, take_apart(mark.text), taken)
                place = replace(place, stop=max(place.stop, stop))
            taken.update(range(place.first, place.stop))
            after = place.stop
            headings.append(_placed(mark, place, finder.rows, source))
        elif source == "bookmark" and mark.page:
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
    """The listed form knows how a wrapped title is spaced; else the page is the truth.

    Some bookmarks glue number and title ("1Scope"); some pages print the number apart from the title.
    """
    if listed.code == printed.code:
        return rows > 1 and squeeze(listed.title) == squeeze(printed.title)
    return not (listed.kind == "heading" != printed.kind)


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
