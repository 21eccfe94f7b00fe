"""The printed pieces that citations are made of: document numbers, brackets, and places such as "clauses 5.1 and 6.2".

Only reads what is printed. Which document a place belongs to is decided in `citations`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from normrag_core.anchors import REQUIREMENT
from normrag_core.identifiers import D, find_documents

Noun = Literal["clause", "annex", "section", "table", "figure", "equation", "requirement", "number"]


@dataclass(frozen=True, slots=True)
class Item:
    """One number of a place: `text[start:end]` names it. start of the first item is that of its noun.

    code: "5.1", "A"; "table 12" for things without a clause number. last: the end of a range, "" otherwise.
    """

    start: int
    end: int
    code: str
    last: str = ""
    at: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """A noun with its numbers. plural: printed in the plural. foreign: the document named by a slash ("table 2/T.90")."""

    start: int
    end: int
    noun: Noun
    items: tuple[Item, ...]
    plural: bool = False
    foreign: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """A bracket `[2]`. last: the end of a range "[2] to [5]"; code: the clause in "[2, 5.7.1]"; "" otherwise."""

    start: int
    end: int
    label: str
    last: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Number:
    """A printed document number, with the bracket that belongs to it where there is one, and the clause in "[2, 5.7.1]"."""

    start: int
    end: int
    id: str
    version: str | None = None
    label: str | None = None
    code: str = ""


Piece = Place | Label | Number

_CLAUSE_CODE = r"(?:\d{1,3}[A-Za-z]{0,2}|[A-Z]{1,2})(?:\.\d{1,4}[A-Za-z]{0,2})*"
# A dot leads on to a deeper number, unless the space behind a full stop was forgotten: "see clause 17.This means".
_DOT_ON = r"\.(?![A-Z][a-z])\w"
_END = rf"(?![\w]|{_DOT_ON}|-\d(?!\d*\.\d))"
_NUMBER = r"\d{1,3}[A-Za-z]{0,2}"
_EQUATION = r"\d{1,3}(?:[.\-]\d{1,3})*[a-z]?"
_CODES: dict[Noun, str] = {
    "clause": rf"{_CLAUSE_CODE}{_END}",
    "section": rf"{_CLAUSE_CODE}{_END}",
    "annex": rf"(?:[A-Z]{{1,2}}\d?(?:\.\d{{1,4}}[A-Za-z]{{0,2}})*|[IVX]{{1,5}}|\d{{1,2}}(?:\.\d{{1,3}})*){_END}",
    "table": rf"(?:[A-Z]{{1,2}}[.\-]?)?{_NUMBER}(?:(?:\.|{D}){_NUMBER})*(?:\s?\([a-z]\))?(?!\w|{_DOT_ON})",
    "equation": rf"(?:\((?:[A-Z]\.?)?{_EQUATION}\)|(?:[A-Z]\.)?{_EQUATION}{_END})",
}
_CODES["figure"] = _CODES["table"]
_ITEM = {noun: re.compile(code) for noun, code in _CODES.items()}
_NOUN = re.compile(
    r"(?:(?<![\w-])(?P<word>(?i:(?:sub-?\s?)?clauses?|annex(?:es)?|appendi(?:x|ces)|(?:sub-?)?sections?|chapters?|paragraphs?|tables?"
    r"|figures?|figs?\.|equations?|eqs?\.|formula[es]?))\s+(?:(?i:numbers?|nos?\.)\s+|\((?=[A-Z0-9.]+(?:,|\sand\s))"
    r"|(?<=clause\s)\((?=(?:\d{1,2}|[A-Z])(?:\.\d{1,3}[A-Za-z]?)+\)))?|(?P<sign>§§?)\s?)"
)
_KINDS: tuple[tuple[str, Noun], ...] = (
    ("clause", "clause"),
    ("subclause", "clause"),
    ("sub-clause", "clause"),
    ("sub clause", "clause"),
    ("annex", "annex"),
    ("appendi", "annex"),
    ("table", "table"),
    ("fig", "figure"),
    ("eq", "equation"),
    ("formula", "equation"),
    ("", "section"),
)
_PAREN = r"(?:\s*\([^()]{1,80}\))?"
_JOIN = re.compile(
    rf"{_PAREN}\s*(?P<join>,\s*(?:and|or|and/or)\s+|[,;/]\s*|\s(?:and|or|and/or|to|through|till|until|as\swell\sas|&)\s+(?:to\s+|in\s+|also\s+)?"
    r"|\s?[–—]\s?|\s-\s|-(?=(?:\d{1,2}|[A-Z])\.\d))"
)
_RANGE = re.compile(r"to|through|till|until|[–—-]")
# "clauses 5.1 to 5.4 for MPEG-2 and 5.5 to 5.7 for H.264": a few words between, only before numbers with a dot.
_FAR_JOIN = re.compile(r"(?:\s+(?!and\b|or\b|of\b|in\b)[\w/.-]*\w){1,5}\s+(?:and|or)\s+(?:in\s+)?(?=(?:\d{1,2}|[A-Z])\.\d)")
# "[2]", "[i.2]", and the "[2, 5.7.1]" of 3GPP.
_LABEL = re.compile(
    r"\[\s?(?P<label>i\.\s?\d{1,3}[A-Za-z]?|\d{1,3}[A-Za-z]?)"
    r"(?:,\s?(?:(?:sub)?clause\s)?(?P<code>(?:\d{1,2}|[A-Z])(?:\.\d{1,3}[A-Za-z]{0,2}){1,6}))?\s?\]"
)
_LABELS = re.compile(r"\[\s?(?:i\.)?\d{1,3}(?:\s?[,;–-]\s?(?:i\.)?\d{1,3})+\s?\]")
_NAMED = re.compile(r"\[(?P<label>[A-Z][\w.:+ -]{1,24})\]")
_LABEL_RANGE = re.compile(r"\s(?:to|through)\s|\s?[–—-]\s?")
_SLASH = re.compile(r"/(?P<id>[A-Z]{1,2}\.\d{2,4})(?![\w.])")
_BETWEEN_ID_AND_LABEL = re.compile(
    r"\s*(?:\|\s*|\((?:[Pp]arts?|V)[^()\[\]]{0,40}\)\s*|,?\s?[Pp]arts?\s\d{1,2}\s*|[Rr]ecommendations?\s|[Ss]tandard\s|\(all\sparts\)\s*)?"
)
# Bare numbers: "see 6.3", "in 6.3.1", "TS 36.331 [17], 5.3.3.4"; not before a unit ("in 1.2.3 MHz").
_DOTTED = r"\d{1,2}(?:\.\d{1,3}[A-Za-z]?)"
_NO_UNIT = r"(?!\w|\.\w|\s?[%°]|\s(?!(?:and|or|to|of|for|is|are|if|in|by|as|on)\b)[a-zA-Z]{1,3}\b)"
_BARE = re.compile(
    rf"(?:(?<![\w.-])[Ss]ee(?:\salso)?\s+(?P<see>{_DOTTED}{{1,6}})|(?<![\w.-])(?:in|of|to|with|per|under)\s+(?P<deep>{_DOTTED}{{2,6}})"
    rf"|(?<=\]),\s(?P<behind>{_DOTTED}{{1,6}})){_NO_UNIT}"
)


def find_pieces(text: str, named: frozenset[str] = frozenset(), numbers: Sequence[tuple[int, int]] = ()) -> list[Piece]:
    """All pieces in order, none overlapping another.

    named: labels such as "RFC3261" that the references clause lists. numbers: spans known to be clause numbers.
    """
    pieces: list[Piece] = [*_numbers(text)]
    taken = _Taken(pieces)
    pieces += [p for p in _places(text) if taken.free(p.start, p.end)]
    taken = _Taken(pieces)
    pieces += [p for p in _labels(text, named) if taken.free(p.start, p.end)]
    taken = _Taken(pieces)
    for requirement in REQUIREMENT.finditer(text):
        if taken.free(requirement.start(), requirement.end()):
            item = Item(requirement.start(), requirement.end(), requirement[0], at=requirement.start())
            pieces.append(Place(item.start, item.end, "requirement", (item,)))
    spans = [*numbers, *(bare.span(bare.lastgroup or 0) for bare in _BARE.finditer(text))]
    for start, end in spans:
        if taken.free(start, end):
            items = tuple(_items(text, start, start, "clause", plural=True))
            if items:
                pieces.append(Place(start, items[-1].end, "number", items))
                taken = _Taken(pieces)
    return sorted(pieces, key=lambda p: p.start)


def _numbers(text: str) -> Iterator[Number]:
    """Document numbers with the bracket behind them. "ITU-T X.509 | ISO/IEC 9594-8 [i.3]" is one."""
    waiting: Number | None = None
    for printed in find_documents(text):
        if waiting and re.fullmatch(r"\s?[|]\s?", text[waiting.end : printed.start]):
            waiting = Number(waiting.start, printed.end, waiting.id, waiting.version)
            continue
        if waiting:
            yield _with_label(text, waiting, printed.start)
        waiting = Number(printed.start, printed.end, printed.id, printed.version)
    if waiting:
        yield _with_label(text, waiting, len(text))


def _with_label(text: str, number: Number, limit: int) -> Number:
    gap = _BETWEEN_ID_AND_LABEL.match(text, number.end)
    match = _LABEL.match(text, gap.end() if gap else number.end)
    if not match or match.start() > limit:
        return number
    return Number(number.start, match.end(), number.id, number.version, re.sub(r"\s", "", match["label"]), match["code"] or "")


def _places(text: str) -> Iterator[Place]:
    for match in _NOUN.finditer(text):
        word = re.sub(r"\s+", " ", match["word"] or match["sign"]).lower()
        noun = next(noun for beginning, noun in _KINDS if word.startswith(beginning))
        plural = word.rstrip(".").endswith(("s", "§§", "ae", "ces"))
        items = tuple(_items(text, match.start(), match.end(), noun, plural))
        if items and not (word.startswith("paragraph") and "." not in items[0].code):
            slash = _SLASH.match(text, items[-1].end)
            end = slash.end() if slash else items[-1].end
            yield Place(match.start(), end, noun, items, plural, f"ITU-T {slash['id']}" if slash else "")


def _items(text: str, start: int, at: int, noun: Noun, plural: bool) -> Iterator[Item]:
    match = _ITEM[noun].match(text, at)
    while match:
        item = Item(start, match.end(), _code(noun, match[0]), at=match.start())
        following, is_range = _following(text, noun, plural, match)
        if following and is_range:
            item = Item(start, following.end(), item.code, _code(noun, following[0]), item.at)
            following, _ = _following(text, noun, plural, following)
        yield item
        match = following
        start = following.start() if following else 0


def _following(text: str, noun: Noun, plural: bool, before: re.Match[str]) -> tuple[re.Match[str] | None, bool]:
    """The next number of a list, and whether it ends a range that `before` begins."""
    if _SLASH.match(text, before.end()):
        return None, False
    join = _JOIN.match(text, before.end())
    after = _ITEM[noun].match(text, join.end()) if join else None
    if join and after:
        is_range = bool(_RANGE.match(join["join"].strip()))
        return (after, is_range) if _belongs(text, noun, plural, before, join, after) else (None, False)
    far = _FAR_JOIN.match(text, before.end()) if plural and noun in ("clause", "section") else None
    return (_ITEM[noun].match(text, far.end()) if far else None), False


def _belongs(text: str, noun: Noun, plural: bool, before: re.Match[str], join: re.Match[str], after: re.Match[str]) -> bool:
    """Whether the number after a connector is a further item and not "clause 5 and 6 bits" or "annex A, B-frames"."""
    mark = join["join"].strip()
    if noun == "annex" and not plural:
        return len(after[0]) > 1 and "." in after[0] and mark[:1] != "/"
    if "." in before[0] and noun in ("clause", "section"):
        # Numbers of one list have their dots alike: "clause 5.1.2 or 5.1.3", not "clause 5.1.2, 8 carriers".
        return "." in after[0] and (plural or join["join"] == "-" or mark not in ("-", "–", "—", ";"))
    if not plural:
        return (
            ("." in after[0] or mark in ("or", "and"))
            and not re.match(r"\s+[a-zµΩ°%]", text[after.end() :][:3])
            and mark not in ("-", "/", ";")
        )
    return True


def _labels(text: str, named: frozenset[str]) -> Iterator[Label]:
    for match in _LABELS.finditer(text):
        parts = list(re.finditer(r"(?:i\.)?\d{1,3}", match[0]))
        for before, part in zip([None, *parts], parts, strict=False):
            sign = match[0][before.end() : part.start()].strip() if before else ""
            if sign in ("-", "–") and before:
                yield Label(match.start() + before.start(), match.start() + part.end(), before[0], part[0])
            elif not re.match(r"\s?[–-]", match[0][part.end() :]):
                yield Label(match.start() + part.start(), match.start() + part.end(), part[0])
    previous: Label | None = None
    for match in _LABEL.finditer(text):
        label = re.sub(r"\s", "", match["label"])
        if previous and not (match["code"] or previous.code) and _LABEL_RANGE.fullmatch(text[previous.end : match.start()]):
            yield Label(previous.start, match.end(), previous.label, label)
            previous = None
            continue
        if previous:
            yield previous
        previous = Label(match.start(), match.end(), label, code=match["code"] or "")
    if previous:
        yield previous
    if named:
        for match in _NAMED.finditer(text):
            if match["label"] in named:
                yield Label(match.start(), match.end(), match["label"])


def _code(noun: Noun, printed: str) -> str:
    code = re.sub(rf"{D}", "-", re.sub(r"\s", "", printed))
    if noun in ("table", "figure", "equation"):
        return f"{noun} {code.strip('()') if noun == 'equation' else code}"
    return code


class _Taken:
    """Spans already read, for a test whether a new one is free of them."""

    def __init__(self, pieces: list[Piece]) -> None:
        self._spans = sorted((p.start, p.end) for p in pieces)

    def free(self, start: int, end: int) -> bool:
        at = bisect_left(self._spans, (start, start))
        return not any(s < end and e > start for s, e in self._spans[max(at - 1, 0) : at + 2])
