"""Explanations add up to the scores they explain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from toys import HashingEmbedder, corpus

from normrag_core.chunking import passage
from normrag_core.config import RetrieverConfig
from normrag_core.explain import explain
from normrag_core.retriever import Retriever

SMALL = RetrieverConfig(max_words=40, top_k=50)
WORDS = sorted({w for u in corpus().units for w in f"{u.title} {u.body}".split()})
CONFIGS = [
    SMALL,
    SMALL.with_(alpha=0.6, rrf_k=10, bm25_weight=2.0),
    SMALL.with_(alpha=0.3, iterations=3, ranking="weighted", dense_weight=0.4),
    SMALL.with_(alpha=0.7, expansion=True, seeds=3, hops=2),
    SMALL.with_(expansion=True, formula="best-seed", seeds=3, prefilter_n=5),
    SMALL.with_(ranking="dense", alpha=0.5, smoothing_relations=("sibling", "cites")),
    SMALL.with_(chunking="structured", context_weight=0.5, bm25_k1=2.0),
    SMALL.with_(chunking="vanilla"),
    SMALL.with_(chunking="structured", best_part=True, ranking="weighted", alpha=0.6, name_weight=2.0, headings=False),
    SMALL.with_(name_weight=2.0, ranking="weighted", alpha=0.6, bm25_k1=0.9, bm25_b=0.6),
]


@pytest.fixture(scope="module")
def retriever() -> Retriever:
    return Retriever(corpus(), HashingEmbedder())


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("seed", range(4))
def test_sums_equal_scores_for_random_questions(retriever: Retriever, config: RetrieverConfig, seed: int) -> None:
    question = " ".join(np.random.default_rng(seed).choice(WORDS, 6)) + " of EN 999 001" * (seed % 2)
    trace = retriever.search(question, config)
    assert trace.results
    for result in trace.results:
        found = explain(retriever, trace, result.index)
        assert found.rank == result.rank
        if "bm25" in result.ranks:
            assert found.bm25 is not None
            assert sum(s.share for s in found.bm25.shares) == pytest.approx(result.ranks["bm25"][1], abs=1e-9)
        if "dense" in result.ranks:
            assert found.dense is not None
            total = found.dense.own + sum(n.share for n in found.dense.neighbours)
            assert total == pytest.approx(found.dense.after, abs=1e-9)
            assert total == pytest.approx(result.ranks["dense"][1], abs=1e-6)
        if "fusion" in result.ranks:
            assert found.fusion is not None
            assert sum(s.share for s in found.fusion.shares) == pytest.approx(result.ranks["fusion"][1], abs=1e-12)
        if result.role:
            assert found.expansion is not None
            total = found.expansion.own + sum(s.share for s in found.expansion.shares)
            assert total == pytest.approx(result.score, abs=1e-6)
            assert found.expansion.via == result.via
        else:
            assert found.expansion is None


def test_bm25_part_names_what_is_there_and_what_is_missing(retriever: Retriever) -> None:
    config = SMALL.with_(ranking="bm25")
    trace = retriever.search("calibration of the output output charger", config)
    best = explain(retriever, trace, trace.results[0].index)
    assert best.chunk.title == "2.1 Calibration"
    assert best.bm25 is not None
    by_term = {s.term: s for s in best.bm25.shares}
    assert (by_term["calibr"].text, by_term["calibr"].context) == (2, 1)
    assert by_term["output"].asked == 2
    assert best.bm25.missing == ("charger",)
    assert best.dense is None


def test_reciprocal_ranks_are_worked_out(retriever: Retriever) -> None:
    trace = retriever.search("immunity of chargers", SMALL.with_(rrf_k=20))
    fusion = explain(retriever, trace, trace.results[1].index).fusion
    assert fusion is not None
    assert [s.stage for s in fusion.shares] == ["bm25", "dense"]
    assert [s.share for s in fusion.shares] == pytest.approx([1 / (20 + s.rank) for s in fusion.shares])


def test_neighbours_that_moved_a_cosine_are_named(retriever: Retriever) -> None:
    config = SMALL.with_(ranking="dense", alpha=0.5)
    trace = retriever.search("test signals", config)
    at = {c.id: i for i, c in enumerate(retriever.chunks(config))}
    dense = explain(retriever, trace, at["EN 999 001 V1.1.1#4.2"]).dense
    assert dense is not None
    relations = {retriever.chunks(config)[n.index].unit: n.relations for n in dense.neighbours}
    assert relations["EN 999 001 V1.1.1#4"] == ("parent",)
    assert relations["TS 999 002 V1.2.1#2"] == ("cites",)
    assert dense.before == pytest.approx(
        float(retriever.index(config).vectors()[at["EN 999 001 V1.1.1#4.2"]] @ trace.query_vector)  # type: ignore[index]
    )


def test_what_the_cross_encoder_adds_and_what_was_before_it_make_the_score() -> None:
    class Longest:
        name = "longest first"

        def score(self, question: str, texts: Sequence[str]) -> np.ndarray:
            return np.array([len(t) for t in texts], dtype=float)

    retriever = Retriever(corpus(), HashingEmbedder(), reranker=Longest())
    trace = retriever.search("immunity level of a port", SMALL.with_(rerank_n=4, rerank_weight=0.25))
    lengths = np.array([len(passage(r.chunk)) for r in trace.results[:4]], dtype=float)
    for place, result in enumerate(trace.results):
        part = explain(retriever, trace, result.index).rerank
        if place >= 4:
            assert part is None
            continue
        assert part is not None
        assert part.before + part.reading == pytest.approx(result.score)
        assert part.reading == pytest.approx(0.25 * (lengths[place] - lengths.mean()) / lengths.std())
        assert (part.stage, part.rank) == ("fusion", result.ranks["fusion"][0])


def test_an_index_out_of_range_is_refused(retriever: Retriever) -> None:
    with pytest.raises(ValueError, match="expected an index below 14; found 99"):
        explain(retriever, retriever.search("test", SMALL), 99)
