"""Bookmarks of a PDF, each checked against the page it points at and given its place there."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from normrag_core.ingest.identity import clean
from normrag_core.ingest.numbering import take_apart
from normrag_core.ingest.rows import Row

MAX_ROWS = 6
ALIKE = 0.85


@dataclass(frozen=True, slots=True)
class Mark:
    """A heading that the document itself lists, in its bookmarks or on its contents pages. level from 1; y None if unknown."""

    level: int
    text: str
    page: int
    y: float | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """`rows[first:stop]` print a mark's heading; alike: 0..1, how well the print agrees with it."""

    first: int
    stop: int
    alike: float


def bookmarks(document: Any) -> list[Mark]:
    """Bookmarks of an open PyMuPDF document that have a text. page is 0 where the goal is not known."""
    marks = []
    for level, title, page, goal in document.get_toc(simple=False):
        text = clean(title)
        if not text:
            continue
        to = goal.get("to")
        # A y of 0 means "top of page": nothing is known.
        y = float(to.y) if to is not None and hasattr(to, "y") and to.y > 0 else None
        marks.append(Mark(level, text, max(page, 0), y))
    return marks


class Finder:
    """Looks headings up among the rows of a document."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self._of_page: dict[int, list[int]] = defaultdict(list)
        for index, row in enumerate(rows):
            self._of_page[row.page].append(index)
        self._squeezed = [squeeze(row.text) for row in rows]

    def find(self, mark: Mark, taken: set[int], spread: int = 1) -> Place | None:
        """Where the mark is printed: on its page, else up to `spread` pages away; None where it is not printed."""
        wanted = squeeze(mark.text)
        if not wanted:
            return None
        parts = take_apart(mark.text)
        number = squeeze(parts.code) if parts.kind == "clause" else ""
        pages = [mark.page] + [mark.page + step * sign for step in range(1, spread + 1) for sign in (1, -1)]
        for page in pages:
            places = [p for i in self._of_page.get(page, ()) if i not in taken and (p := self._match(i, wanted, taken, number))]
            if places:
                near = mark.y if page == mark.page else None
                return max(places, key=lambda p: self._worth(p, near))
        return None

    def find_after(self, mark: Mark, taken: set[int], after: int) -> Place | None:
        """The first place from row `after` on that prints the mark letter for letter, for lists without usable page numbers."""
        wanted = squeeze(mark.text)
        for index in range(after, len(self.rows)):
            if index not in taken and self._squeezed[index] and wanted.startswith(self._squeezed[index]):
                place = self._match(index, wanted, taken)
                if place is not None and place.alike == 1.0:
                    return place
        return None

    def prints(self, text: str, page: int, taken: set[int]) -> bool:
        """Whether the heading stands on the page, letter for letter."""
        wanted = squeeze(text)
        return any(
            (place := self._match(i, wanted, taken)) is not None and place.alike == 1.0
            for i in self._of_page.get(page, ())
            if i not in taken
        )

    def _worth(self, place: Place, y: float | None) -> tuple[float, float, float]:
        row = self.rows[place.first]
        away = 0.0 if y is None else abs((row.y0 + row.y1) / 2 - y - 10)
        return round(place.alike, 1) - min(away, 800) / 10_000, row.size, -row.y0

    def _match(self, first: int, wanted: str, taken: set[int], number: str = "") -> Place | None:
        text = ""
        best: Place | None = None
        if not self._squeezed[first]:
            return None
        for stop in range(first + 1, min(first + MAX_ROWS, len(self.rows)) + 1):
            if stop - 1 in taken or self.rows[stop - 1].page != self.rows[first].page:
                break
            text += self._squeezed[stop - 1]
            if len(text) > 1.25 * len(wanted) + 3:
                break
            if not (text.startswith(number) or number.startswith(text)) or not wanted.startswith(text[:3]):
                break
            alike = 1.0 if text == wanted else SequenceMatcher(None, text, wanted, autojunk=False).ratio()
            if alike >= ALIKE and (best is None or alike > best.alike):
                best = Place(first, stop, alike)
            if text == wanted:
                break
        return best


def squeeze(text: str) -> str:
    """Letters and digits only, lower case: what survives leaders, dashes, quotes and missing spaces."""
    return re.sub(r"[\W_]+", "", text.lower())
