"""What a reader sees in and around a clause: its cross-references, defined terms and modal verbs, and who cites it."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from normrag_core.graph.analysis import reason
from normrag_core.ingest.modality import find_modals
from normrag_core.model import Citation, Corpus, InfoUnit, Term
from normrag_core.tokenize import STOP_WORDS


@dataclass(frozen=True, slots=True)
class Mark:
    """`body[start:end]` means something. target: unit id a citation leads to, "" where it leads nowhere.

    tip: what a reader is told about it: heading and first words of the target, the reason why there is none, the meaning of a
    term, the force of a modal verb. style: the citation's state or the modal's force.
    """

    start: int
    end: int
    kind: Literal["citation", "term", "modal"]
    target: str = ""
    tip: str = ""
    style: str = ""


class Reading:
    """A corpus prepared for reading. Marks are made per unit when asked for."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._terms: dict[str, tuple[re.Pattern[str] | None, dict[str, Term]]] = {}

    @cached_property
    def _outgoing(self) -> dict[str, list[Citation]]:
        found: dict[str, list[Citation]] = defaultdict(list)
        for citation in self.corpus.citations:
            found[citation.source].append(citation)
        return found

    @cached_property
    def _incoming(self) -> dict[str, list[Citation]]:
        found: dict[str, list[Citation]] = defaultdict(list)
        for citation in self.corpus.citations:
            if citation.target and citation.target != citation.source:
                found[citation.target].append(citation)
        return found

    def citations(self, unit: InfoUnit) -> list[Citation]:
        """Citations made in a unit, in reading order."""
        return self._outgoing.get(unit.id, [])

    def cited_by(self, unit: InfoUnit) -> list[tuple[InfoUnit, list[Citation]]]:
        """Units that cite a unit, with their citations: those of other documents last, in corpus order."""
        groups: dict[str, list[Citation]] = defaultdict(list)
        for citation in self._incoming.get(unit.id, []):
            groups[citation.source].append(citation)
        pairs = [(self.corpus.by_id[source], citations) for source, citations in groups.items()]
        return sorted(pairs, key=lambda p: p[0].document != unit.document)

    def around(self, unit: InfoUnit) -> tuple[InfoUnit | None, InfoUnit | None]:
        """The units before and after in printed order."""
        units = self.corpus.units_of(unit.document)
        at = self._places[unit.id]
        return units[at - 1] if at else None, units[at + 1] if at + 1 < len(units) else None

    @cached_property
    def _places(self) -> dict[str, int]:
        return {u.id: i for d in self.corpus.documents for i, u in enumerate(self.corpus.units_of(d.key))}

    def marks(self, unit: InfoUnit, modals: bool = True) -> tuple[Mark, ...]:
        """Marks of a unit's body in order, none over another: a citation beats a modal verb, that beats a term."""
        found = [self._citation(c) for c in self.citations(unit) if 0 <= c.start < c.end <= len(unit.body)]
        if modals:
            found += [Mark(m.start, m.end, "modal", tip=m.force, style=m.force) for m in find_modals(unit)]
        found += self._term_marks(unit)
        taken: list[Mark] = []
        order = {"citation": 0, "modal": 1, "term": 2}
        covered = bytearray(len(unit.body) + 1)
        for mark in sorted(found, key=lambda m: (order[m.kind], m.start, -m.end)):
            if not any(covered[mark.start : mark.end]):
                covered[mark.start : mark.end] = b"\x01" * (mark.end - mark.start)
                taken.append(mark)
        return tuple(sorted(taken, key=lambda m: m.start))

    def _citation(self, citation: Citation) -> Mark:
        unit = self.corpus.by_id.get(citation.target or "")
        if unit is None:
            return Mark(citation.start, citation.end, "citation", "", reason(self.corpus, citation), citation.state)
        return Mark(citation.start, citation.end, "citation", unit.id, self.summary(unit), citation.state)

    def summary(self, unit: InfoUnit, size: int = 180) -> str:
        """Heading and first words of a unit, for a card."""
        document = self.corpus.by_key[unit.document]
        name = unit.heading if unit.parent is not None else document.title
        start = " ".join(re.sub(r"</?su[bp]>|\|", " ", unit.body).split())
        start = start if len(start) <= size else start[:size].rsplit(" ", 1)[0] + " …"
        return f"{document.label} · {name}" + (f"\n{start}" if start else "")

    def _term_marks(self, unit: InfoUnit) -> list[Mark]:
        """Each term once a block; none in the clause that defines it, nor in code and formulas."""
        pattern, terms = self._lexicon(unit.document)
        if pattern is None:
            return []
        spans = [(b.start, b.end) for b in unit.blocks if b.kind not in ("code", "formula", "reference", "figure")]
        marks = []
        for start, end in spans or [(0, len(unit.body))]:
            seen: set[str] = set()
            for hit in pattern.finditer(unit.body, start, end):
                term = terms.get(hit.group()) or terms.get(hit.group().lower())
                if term is not None and term.term not in seen and term.unit != unit.id:
                    seen.add(term.term)
                    marks.append(Mark(hit.start(), hit.end(), "term", tip=f"{term.term}: {term.text}"))
        return marks

    def _lexicon(self, document: str) -> tuple[re.Pattern[str] | None, dict[str, Term]]:
        """Terms of a document: abbreviations and symbols as printed, definitions in any case.

        An introduction such as "The symbols i, j and k are dummy variables" must not make a term of its first word.
        """
        if document not in self._terms:
            terms: dict[str, Term] = {}
            for term in self.corpus.by_key[document].terms:
                word = term.term
                if len(word) > 1 and term.text and (word.isupper() or word.lower() not in STOP_WORDS):
                    terms.setdefault(word.lower() if term.kind == "definition" else word, term)
            words = sorted(terms, key=lambda t: (-len(t), t))
            either = [f"(?i:{re.escape(w)})" if terms[w].kind == "definition" else re.escape(w) for w in words]
            pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(either)})(?![\w-])") if either else None
            self._terms[document] = (pattern, terms)
        return self._terms[document]


def cite(corpus: Corpus, unit: InfoUnit) -> str:
    """A citation of the unit in the standards' own form: "ETSI EN 302 755 V1.4.1, clause 6.5.5"."""
    document = corpus.by_key[unit.document]
    place = {"clause": f", clause {unit.code}", "annex": f", annex {unit.code}"}.get(unit.kind, "")
    if unit.kind == "heading":
        place = f", {unit.title}"
    return f"ETSI {document.label}" + (f" ({document.date})" if document.date else "") + place
