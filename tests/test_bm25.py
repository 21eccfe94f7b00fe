"""BM25 against hand-worked numbers and against rank_bm25."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from normrag_core.bm25 import Bm25, Postings, weigh

DOCUMENTS = [["level", "port"], ["level", "level", "test", "signal"], ["signal"], ["port", "charger", "test"], ["cable"]]


def scorer(documents: list[list[str]], **parameters: float) -> Bm25:
    return Bm25(Postings.of((d, ()) for d in documents), **parameters)


def test_one_term_by_hand() -> None:
    # n = 5, df(level) = 2: idf = ln 3.5 − ln 2.5. Chunk 1: f = 2, length 4 of mean 11/5.
    idf = math.log(3.5) - math.log(2.5)
    expected = idf * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 4 / 2.2))
    assert scorer(DOCUMENTS).scores({"level": 1})[1] == pytest.approx(expected, abs=1e-12)


def test_a_term_in_more_than_half_of_the_chunks_gets_a_quarter_of_the_mean_idf() -> None:
    documents = [["shall", "a"], ["shall", "b"], ["shall"]]
    # n = 3. idf(shall) = ln 0.5 − ln 3.5; idf(a) = idf(b) = ln 2.5 − ln 1.5.
    rare, common = math.log(2.5 / 1.5), math.log(0.5 / 3.5)
    idf, raised = scorer(documents).idf_of("shall")
    assert raised
    assert idf == pytest.approx(0.25 * (2 * rare + common) / 3)


@pytest.mark.parametrize("seed", range(5))
def test_equal_to_rank_bm25(seed: int) -> None:
    random = np.random.default_rng(seed)
    # A Zipf-like vocabulary, so that some terms stand in more than half of the documents and take the floor.
    documents = [[f"t{int(w)}" for w in random.zipf(1.4, random.integers(1, 40)) if w < 500] or ["t1"] for _ in range(300)]
    peer, ours = BM25Okapi(documents), scorer(documents)
    assert any(ours.idf_of(f"t{i}")[1] for i in (1, 2))
    for _ in range(20):
        query = [f"t{int(w)}" for w in random.zipf(1.3, 8)]  # with repeated and with unknown terms
        np.testing.assert_allclose(ours.scores(weigh(query)), peer.get_scores(query), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (2.0, 1.0), (1.2, 0.0)])
def test_equal_to_rank_bm25_with_other_parameters(k1: float, b: float) -> None:
    query = ["level", "port", "test"]
    expected = BM25Okapi(DOCUMENTS, k1=k1, b=b).get_scores(query)
    np.testing.assert_allclose(scorer(DOCUMENTS, k1=k1, b=b).scores(weigh(query)), expected, atol=1e-12)


def test_context_at_weight_1_counts_like_text_and_at_weight_0_not_at_all() -> None:
    fields = [(["level"], ["immunity", "level"]), (["port"], ["immunity"]), (["cable", "port"], []), (["x"], [])]
    query = {"immunity": 1.0, "level": 1.0, "port": 1.0}
    together = scorer([[*text, *context] for text, context in fields])
    alone = scorer([text for text, _ in fields])
    postings = Postings.of(fields)
    np.testing.assert_allclose(Bm25(postings, context_weight=1.0).scores(query), together.scores(query), atol=1e-12)
    np.testing.assert_allclose(Bm25(postings, context_weight=0.0).scores(query), alone.scores(query), atol=1e-12)


def test_context_weight_scales_frequency_and_length() -> None:
    postings = Postings.of([(["a", "b"], ["a", "c"]), (["b"], []), (["d"], [])])
    # n = 3, f = 1 + 0.5·1, lengths 2 + 0.5·2 = 3, 1, 1, mean 5/3, df(a) = 1.
    expected = math.log(2.5 / 1.5) * 1.5 * 2.5 / (1.5 + 1.5 * (0.25 + 0.75 * 3 / (5 / 3)))
    assert Bm25(postings, context_weight=0.5).scores({"a": 1})[0] == pytest.approx(expected)


def test_idf_power_draws_the_idf_towards_that_of_a_term_of_one_chunk() -> None:
    # n = 5: a term of one chunk has ln 4.5 − ln 1.5 = ln 3, level (2 chunks) ln 3.5 − ln 2.5.
    highest, level = math.log(3), math.log(3.5 / 2.5)
    half = scorer(DOCUMENTS, idf_power=0.5)
    assert half.idf_of("cable") == (pytest.approx(highest), False)
    assert half.idf_of("level") == (pytest.approx(math.sqrt(highest * level)), False)
    assert scorer(DOCUMENTS, idf_power=0.0).idf_of("level") == (pytest.approx(highest), False)


def test_at_a_low_idf_power_two_common_words_outweigh_a_rare_one() -> None:
    documents = [["rare", "x"], ["common", "usual"], *([["common", "y"]] * 3), *([["usual", "z"]] * 3), *([["q", "r"]] * 8)]
    query = {"rare": 1, "common": 1, "usual": 1}
    assert scorer(documents).top(query, 1)[0].tolist() == [0]
    assert scorer(documents, idf_power=0.5).top(query, 1)[0].tolist() == [1]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_idf_power_leaves_a_tiny_corpus_finite(n: int) -> None:
    documents = [["a", f"b{i}"] for i in range(n)]
    assert np.isfinite(scorer(documents, idf_power=0.5).scores({"a": 1, "b0": 1})).all()


def test_top_keeps_index_order_on_ties_and_leaves_out_chunks_without_a_term() -> None:
    documents = [["x"], ["a", "y"], ["a", "z"], ["q"], ["a", "w"], ["r"], ["s"], ["t"]]
    order, scores = scorer(documents).top({"a": 1}, 2)
    assert order.tolist() == [1, 2]
    assert scores[0] == scores[1]
    assert scorer(documents).top({"a": 1}, 50)[0].tolist() == [1, 2, 4]
    assert scorer(documents).top({"unknown": 1}, 50)[0].tolist() == []


def test_a_term_of_idf_zero_still_finds_its_chunk() -> None:
    # Two chunks, the term in one: ln 1.5 − ln 1.5 = 0.
    assert scorer([["a"], ["b"]]).top({"a": 1}, 5)[0].tolist() == [0]


def test_top_chooses_among_the_allowed() -> None:
    allowed = np.array([False, True, False, True, True])
    assert scorer(DOCUMENTS).top({"level": 1, "port": 1}, 5, allowed)[0].tolist() == [1, 3]


def test_contributions_add_up() -> None:
    ours = scorer(DOCUMENTS)
    query = weigh(["level", "test", "level", "nowhere"])
    for chunk in range(len(DOCUMENTS)):
        assert sum(ours.contributions(query, chunk).values()) == pytest.approx(ours.scores(query)[chunk], abs=1e-12)
    assert set(ours.contributions(query, 3)) == {"test"}


def test_large_and_small_indexes_score_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    eager = scorer(DOCUMENTS)
    monkeypatch.setattr("normrag_core.bm25.EAGER_POSTINGS", 0)
    lazy = scorer(DOCUMENTS)
    assert (eager.scores({"test": 2, "port": 1}) == lazy.scores({"test": 2, "port": 1})).all()


def test_an_empty_corpus_finds_nothing() -> None:
    assert scorer([]).top({"a": 1}, 5)[0].tolist() == []


@pytest.mark.parametrize("stretch", [1, 5, 1_000])
def test_counting_in_stretches_changes_nothing(stretch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("normrag_core.bm25.STRETCH", stretch)
    fields = [(["a", "b", "a"], ["a", "c"]), ([], []), (["b"], []), (["d", "a"], ["d", "d"]), ([], ["e"])]
    postings = Postings.of(fields)
    assert list(postings.vocabulary) == ["a", "b", "c", "d", "e"]
    assert postings.starts.tolist() == [0, 2, 4, 5, 6, 7]
    assert postings.chunks.tolist() == [0, 3, 0, 2, 0, 3, 4]
    assert postings.text.tolist() == [2, 1, 1, 1, 0, 1, 0]
    assert postings.context.tolist() == [1, 0, 0, 0, 1, 2, 1]
    assert postings.text_lengths.tolist() == [3, 0, 1, 2, 0]
    assert postings.context_lengths.tolist() == [2, 0, 0, 2, 1]
    assert "z" not in postings.vocabulary
