"""Questions without any model, from headings and definitions. For a smoke run only: they reuse the text's own words, which
flatters word matching, so no figure made with them says anything about quality. Their type is "smoke"."""

from __future__ import annotations

import hashlib
import re

from normrag_core.evaluation.generation.passages import citation_sources, clause_sources
from normrag_core.evaluation.matching import words
from normrag_core.evaluation.questions import CITATION_TYPE, Question, Witness
from normrag_core.evaluation.statistics import SEED
from normrag_core.model import Corpus, InfoUnit

SMOKE_TYPE = "smoke"
_SENTENCE = re.compile(r"(?<=[.;:])\s+(?=[A-Z])|\n{2,}")


def template_questions(corpus: Corpus, n: int, seed: int = SEED) -> tuple[Question, ...]:
    """Up to n questions, the same for the same corpus and seed: on clauses, up to a quarter each on terms and citations."""
    made: dict[str, Question] = {}
    for question in [*_terms(corpus, n // 4), *_citations(corpus, n // 4, seed), *_clauses(corpus, 2 * n, seed)]:
        made.setdefault(question.question.casefold(), question)
    return tuple(made.values())[:n]


def _clauses(corpus: Corpus, n: int, seed: int) -> list[Question]:
    out = []
    for source in clause_sources(corpus, n, seed):
        (unit,) = source.units
        passage = _sentence(unit)
        if passage:
            text = f"What does {corpus.by_key[unit.document].id} say about {unit.title}?"
            out.append(_question(text, SMOKE_TYPE, [_witness(corpus, unit, passage)]))
    return out


def _terms(corpus: Corpus, n: int) -> list[Question]:
    out = []
    for document in corpus.documents:
        for term in document.terms:
            unit = corpus.by_id.get(term.unit)
            if term.kind == "definition" and unit is not None and 6 <= len(words(term.text)) <= 100:
                text = f"What is meant by {term.term} in {document.id}?"
                out.append(_question(text, SMOKE_TYPE, [_witness(corpus, unit, f"{term.term}: {term.text}")]))
    # Every k-th, so that one document's long list does not take all the places.
    step = max(1, len(out) // n) if n else 1
    return out[::step][:n]


def _citations(corpus: Corpus, n: int, seed: int) -> list[Question]:
    out = []
    for source in citation_sources(corpus, n, seed):
        citing, cited = source.units
        first = next((s for s in _sentences(citing) if source.citation in s), "")
        second = _sentence(cited)
        if first and second:
            text = f"Concerning {citing.title}, what does {source.citation} ({cited.title}) add?"
            witnesses = [_witness(corpus, citing, first), _witness(corpus, cited, second)]
            out.append(_question(text, CITATION_TYPE, witnesses))
    return out


def _sentences(unit: InfoUnit) -> list[str]:
    return [s for s in (" ".join(part.split()) for part in _SENTENCE.split(unit.body)) if 8 <= len(words(s)) <= 80]


def _sentence(unit: InfoUnit) -> str:
    """The clause's first sentence with a requirement, else its first of a good length, else nothing."""
    sentences = _sentences(unit)
    return next((s for s in sentences if " shall " in s), sentences[0] if sentences else "")


def _witness(corpus: Corpus, unit: InfoUnit, text: str) -> Witness:
    return Witness(text, corpus.by_key[unit.document].file, unit.page, unit.code)


def _question(text: str, kind: str, witnesses: list[Witness]) -> Question:
    return Question(f"smoke-{hashlib.sha256(text.encode()).hexdigest()[:10]}", text, kind, "", tuple(witnesses))
