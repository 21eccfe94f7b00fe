"""Definitions, symbols and abbreviations of clause 3 as data: term → text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from normrag_core.ingest.places import Places
from normrag_core.model import InfoUnit, Term, TermKind

_DEFINED = re.compile(r"(?P<term>[^:\n]{1,90}?)\s*:\s+(?P<text>\S.*)", re.S)
_COLUMNS = re.compile(r"(?P<term>\S.{0,60}?)(?:\t+| {2,}|\s[–=]\s)\s*(?P<text>\S.*)", re.S)
# One space between the columns: a short form has a capital, a digit or a sign in it and no second word.
_SHORT = re.compile(r"(?P<term>(?=\S*[A-Z0-9Α-ωµ])\S{1,24})\s+(?P<text>\S.*)", re.S)
_NOT_A_TERM = re.compile(r"(?:NOTE|EXAMPLE)\b|(?:for the purposes|the following|in this|void)\b", re.I)


def read_terms(units: Sequence[InfoUnit]) -> tuple[Term, ...]:
    """All terms in printed order; an entry printed twice in one unit is kept once."""
    found: dict[tuple[str, str, str], Term] = {}
    for unit, kind in _term_units(units):
        for term in _terms(unit, kind):
            found.setdefault((unit.id, term.term, kind), term)
    return tuple(found.values())


def _term_units(units: Sequence[InfoUnit]) -> Iterator[tuple[InfoUnit, TermKind]]:
    for unit in units:
        title = unit.title.lower()
        if unit.kind == "document" or len(title) > 80 or not re.match(r"[\d.]+$", unit.code):
            continue
        if re.search(r"\b(?:abbreviations?|acronyms)\b", title) and not re.search(
            r"\b(?:definitions?|terms|symbols?)\b", title
        ):
            yield unit, "abbreviation"
        elif re.match(r"symbols?\b", title) and "abbreviations" not in title:
            yield unit, "symbol"
        elif re.match(
            r"(?:definitions?|terms)(?:\s+(?:and\s+)?(?:definitions?|of terms.*|symbols.*|abbreviations.*))?(?:,.*)?$", title
        ):
            yield unit, "definition"
        elif re.match(r"symbols? and abbreviations", title):
            yield unit, "abbreviation"


def _terms(unit: InfoUnit, kind: TermKind) -> Iterator[Term]:
    places = Places(unit)
    for start, text in _entries(unit, kind):
        for pattern in (_DEFINED,) if kind == "definition" else (_COLUMNS, _DEFINED, _SHORT):
            match = pattern.match(text)
            if match and not _NOT_A_TERM.match(text):
                term = re.sub(r"\s+", " ", match["term"]).strip(" *")
                yield Term(term, re.sub(r"\s+", " ", match["text"]).strip(), kind, unit.id, places.page(start))
                break


def _entries(unit: InfoUnit, kind: TermKind) -> Iterator[tuple[int, str]]:
    """Start and text of each entry: table rows, else blocks, in lists line by line."""
    for block in unit.blocks:
        text = unit.body[block.start : block.end]
        if block.rows:
            for row in block.rows:
                cells = [c.strip() for c in row if c.strip()]
                if len(cells) >= 2:
                    at = text.find(cells[0])
                    yield (
                        block.start + max(at, 0),
                        f"{cells[0]}\t{' '.join(cells[1:])}" if kind != "definition" else f"{cells[0]}: {' '.join(cells[1:])}",
                    )
        elif block.kind not in ("note", "example", "code", "caption"):
            if kind == "definition":
                yield block.start, text.strip()
            else:
                offset = block.start
                for line in text.split("\n"):
                    if line.strip():
                        yield offset, line.strip()
                    offset += len(line) + 1
    if not unit.blocks:
        offset = 0
        for line in unit.body.split("\n"):
            if line.strip():
                yield offset, line.strip()
            offset += len(line) + 1
