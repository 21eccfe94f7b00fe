"""A question that is a reference: "EN 302 755 6.5.5", "clause 7.1 of EN 300 421", "Annex B", "table 12 of EN 300 744"."""

from __future__ import annotations

import re
from collections.abc import Collection

from normrag_core.anchors import Anchors
from normrag_core.identifiers import canonical, find_documents, tidy_version
from normrag_core.model import Corpus, Document, InfoUnit
from normrag_core.resolution import version_key

_GLUE = re.compile(r"\b(?:of|in|the|standard|see|to|go|open|show|etsi)\b|[,;:()\[\]?]", re.I)
_VERSION = re.compile(r"\bv(?:ersion)?\s?\.?\s?\d{1,2}\.\d{1,2}\.\d{1,2}\b", re.I)
_PLACE = re.compile(
    r"(?:(?P<noun>(?:sub-?)?clauses?|sections?|§|annex|table|figure|fig\.?|equation)\s*)?"
    r"(?P<number>[A-Z]{1,2}(?:\.\d+[a-z]{0,2})*|\d{1,3}[A-Za-z]{0,2}(?:\.\d{1,3}[A-Za-z]{0,2})*)",
    re.I,
)
_THINGS = {"table": "table", "figure": "figure", "fig": "figure", "equation": "equation"}


def find_reference(question: str, corpus: Corpus, documents: Collection[str] | None = None) -> list[InfoUnit]:
    """The units a reference means; [] where the question is more than a reference or nothing of that name is loaded.

    A document with a place gives one unit, of the latest edition loaded unless one is named. A place alone gives that place
    of every document searched, latest editions only. documents: keys of the documents to look in; None for all.
    """
    text = " ".join(question.split())
    # The numbers in "EN 302 755 6.5.5" would read as one: a document's number ends where a clause's begins.
    printed = next(find_documents(text), None)
    rest = text if printed is None else f"{text[: printed.start]} {text[printed.end :]}"
    version = printed.version if printed else None
    if found := _VERSION.search(rest):
        version, rest = tidy_version(found[0]), rest.replace(found[0], " ")
    rest = " ".join(_GLUE.sub(" ", rest).split())
    place = _PLACE.fullmatch(rest)
    if (rest and place is None) or (printed is None and (place is None or not _is_place(place))):
        return []
    fitting = [d for d in corpus.documents if documents is None or d.key in documents]
    if printed:
        fitting = [d for d in fitting if canonical(d.id) == canonical(printed.id)]
    if version:
        fitting = [d for d in fitting if tidy_version(d.version) == version]
    units = [_at(corpus, d, place) for d in _latest(fitting)]
    return [u for u in units if u is not None]


def _is_place(place: re.Match[str]) -> bool:
    """Whether a number that stands alone is meant as a place: "6.5.5" and "clause 6" are, "6" and "A" are not."""
    return bool(place["noun"]) or "." in place["number"]


def _latest(documents: list[Document]) -> list[Document]:
    latest = {d.id: d for d in sorted(documents, key=version_key)}
    return [d for d in documents if latest[d.id] is d]


def _at(corpus: Corpus, document: Document, place: re.Match[str] | None) -> InfoUnit | None:
    if place is None:
        return corpus.root(document.key)
    anchors = Anchors(corpus.units_of(document.key))
    noun = (place["noun"] or "").lower().rstrip(".")
    if thing := _THINGS.get(noun):
        return anchors.thing(f"{thing} {place['number']}")
    return anchors.clause(place["number"])
