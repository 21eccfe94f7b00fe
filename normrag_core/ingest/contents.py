"""Contents pages: the headings a document lists itself, with printed page numbers; lists of figures and tables beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from normrag_core.ingest.identity import clean
from normrag_core.ingest.numbering import gap, take_apart
from normrag_core.ingest.outline import Finder, Mark
from normrag_core.ingest.rows import Row

# Leaders come with and without spaces between the dots and before them; some files draw them as underscores or middle dots.
_DOTS = re.compile(r"\.{4,}|(?:[.·]\s){4,}|…{2,}|_{4,}")
_FILL = " \t\n\r\f\v\xa0.·…_"
_PAGE = re.compile(r"(?:\d{1,4}|[ivxlc]{1,7})?$", re.I)
_ENDS_IN_PAGE = re.compile(r"^(?P<text>.*\S)\s+(?P<page>\d{1,4})$")
_CAPTION = re.compile(r"(?:figure|table|tableau)\s+[A-Z]?[.\d]", re.I)
_CONTENTS = re.compile(r"(?:table of )?contents(?: page)?", re.I)
_LIST = re.compile(r"(?:list of )?(?:tables|figures|illustrations)|page", re.I)
MAX_WRAP = 4


@dataclass(frozen=True, slots=True)
class Contents:
    """entries: listed headings in printed order, `page` as printed, 0 where it is no plain number ("iv", "2-3").

    rows: indices of the rows that the lists occupy. pages: physical pages they stand on.
    """

    entries: tuple[Mark, ...] = ()
    rows: frozenset[int] = frozenset()
    pages: tuple[int, ...] = ()


def read_contents(rows: Sequence[Row]) -> Contents:
    """Contents and lists of figures and tables at the front of a document; empty where there are none."""
    last_page = max((row.page for row in rows), default=0)
    leaders: Counter[int] = Counter()
    titles: dict[int, int] = {}
    for index, row in enumerate(rows):
        if row.page > max(30, 0.3 * last_page):
            break
        led = _leaders(row.text)
        leaders[row.page] += bool(led and led[1])  # dots without a page number are a form to fill in
        if _CONTENTS.fullmatch(row.text) and row.page not in titles:
            titles[row.page] = index
    pages = _pages(rows, leaders, titles)
    entries: list[Mark] = []
    occupied: set[int] = set()
    pending: list[int] = []
    for index, row in enumerate(rows):
        if row.page not in pages:
            continue
        if row.page == pages[0] and index < titles.get(row.page, 0):
            continue
        if _CONTENTS.fullmatch(row.text) or _LIST.fullmatch(row.text):
            occupied.add(index)
            pending = []
            continue
        text, page = _entry(row, rows)
        if page is None:
            pending.append(index)
            if len(pending) > MAX_WRAP:
                pending = []
            continue
        wrapped = [rows[i].text for i in pending if rows[i].page == row.page or i == index - 1]
        if wrapped and not _continues(wrapped, text):
            wrapped = []
        occupied.update([*(pending if wrapped else ()), index])
        pending = []
        whole = clean(_join([*wrapped, text]))
        if whole and not _CAPTION.match(whole):
            parts = take_apart(whole)
            level = parts.code.count(".") + 1 if parts.kind == "clause" else 1
            entries.append(Mark(level, whole, page))
    return Contents(tuple(entries), frozenset(occupied), tuple(pages))


def to_physical(contents: Contents, finder: Finder) -> list[Mark]:
    """Entries with physical pages: printed numbers shifted by what most entries that are found exactly agree on.

    3GPP-derived files print page 1 on the second or third physical page.
    """
    shifts: Counter[int] = Counter()
    taken = set(contents.rows)
    sample = contents.entries[:: max(1, len(contents.entries) // 60)]
    for mark in (m for m in sample if m.page):
        for shift in range(-2, 13):
            if finder.prints(mark.text, mark.page + shift, taken):
                shifts[shift] += 1
    shift = max(shifts, key=lambda s: (shifts[s], -abs(s))) if shifts else 0
    return [Mark(m.level, m.text, m.page + shift if m.page else 0) for m in contents.entries]


def _pages(rows: Sequence[Row], leaders: Counter[int], titles: dict[int, int]) -> list[int]:
    """Consecutive pages of lists: from the contents title, or from the first page full of leaders."""
    dense = [page for page in sorted(leaders) if leaders[page] >= 3]
    starts = [page for page in titles if leaders[page] >= 1 or leaders[page + 1] >= 3] or dense[:1]
    if not starts:
        # No leaders at all: a page titled "Contents" whose rows end in page numbers.
        starts = [page for page in titles if _numbers(rows, page) >= 0.5]
    if not starts:
        return []
    pages = [starts[0]]
    while leaders[pages[-1] + 1] >= 2 or (leaders[pages[-1] + 1] == 0 and _numbers(rows, pages[-1] + 1) >= 0.7):
        pages.append(pages[-1] + 1)
    if leaders[pages[-1] + 1] == 1 and _numbers(rows, pages[-1] + 1) > 0:
        pages.append(pages[-1] + 1)
    return pages


def _numbers(rows: Sequence[Row], page: int) -> float:
    """Share of a page's rows that end in a number near the right edge."""
    own = [row for row in rows if row.page == page]
    if len(own) < 4:
        return 0.0
    edge = max(row.x1 for row in own)
    return sum(bool(_ENDS_IN_PAGE.match(row.text)) and row.x1 > edge - 8 for row in own) / len(own)


def _leaders(text: str) -> tuple[str, str] | None:
    """(what stands before the leaders, the page number behind them or ""); None where the row has no leaders at its end.

    By hand, since a pattern for all of it took cubic time on rows of thousands of dots.
    """
    page = _PAGE.search(text)
    head = text[: page.start()] if page else text
    before = head.rstrip(_FILL)
    return (before, page.group() if page else "") if _DOTS.search(head, len(before)) else None


def _entry(row: Row, rows: Sequence[Row]) -> tuple[str, int | None]:
    led = _leaders(row.text)
    if led:
        text, page = led
        return text.strip(" ."), int(page) if page.isdigit() else 0
    match = _ENDS_IN_PAGE.match(row.text)
    if match and row.x1 > 0.75 * max(r.x1 for r in rows if r.page == row.page):
        return match["text"].strip(" ."), int(match["page"])
    return row.text, None


def _continues(wrapped: Sequence[str], text: str) -> bool:
    """Whether `text` can be the rest of an entry: it does not begin with a number that may follow the entry's own.

    A wrapped title may well go on with a number ("... 100 Hz, / 120 000/1 001 Hz, or 120 Hz").
    """
    before, after = take_apart(wrapped[0]), take_apart(text)
    if after.kind == "heading" or before.kind == "heading":
        return True
    skipped = gap(before.code, after.code)
    return skipped is None or skipped > 3


def _join(parts: Sequence[str]) -> str:
    text = ""
    for part in parts:
        text += part if not text or text.endswith(("-", "/")) else f" {part}"
    return text
