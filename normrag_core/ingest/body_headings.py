"""Headings found in the body itself: by number, typography and place, weighed together over the whole document.

Each row that could be a heading gets points for how it is printed. Then the chain of rows with the most points is chosen,
where following on from the last number earns points and jumps or steps back cost them. A lone table row or list item that
looks like a heading breaks the sequence and loses; a deep heading that no list names continues it and wins.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from normrag_core.ingest.layout import Page
from normrag_core.ingest.numbering import Numbered, gap, take_apart
from normrag_core.ingest.rows import Row, body_style, indent, margins

Style = tuple[str, float, bool]

THRESHOLD = 2.2
UNNUMBERED = 4.0
BACKWARD = -3.0
WINDOW = 80
MANY = 8
MAX_TITLE_ROWS = 5
_SENTENCE_END = re.compile(r"[.;:,]$")
_TITLE_START = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u03ff\"“'(\[<_$/*]|\d")
USUAL = re.compile(
    r"(?:intellectual property rights|foreword|introduction|scope|executive summary|modal verbs terminology|history|"
    r"legal notice|acknowledge?ments?|bibliography|abstract|references|index|preface)\s*(?:\((?:informative|normative)\))?",
    re.I,
)
_CAPTION = re.compile(r"(?:figure|table)\s+\S+\s*[:.–-]", re.I)


@dataclass(frozen=True, slots=True)
class Candidate:
    """`rows[first:stop]` that may print a heading. points: how much they look like one; listed ones are settled."""

    first: int
    stop: int
    parts: Numbered
    points: float
    listed: bool = False


@dataclass(frozen=True, slots=True)
class Typography:
    """How a document prints its headings. known: style → levels seen among its listed headings; body: style of the text."""

    body: Style
    edges: dict[int, tuple[float, ...]]
    known: Mapping[Style, Counter[int]]
    strangers: Mapping[Style, int]


def level_of(parts: Numbered) -> int:
    """1 for a clause, an annex or an unnumbered heading, 2 for 6.1 and A.1, ..."""
    return parts.code.count(".") + 1 if parts.kind == "clause" else 1


def learn(rows: Sequence[Row], listed: Sequence[Candidate], skip: frozenset[int]) -> Typography:
    """Typography from the headings that bookmarks or contents pages name; from the numbered rows where there are none."""
    known: dict[Style, Counter[int]] = defaultdict(Counter)
    taken = set(skip)
    for candidate in listed:
        known[rows[candidate.first].style][level_of(candidate.parts)] += 1
        taken.update(range(candidate.first, candidate.stop))
    edges = margins(rows)
    strangers: Counter[Style] = Counter()
    for index, row in enumerate(rows):
        if index not in taken and indent(row, edges) < 4 and take_apart(row.text).kind == "heading":
            strangers[row.style] += 1
    return Typography(body_style(rows), edges, known, strangers)


def find_candidates(rows: Sequence[Row], typography: Typography, pages: Mapping[int, Page], skip: set[int]) -> list[Candidate]:
    """Rows that look like numbered headings or annex titles, without the rows in `skip`."""
    found = []
    for index, row in enumerate(rows):
        if index in skip:
            continue
        parts = take_apart(row.text)
        if parts.kind == "heading":
            continue
        points = _points(row, parts, typography, pages[row.page])
        if points <= 0:
            continue
        stop = title_end(rows, index, parts, skip)
        whole = take_apart(_joined(rows, index, stop))
        if not _plausible(whole, row, typography):
            continue
        found.append(Candidate(index, stop, whole, points))
    return found


def choose(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The chain of candidates, in printed order, with the most points. All listed ones are in it."""
    chain: list[Candidate] = []
    segment: list[Candidate] = []
    before: Numbered | None = None
    for candidate in [*sorted(candidates, key=lambda c: c.first), None]:
        if candidate is not None and not candidate.listed:
            segment.append(candidate)
            continue
        if candidate is not None and candidate.parts.kind == "heading" and segment:
            chain.extend(_best(before, segment, None))
            before, segment = _last_number(chain, before), []
        elif segment:
            chain.extend(_best(before, segment, candidate.parts if candidate else None))
            segment = []
        if candidate is not None:
            chain.append(candidate)
            before = _last_number(chain, before)
    return chain


def _last_number(chain: Sequence[Candidate], otherwise: Numbered | None) -> Numbered | None:
    return next((c.parts for c in reversed(chain) if c.parts.kind != "heading"), otherwise)


def _best(before: Numbered | None, segment: Sequence[Candidate], after: Numbered | None) -> list[Candidate]:
    """The best chain, possibly empty, of candidates between two settled headings."""
    best: list[float] = []
    back: list[int] = []
    for i, candidate in enumerate(segment):
        top, via = _sequence(before, candidate.parts), -1
        for j in range(max(0, i - WINDOW), i):
            if segment[j].stop > candidate.first:
                continue  # a row of the other one's title ("Annex G (normative): / 5 MHz channel bandwidth operation")
            score = best[j] + _sequence(segment[j].parts, candidate.parts)
            if score > top:
                top, via = score, j
        best.append(top + candidate.points - THRESHOLD)
        back.append(via)
    ends = [score + _sequence(c.parts, after) for score, c in zip(best, segment, strict=True)]
    at = max(range(len(segment)), key=lambda i: ends[i])
    if ends[at] <= _sequence(before, after):
        return []
    chain = []
    while at >= 0:
        chain.append(segment[at])
        at = back[at]
    return chain[::-1]


def _sequence(before: Numbered | None, after: Numbered | None) -> float:
    """Points for `after` coming next: +1 for the very next number, less for jumps, BACKWARD for a step back."""
    if after is None:
        return 0.0
    skipped = gap(before.code if before else None, after.code)
    if skipped is None:
        return BACKWARD
    return 1.0 if skipped == 0 else max(0.5 - 0.4 * skipped, BACKWARD)


def _points(row: Row, parts: Numbered, typography: Typography, page: Page) -> float:
    family, size, bold = row.style
    body_family, body_size, body_bold = typography.body
    level = level_of(parts)
    points = 0.0
    levels = typography.known.get(row.style)
    if levels:
        total = sum(levels.values())
        alien = typography.strangers.get(row.style, 0)
        points += 3.0 * total / (total + alien)
        points += 0.5 if levels.get(level) else 0.0
    elif family != body_family and any(f == family for f, _, _ in typography.known):
        # The smallest headings are of the text's size and differ in their face alone (EG 201 018, 6.3.5.1.1.1).
        points += 1.5 if level >= 5 else 1.0
    elif sum(map(Counter.total, typography.known.values())) >= MANY:
        points -= 1.0
    if size > body_size + 0.6:
        points += 1.5
    elif size < body_size - 0.6:
        points -= 2.0
    if bold and not body_bold:
        points += 1.0
    if family != body_family:
        points += 0.5
    if row.style == typography.body:
        points -= 1.5
    away = indent(row, typography.edges)
    if away < 4:
        points += 0.5
    elif parts.kind != "annex":
        points -= 2.0
    if _boxed(row, page):
        points -= 3.0
    return points


def _plausible(parts: Numbered, row: Row, typography: Typography) -> bool:
    if parts.kind == "annex":
        return len(parts.title) < 250
    title = parts.title
    if not title or not _TITLE_START.match(title) or len(title) > 250:
        return False
    if not any(c.isalpha() for c in title) or _CAPTION.match(title):
        return False
    if len(parts.code) > 3 and "." not in parts.code:
        return False
    return not (row.style == typography.body and _SENTENCE_END.search(title))


def find_unnumbered(rows: Sequence[Row], typography: Typography, pages: Mapping[int, Page], skip: set[int]) -> list[Candidate]:
    """Rows that print an unnumbered heading: in a style kept for headings, or with a usual name in large or heavy print."""
    found = []
    for index, row in enumerate(rows):
        if index in skip or take_apart(row.text).kind != "heading":
            continue
        if _boxed(row, pages[row.page]) or indent(row, typography.edges) >= 4:
            continue
        if index and title_end(rows, index - 1, take_apart(rows[index - 1].text), skip) > index:
            continue  # the title of an annex or a clause whose number stands alone above it
        levels = typography.known.get(row.style, Counter())
        total, alien = sum(levels.values()), typography.strangers.get(row.style, 0)
        usual = bool(USUAL.fullmatch(row.text)) and (
            row.size > typography.body[1] + 0.6 or (row.bold and not typography.body[2])
        )
        kept = total >= 3 and alien <= 0.34 * total and row.size > typography.body[1] + 0.6
        if usual or (kept and any(c.isalpha() for c in row.text)):
            stop = title_end(rows, index, take_apart(row.text), skip)
            if stop - index <= 3:
                found.append(Candidate(index, stop, take_apart(_joined(rows, index, stop)), UNNUMBERED, listed=True))
                skip.update(range(index, stop))
    return found


def _boxed(row: Row, page: Page) -> bool:
    """Whether the row stands between two upright rules: in a table or a drawing."""
    middle = (row.y0 + row.y1) / 2
    left = right = False
    for x0, y0, x1, y1 in page.rules:
        if y0 <= middle <= y1 and y1 - y0 > 0.7 * (row.y1 - row.y0):
            if x1 - x0 < 3:
                left = left or x1 <= row.x0 + 3
                right = right or x0 >= row.x1 - 3
            elif x0 <= row.x0 + 3 and x1 >= row.x1 - 3 and y1 - y0 < 0.8 * page.height:
                left = right = True
    return left and right


def title_end(rows: Sequence[Row], first: int, parts: Numbered, skip: set[int]) -> int:
    """First row after the heading: its title goes on in rows of the same style close below."""
    stop = first + 1
    while stop < min(len(rows), first + MAX_TITLE_ROWS):
        row, above = rows[stop], rows[stop - 1]
        close = row.page == above.page and row.y0 - above.y1 < 0.75 * row.size and row.y0 > above.y0
        alike = row.family == above.family and abs(row.size - above.size) < 0.6 and row.bold == above.bold
        centred = parts.kind == "annex" and abs(row.x0 + row.x1 - rows[first].x0 - rows[first].x1) < 24
        if stop in skip or not close or not alike or (row.x0 < rows[first].x0 - 3 and not centred):
            break
        if row.x0 < rows[first].x0 + 8 and _opens(parts, take_apart(row.text)):
            break
        stop += 1
    return stop


def _opens(parts: Numbered, below: Numbered) -> bool:
    """Whether the row below opens a heading of its own, rather than going on with the title ("... unrestricted / 8 kHz")."""
    if below.kind == "heading":
        return False
    if below.kind == "annex":
        return True
    skipped = gap(parts.code, below.code)
    if skipped is None or skipped > 3:
        return False
    return below.code.count(".") >= parts.code.count(".") or below.title[:1].isupper()


def _joined(rows: Sequence[Row], first: int, stop: int) -> str:
    text = ""
    for row in rows[first:stop]:
        text += row.text if not text or text.endswith(("-", "/")) else f" {row.text}"
    return text
