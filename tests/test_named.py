"""A standard that the question names counts as one word that only its chunks hold."""

from __future__ import annotations

import math

import pytest

from normrag_core.config import RetrieverConfig
from normrag_core.explain import explain
from normrag_core.model import Corpus, Document, InfoUnit
from normrag_core.named import NamedDocuments
from normrag_core.retriever import Retriever


def document(number: str, version: str) -> Document:
    return Document(f"EN {number} {version}", f"EN {number}", version, "2020-01", "Radio", 9, f"{number}.pdf")


def corpus() -> Corpus:
    documents = (document("300 001", "V1.1.1"), document("300 001", "V1.2.1"), document("300 002", "V1.1.1"))
    units = []
    for d in documents:
        units.append(InfoUnit(f"{d.key}#", d.key, "", "", "Radio", "document", None, 1))
        cites = "as in EN 300 001, EN 300 001 and EN 300 001" if d.id == "EN 300 002" else "as below"
        units.append(
            InfoUnit(f"{d.key}#4", d.key, "4", "4", "Limits", "clause", "", 2, f"The limit of emission is 3 dB {cites}.")
        )
        units.append(InfoUnit(f"{d.key}#5", d.key, "5", "5", "Scope", "clause", "", 2, "Other words entirely."))
    return Corpus(documents, tuple(units), ())


PLAIN = RetrieverConfig(ranking="bm25", context="none")


def test_names_are_taken_out_of_the_question() -> None:
    named = NamedDocuments(corpus().documents)
    assert named.split("Limit of EN 300 001?") == ("Limit of  ?", ["document EN 300 001"])
    rest, terms = named.split("ETSI EN 300 001 V1.2.1 against EN 300 002 and EN 300 003")
    assert terms == ["document EN 300 001 V1.2.1", "document EN 300 002"]
    assert "300 003" in rest
    assert "300 001" not in rest
    # An edition that is not loaded: all editions of the number.
    assert named.split("EN 300 001 V9.9.9")[1] == ["document EN 300 001"]


def test_named_standard_comes_before_those_that_cite_it() -> None:
    retriever = Retriever(corpus())
    question = "limit of emission in EN 300 001"
    assert retriever.search(question, PLAIN).results[0].chunk.document == "EN 300 002 V1.1.1"
    found = retriever.search(question, PLAIN.with_(name_weight=2.0)).results
    assert [r.chunk.document for r in found[:2]] == ["EN 300 001 V1.1.1", "EN 300 001 V1.2.1"]
    exact = retriever.search(f"{question} V1.2.1", PLAIN.with_(name_weight=2.0)).results
    assert exact[0].chunk.document == "EN 300 001 V1.2.1"


def test_share_of_a_name_is_its_idf_times_weight_and_is_explained() -> None:
    retriever = Retriever(corpus())
    config = PLAIN.with_(name_weight=2.0)
    trace = retriever.search("limit of emission in EN 300 002", config)
    best = trace.results[0]
    part = explain(retriever, trace, best.index).bm25
    assert part is not None
    share = next(s for s in part.shares if s.term == "document EN 300 002")
    n, held = len(retriever.chunks(config)), 3
    assert share.share == pytest.approx(2.0 * (math.log(n - held + 0.5) - math.log(held + 0.5)))
    assert sum(s.share for s in part.shares) == pytest.approx(best.score)


def test_the_idf_of_a_name_is_bent_like_that_of_words() -> None:
    retriever = Retriever(corpus())
    config = PLAIN.with_(name_weight=2.0, idf_power=0.5)
    scorer = retriever.index(config).bm25(config)
    n, held = len(retriever.chunks(config)), 3
    highest = math.log(n - 0.5) - math.log(1.5)
    idf = math.log(n - held + 0.5) - math.log(held + 0.5)
    assert scorer.idf_of("document EN 300 002") == (pytest.approx(math.sqrt(highest * idf)), False)


def test_a_question_without_a_name_ranks_as_before() -> None:
    retriever = Retriever(corpus())
    plain, weighted = (retriever.search("limit of emission", c).final for c in (PLAIN, PLAIN.with_(name_weight=2.0)))
    assert plain.order.tolist() == weighted.order.tolist()
    assert plain.scores.tolist() == weighted.scores.tolist()
