"""Metrics against hand-worked numbers and against ir_measures on random runs."""

from __future__ import annotations

import numpy as np
import pytest

from normrag_core.evaluation.metrics import METRICS, labels, mean, measure, parse_label, per_question
from normrag_core.evaluation.outcome import Outcome, first_ranks


def test_hand_worked() -> None:
    # Two goals at ranks 2 and 5; one goal at rank 1; two goals in one result at rank 3; nothing found.
    o = Outcome.of([[2, 5], [1], [3, 3], [None, None]], citation=[True, False, True, False])
    assert per_question(o, "R@1").tolist() == [0, 1, 0, 0]
    assert per_question(o, "R@3").tolist() == [0.5, 1, 1, 0]
    # 1/2 · (P@2 = 1/2 + P@5 = 2/5); P@1 = 1; both goals at P@3 = 1/3.
    assert per_question(o, "AP@10") == pytest.approx([0.45, 1, 1 / 3, 0])
    assert per_question(o, "AP@3") == pytest.approx([0.25, 1, 1 / 3, 0])
    assert per_question(o, "AP(found)@3") == pytest.approx([0.5, 1, 1 / 3, 0])
    assert per_question(o, "AP(min)@1") == pytest.approx([0, 1, 0, 0])
    assert per_question(o, "MRR@10") == pytest.approx([0.5, 1, 1 / 3, 0])
    assert per_question(o, "MRR@1") == pytest.approx([0, 1, 0, 0])
    ideal = 1 + 1 / np.log2(3)
    assert per_question(o, "nDCG@10") == pytest.approx([(1 / np.log2(3) + 1 / np.log2(6)) / ideal, 1, 1 / ideal, 0])
    assert per_question(o, "hit@2").tolist() == [1, 1, 0, 0]
    assert np.array_equal(per_question(o, "Both@3"), [0, np.nan, 1, np.nan], equal_nan=True)
    assert np.array_equal(per_question(o, "target-only@3"), [0, np.nan, 1, np.nan], equal_nan=True)
    assert mean(per_question(o, "Both@5")) == 1.0


def test_nothing_exceeds_one_when_one_result_satisfies_all() -> None:
    o = Outcome.of([[1, 1, 1]])
    for name in ("R", "AP", "MRR", "nDCG", "hit", "AP(min)", "AP(found)"):
        assert per_question(o, f"{name}@1").tolist() == [1.0], name


def test_recall_by_words_read() -> None:
    o = Outcome.of([[1, 4], [2]], words=[[100, 3000], [3001]])
    assert per_question(o, "R@3000w").tolist() == [1.0, 0.0]
    assert per_question(o, "R@2999w").tolist() == [0.5, 0.0]


def test_first_rank_of_each_goal() -> None:
    order = np.array([7, 2, 9, 4])
    goals = [np.array([4, 9]), np.array([], dtype=int), np.array([7]), np.array([1])]
    assert first_ranks(order, goals, 10) == [3, None, 1, None]


def test_labels_name_every_default_metric_once() -> None:
    given = labels([1, 10])
    assert len(given) == len(set(given))
    assert {"R@1", "AP@10", "MRR@10", "nDCG@1", "hit@10", "Both@10", "target-only@1", "R@3000w"} <= set(given)
    assert "AP(min)@1" in labels([1], ["AP(min)"])
    for label in given:
        metric, k = parse_label(label)
        assert metric.label(k) == label
    assert all(m.formula and m.source and m.description for m in METRICS.values())


@pytest.mark.parametrize("label", ["P@10", "R@0", "R", "R@x"])
def test_unknown_label_is_refused(label: str) -> None:
    with pytest.raises(ValueError, match="expected one of R@K"):
        parse_label(label)


def test_undefined_metrics_are_left_out() -> None:
    figures = measure(Outcome.of([[1]]), ["R@1", "Both@1"])
    assert figures == {"R@1": 1.0}


@pytest.mark.parametrize("seed", range(5))
def test_equal_to_ir_measures_on_random_runs(seed: int) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    rng = np.random.default_rng(seed)
    n_questions, n_docs, depth = 30, 60, 25
    qrels, run, ranks = [], [], []
    for q in range(n_questions):
        order = rng.permutation(n_docs)[:depth]
        goals = rng.choice(n_docs, size=rng.integers(1, 6), replace=False)
        qrels += [ir_measures.Qrel(str(q), str(d), 1) for d in goals]
        run += [ir_measures.ScoredDoc(str(q), str(d), float(depth - i)) for i, d in enumerate(order)]
        ranks.append(first_ranks(order, [np.array([g]) for g in goals], n_docs))
    ours = Outcome.of(ranks)
    for k in (1, 3, 10, 25):
        pairs = {"R": "R", "AP": "AP", "MRR": "RR", "nDCG": "nDCG", "hit": "Success"}
        for name, theirs in pairs.items():
            measure_ = ir_measures.parse_measure(f"{theirs}@{k}")
            each = {m.query_id: m.value for m in ir_measures.iter_calc([measure_], qrels, run)}
            expected = [each[str(q)] for q in range(n_questions)]
            assert per_question(ours, f"{name}@{k}") == pytest.approx(expected, abs=1e-6), f"{name}@{k}"


def test_share_judged_wrong() -> None:
    o = Outcome.of([[1], [2], [1], [None]], wrong=[[2, 3, 12], [], None, [1]])
    assert np.array_equal(per_question(o, "wrong@1"), [0, 0, np.nan, 1], equal_nan=True)
    assert np.array_equal(per_question(o, "wrong@10"), [0.2, 0, np.nan, 0.1], equal_nan=True)
    assert np.array_equal(per_question(o.take(np.array([2, 3])), "wrong@2"), [np.nan, 0.5], equal_nan=True)
    assert METRICS["wrong"].lower
    assert "wrong@1" not in measure(Outcome.of([[1]]), ["R@1", "wrong@1"])


def random_runs(seed: int) -> tuple[list[list[int | None]], dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """(first rank of each goal, qrels, run) of random questions.

    With ties, put in order by (-score, id) as the retriever does; depths below and above every K; a question without any hit.
    """
    rng = np.random.default_rng(seed)
    n_docs = 40
    ranks, qrels, run = [], {}, {}
    for q in range(30):
        depth = int(rng.integers(1, 30))
        scores = rng.integers(0, 6, n_docs).astype(float)
        order = np.lexsort((np.arange(n_docs), -scores))[:depth]
        goals = rng.choice(n_docs, size=rng.integers(1, 6), replace=False)
        goals = goals if q else np.setdiff1d(np.arange(n_docs), order)[:2]
        qrels[f"q{q:02}"] = {f"d{d}": 1 for d in goals}
        # As records.to_trec_run: scores that fall with the rank, since tools break ties in their own ways.
        run[f"q{q:02}"] = {f"d{d}": float(depth - i) for i, d in enumerate(order)}
        ranks.append(first_ranks(order, [np.array([g]) for g in goals], n_docs))
    return ranks, qrels, run


@pytest.mark.parametrize("library", ["ir_measures", "ranx"])
@pytest.mark.parametrize("seed", [7, 8])
def test_equal_to_other_libraries_with_ties_short_lists_and_nothing_found(library: str, seed: int) -> None:
    theirs = pytest.importorskip(library)
    ranks, qrels, run = random_runs(seed)
    ours = Outcome.of(ranks)
    names = {
        "ir_measures": {"R": "R", "AP": "AP", "MRR": "RR", "nDCG": "nDCG", "hit": "Success"},
        "ranx": {"R": "recall", "AP": "map", "MRR": "mrr", "nDCG": "ndcg", "hit": "hit_rate"},
    }[library]
    for k in (1, 5, 10, 100):
        for name, other in names.items():
            if library == "ranx":
                expected = theirs.evaluate(theirs.Qrels(qrels), theirs.Run(run), f"{other}@{k}", return_mean=False).tolist()
            else:
                each = theirs.iter_calc([theirs.parse_measure(f"{other}@{k}")], qrels, run)
                by_id = {m.query_id: m.value for m in each}
                expected = [by_id[q] for q in qrels]
            assert per_question(ours, f"{name}@{k}") == pytest.approx(expected, abs=1e-6), f"{name}@{k}"
