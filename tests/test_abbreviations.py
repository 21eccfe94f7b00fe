"""Abbreviations beside a question."""

from __future__ import annotations

from dataclasses import replace

from toys import corpus

from normrag_core.abbreviations import Abbreviations
from normrag_core.config import RetrieverConfig
from normrag_core.model import Corpus, Term
from normrag_core.retriever import Retriever


def with_terms(*terms: tuple[str, str]) -> Corpus:
    made = corpus()
    entries = tuple(Term(short, long, "abbreviation", "EN 999 001 V1.1.1#1", 1) for short, long in terms)
    definition = Term("port", "interface of a widget", "definition", "EN 999 001 V1.1.1#1", 1)
    first = replace(made.documents[0], terms=(*entries, definition))
    return Corpus((first, *made.documents[1:]), made.units, made.citations)


def test_long_forms_stand_beside_short_ones_and_back() -> None:
    given = Abbreviations(with_terms(("PLP", "Physical Layer Pipe"), ("IS", "Interactive System")))
    assert given.beside("What is a PLP?") == ["physical layer pipe"]
    assert given.beside("which physical-layer pipes") == []
    assert given.beside("a physical layer  pipe") == ["PLP"]
    assert given.beside("a port") == []  # a definition is no abbreviation


def test_an_abbreviation_of_many_things_says_nothing() -> None:
    given = Abbreviations(with_terms(("AC", "alternating current"), ("AC", "access code"), ("AC", "audio codec")))
    assert given.beside("AC") == []
    assert given.beside("the access code") == ["AC"]


def test_terms_beside_the_question_count_half() -> None:
    retriever = Retriever(with_terms(("SG", "signal generator")))
    config = RetrieverConfig()
    assert retriever.terms("SG output signal", config) == {"sg": 1, "output": 1, "signal": 1}
    wide = config.with_(expand_abbreviations=True)
    assert retriever.terms("SG output signal", wide) == {"sg": 1, "output": 1, "signal": 1, "generat": 0.5}
