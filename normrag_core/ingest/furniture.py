"""Running headers, footers, page numbers and watermarks told from the text, by repetition and position.

First the bands at the top and bottom of the page are measured that carry running print: print that stands in the same place
on most pages, or counts the pages. Everything inside the bands is furniture, nothing else near the edge is: clause numbers
and "NOTE:" often stand in the first line of several pages.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from normrag_core.ingest.layout import Page, PageLine

EDGE_SHARE = 0.13
LINE_STEP = 18.0
_PAGE_NUMBER = re.compile(r"(?:page\s+|-\s*)?(?P<number>\d{1,4})(?:\s*(?:/|of)\s*\d{1,4})?(?:\s*-)?", re.I)
_HEADER = re.compile(
    r"(?:Final\s+)?(?:draft\s+)?(?:pr)?(?:ETSI\s+)?(?:I-ETS|ETS|ETR|TBR|GTS|EN|ES|EG|TS|TR|SR|GS|GR)\s[\w\s./-]{3,30}?"
    r"(?:\(?V\d+\.\d+\.\d+|:\s*(?:January|February|March|April|May|June|July|August|September|October|November|December)\s)"
    r"|3GPP\s+T[SR]\s+\d\d\.\d{3}(?:-\d+)?\s+version",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Bands:
    """Height in points of the running print at the top, and where that at the bottom begins. 0 and inf where there is none."""

    top: float
    bottom: float


def split_furniture(pages: Sequence[Page]) -> list[Page]:
    """The pages with furniture moved out of `lines` into `furniture`."""
    places = _places(pages)
    bands = _bands(pages, places)
    done = []
    for page in pages:
        out = [_is_furniture(line, page, bands, places, len(pages)) for line in page.lines]
        done.append(
            replace(
                page,
                lines=tuple(line for line, away in zip(page.lines, out, strict=True) if not away),
                furniture=tuple(line for line, away in zip(page.lines, out, strict=True) if away),
            )
        )
    return done


def _signature(line: PageLine) -> str:
    return re.sub(r"\d+", "#", re.sub(r"\s+", " ", line.text.strip()))


def _step(line: PageLine, page: Page) -> int:
    """Height in steps of 4 points, from the nearer edge, so that landscape pages agree with the others."""
    at = line.baseline if line.baseline < page.height / 2 else line.baseline - page.height
    return round(at / 4)


def _places(pages: Sequence[Page]) -> dict[tuple[str, int], int]:
    """(text with numbers blanked, step) → number of pages that carry it there."""
    seen: dict[tuple[str, int], set[int]] = defaultdict(set)
    for page in pages:
        for line in page.lines:
            seen[(_signature(line), _step(line, page))].add(page.number)
    return {
        (text, step): len(own | seen.get((text, step - 1), set()) | seen.get((text, step + 1), set()))
        for (text, step), own in list(seen.items())
    }


def _bands(pages: Sequence[Page], places: dict[tuple[str, int], int]) -> Bands:
    often = max(2.0, 0.4 * len(pages))
    counted = _counting_steps(pages)
    tops: set[float] = set()
    bottoms: set[float] = set()
    for page in pages:
        edge = EDGE_SHARE * page.height
        for line in page.lines:
            if line.bbox[3] > edge and line.bbox[1] < page.height - edge:
                continue
            text, step = line.text.strip(), _step(line, page)
            runs = sum(c.isalpha() for c in text) >= 3 and places[(_signature(line), step)] >= often
            counts = bool(_PAGE_NUMBER.fullmatch(text)) and step in counted
            alone = len(pages) < 4 and page.number > 1 and bool(_HEADER.match(text))
            if not (runs or counts or alone):
                continue
            if line.bbox[3] <= edge:
                tops.add(round(line.baseline, 1))
            else:
                bottoms.add(round(page.height - line.bbox[1], 1))
    return Bands(_reach(tops), -_reach(bottoms) if bottoms else float("inf"))


def _reach(distances: set[float]) -> float:
    """How far from the edge the running print goes: its lines stand close together, text that happens to repeat does not."""
    reach = 0.0
    for distance in sorted(distances):
        if reach and distance - reach > LINE_STEP:
            break
        reach = distance
    return reach


def _counting_steps(pages: Sequence[Page]) -> set[int]:
    """Heights at which numbers stand that go up with the pages."""
    shifts: dict[tuple[int, int], int] = defaultdict(int)
    for page in pages:
        for line in page.lines:
            match = _PAGE_NUMBER.fullmatch(line.text.strip())
            if match:
                shifts[(_step(line, page), page.number - int(match["number"]))] += 1
    return {step + d for (step, _), times in shifts.items() if times >= max(3, 0.25 * len(pages)) for d in (-1, 0, 1)}


def _is_furniture(line: PageLine, page: Page, bands: Bands, places: dict[tuple[str, int], int], total: int) -> bool:
    times = places[(_signature(line), _step(line, page))]
    if not line.upright:
        return times >= max(3, 0.3 * total)  # a watermark or the note in the margin
    if page.number > 1 and line.baseline <= bands.top + 2:
        return True
    if line.bbox[1] - page.height >= bands.bottom - 2:
        return page.number > 1 or times >= max(3, 0.3 * total)
    # Large print in the same place on most pages.
    return total >= 4 and times >= 0.6 * total and line.size > 24
