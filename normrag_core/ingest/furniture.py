"""Running headers, footers, page numbers and watermarks told from the text, by repetition and position."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from normrag_core.ingest.layout import Page, PageLine

TOP_SHARE, BOTTOM_SHARE = 0.11, 0.92
_PAGE_NUMBER = re.compile(r"(?:page\s+)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:/|of)\s*\d{1,4})?|-\s*\d{1,4}\s*-", re.I)
_LONE = re.compile(r"ETSI|3GPP|\[?draft\]?", re.I)
_HEADER = re.compile(
    r"(?:Final\s+)?(?:draft\s+)?(?:pr)?(?:ETSI\s+)?(?:I-ETS|ETS|ETR|TBR|GTS|EN|ES|EG|TS|TR|SR|GS|GR)\s[\w\s./-]{3,30}?"
    r"(?:V\d+\.\d+\.\d+|:\s*(?:January|February|March|April|May|June|July|August|September|October|November|December))"
    r"|3GPP\s+T[SR]\s+\d\d\.\d{3}\s+version",
    re.I,
)


def split_furniture(pages: Sequence[Page]) -> list[Page]:
    """The pages with furniture moved out of `lines` into `furniture`."""
    repeated = _repeated(pages)
    done = []
    for page in pages:
        out = {id(line) for line in page.lines if _is_furniture(line, page, repeated, len(pages))}
        done.append(
            replace(
                page,
                lines=tuple(line for line in page.lines if id(line) not in out),
                furniture=tuple(line for line in page.lines if id(line) in out),
            )
        )
    return done


def _signature(line: PageLine) -> str:
    return re.sub(r"\d+", "#", re.sub(r"\s+", " ", line.text.strip()))


def _repeated(pages: Sequence[Page]) -> dict[tuple[str, int], int]:
    """(text with numbers blanked, height in steps of 4 points) → pages that carry it there."""
    seen: dict[tuple[str, int], set[int]] = defaultdict(set)
    for page in pages:
        for line in page.lines:
            seen[(_signature(line), round(line.baseline / 4))].add(page.number)
    counts: dict[tuple[str, int], int] = {}
    for text, step in seen:
        near = seen[(text, step)] | seen.get((text, step - 1), set()) | seen.get((text, step + 1), set())
        counts[(text, step)] = len(near)
    return counts


def _is_furniture(line: PageLine, page: Page, repeated: dict[tuple[str, int], int], total: int) -> bool:
    top = line.bbox[3] < TOP_SHARE * page.height
    bottom = line.bbox[1] > BOTTOM_SHARE * page.height
    text = line.text.strip()
    times = repeated[(_signature(line), round(line.baseline / 4))]
    if not line.upright and (times >= max(3, 0.3 * total)):
        return True  # a watermark or the note in the margin
    if not (top or bottom):
        # A watermark is large print in the same place on most pages.
        return total >= 4 and times >= 0.6 * total and line.size > 24
    if _PAGE_NUMBER.fullmatch(text):
        return times >= 3 or total < 6
    if _LONE.fullmatch(text):
        return True
    if _HEADER.match(text) and page.number > 1 and top:
        return True
    return times >= max(3, 0.12 * total)
