"""A clause is as good as its best part."""

from __future__ import annotations

import math

import numpy as np
import pytest
from toys import HashingEmbedder, corpus

from normrag_core.best_part import BestPartBm25
from normrag_core.bm25 import Bm25, Postings
from normrag_core.config import RetrieverConfig
from normrag_core.explain import explain
from normrag_core.model import Chunk
from normrag_core.retriever import Retriever
from normrag_core.strength import strength
from normrag_core.why_not import why_not

# Clause u is split into a head and two parts; v and w are short.
PARTS = [
    Chunk("u", "D", "u", "head", ""),
    Chunk("u/1", "D", "u", "part", ""),
    Chunk("u/2", "D", "u", "part", ""),
    Chunk("v", "D", "v", "unit", ""),
    Chunk("w", "D", "w", "unit", ""),
]
TERMS = [["port"], ["level", "test"], ["port", "port"], ["level"], ["cable"]]
INNER = Bm25(Postings.of((t, ()) for t in TERMS))
SCORER = BestPartBm25(INNER, PARTS)


def test_the_best_part_by_hand() -> None:
    # n = 5, df(port) = 2 (the head counts as a chunk), lengths 1, 2, 2, 1, 1 with mean 7/5; the head's own score is left out.
    idf = math.log(3.5) - math.log(2.5)
    second = idf * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 2 / 1.4))
    assert SCORER.scores({"port": 1}) == pytest.approx([second, 0.0, 0.0])
    assert SCORER.explained({"port": 1}, 0) == (INNER, 2, (2, 2))
    assert SCORER.contributions({"port": 1}, 0) == {"port": pytest.approx(second)}
    assert SCORER.explained({"level": 1}, 1) == (INNER, 3, None)


def test_words_in_different_parts_do_not_add_up() -> None:
    together = Bm25(Postings.of([(["level", "test", "port", "port"], ()), (["level"], ()), (["cable"], ())]))
    assert together.contributions({"test": 1, "port": 1}, 0).keys() == {"test", "port"}
    assert SCORER.contributions({"test": 1, "port": 1}, 0).keys() == {"test"}  # one chunk holds it, so it is the rarer word
    assert SCORER.holds("port", 0)
    assert not SCORER.holds("port", 1)


def test_a_clause_that_holds_a_term_of_no_weight_is_a_hit_all_the_same() -> None:
    inner = Bm25(Postings.of((t, ()) for t in (["a"], ["b"], ["c"], ["a"])))
    assert inner.idf_of("a")[0] == 0.0
    order, scores = BestPartBm25(inner, PARTS[1:]).top({"a": 1}, 5)
    assert (order.tolist(), scores.tolist()) == ([0, 2], [0.0, 0.0])


CONFIG = RetrieverConfig(chunking="structured", max_words=40, ranking="bm25", best_part=True, top_k=20)
QUESTION = "immunity level of port 11 in V/m"


def test_clauses_are_ranked_by_the_scores_of_their_parts() -> None:
    retriever = Retriever(corpus(), HashingEmbedder())
    split = CONFIG.with_(chunking="structured+chunks", best_part=False)
    parts = retriever.search(QUESTION, split)
    expected: dict[str, float] = {}
    for r in parts.results:
        if r.chunk.kind != "head":
            expected.setdefault(r.chunk.unit, r.score)
    found = retriever.search(QUESTION, CONFIG)
    assert {r.chunk.id: r.score for r in found.results} == pytest.approx(expected)
    assert all(r.chunk.kind == "unit" for r in found.results)
    long = next(r for r in found.results if r.chunk.title == "5 Immunity requirements")
    part = explain(retriever, found, long.index).bm25
    assert part is not None
    assert part.part is not None
    assert part.score == pytest.approx(long.score)
    best = next(r.chunk.id for r in parts.results if r.chunk.unit == long.chunk.unit and r.chunk.kind == "part")
    assert best.endswith(f"/{part.part[0]}")


def test_what_else_reads_the_scorer_works_with_it() -> None:
    retriever = Retriever(corpus(), HashingEmbedder())
    trace = retriever.search(QUESTION, CONFIG.with_(top_k=2, prefilter_n=4, ranking="weighted"))
    lost = next(i for i in trace.final.order if i not in [r.index for r in trace.results])
    assert why_not(retriever, trace, int(lost)).bm25_rank == trace.stages[0].position(int(lost))[0]  # type: ignore[index]
    assert strength(retriever, retriever.search("immunity level", trace.config)).words == pytest.approx(1.0)
    assert np.isfinite(trace.final.scores).all()


def test_an_empty_corpus_has_no_scores() -> None:
    assert BestPartBm25(Bm25(Postings.of(())), ()).scores({"a": 1}).tolist() == []
