"""Modal verbs: what a standard requires, recommends, permits or states as possible.

ETSI Drafting Rules, clause 3.2, give "shall", "should", "may", "need not", "can", "cannot", "will" and "will not" their
meaning; "must" is not to be used but is found. Notes, examples and informative annexes hold no provisions.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from normrag_core.ingest.places import sentences
from normrag_core.model import InfoUnit

Force = Literal["requirement", "recommendation", "permission", "possibility", "inevitability"]
_FORCE: dict[str, Force] = {
    "shall": "requirement",
    "shall not": "requirement",
    "must": "requirement",
    "must not": "requirement",
    "should": "recommendation",
    "should not": "recommendation",
    "may": "permission",
    "may not": "permission",
    "need not": "permission",
    "can": "possibility",
    "cannot": "possibility",
    "can not": "possibility",
    "will": "inevitability",
    "will not": "inevitability",
}
# "May 2014" and "the CAN bus" are no verbs; a capital is one only at the start of a sentence ("Shall the ...", rare).
_MODAL = re.compile(r"(?<![\w/-])(?:(?:shall|should|must|may|can|will)(?:\s+not)?|cannot|need\s+not)(?![\w/-])")


@dataclass(frozen=True, slots=True)
class Modal:
    """`body[start:end]` is a modal verb, `body[sentence[0]:sentence[1]]` its sentence. verb: "shall", "shall not", ..."""

    start: int
    end: int
    verb: str
    force: Force
    sentence: tuple[int, int]
    informative: bool


@dataclass(frozen=True, slots=True)
class ModalCounts:
    """Sentences that hold each verb, in normative and in informative text. A sentence with two verbs counts for both."""

    normative: dict[str, int]
    informative: dict[str, int]


def find_modals(unit: InfoUnit) -> tuple[Modal, ...]:
    """Modal verbs of a unit's body in order; verbatim code holds none."""
    spans = sentences(unit.body)
    found = []
    blocks = sorted(unit.blocks, key=lambda b: b.start)
    starts = [b.start for b in blocks]
    for match in _MODAL.finditer(unit.body):
        at = bisect_right(starts, match.start()) - 1
        kind = blocks[at].kind if at >= 0 and match.start() < blocks[at].end else "paragraph"
        if kind == "code":
            continue
        verb = re.sub(r"\s+", " ", match[0])
        index = max(bisect_right(spans, (match.start(), len(unit.body))) - 1, 0)
        informative = unit.informative or kind in ("note", "example")
        found.append(Modal(match.start(), match.end(), verb, _FORCE[verb], spans[index], informative))
    return tuple(found)


def modal_counts(unit: InfoUnit) -> ModalCounts:
    """How many sentences of the unit hold each modal verb."""
    seen = {(m.sentence, m.verb, m.informative) for m in find_modals(unit)}
    counts = {flag: Counter(verb for _, verb, informative in seen if informative is flag) for flag in (False, True)}
    return ModalCounts(dict(sorted(counts[False].items())), dict(sorted(counts[True].items())))
