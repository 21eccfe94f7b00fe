"""Randomisation test, Holm's correction, bootstrap, and the sentences made of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from normrag_core.evaluation.statistics import bootstrap, bootstrap_table, compare, holm, randomisation_test


def enumerated(d: list[float]) -> float:
    sums = [abs(sum(s * x for s, x in zip(signs, d, strict=True))) for signs in product((1, -1), repeat=len(d))]
    return sum(s >= abs(sum(d)) - 1e-9 for s in sums) / len(sums)


@pytest.mark.parametrize("d", [[1, 1, 1, 1, 1], [0.5, -0.5, 1, 0.25, 0.75, -0.1], [1, -1], [0.3]])
def test_small_samples_are_exact(d: list[float]) -> None:
    assert randomisation_test(np.array(d)) == pytest.approx(enumerated(d))


def test_zeros_and_missing_values_do_not_matter() -> None:
    d = np.array([1, 1, 1, 1, 1, 0, 0, np.nan])
    assert randomisation_test(d) == pytest.approx(2 / 32)
    assert randomisation_test(np.zeros(9)) == 1.0


def test_sampled_p_is_near_the_exact_one_and_never_zero() -> None:
    d = np.array([0.5, -0.5, 1, 0.25, 0.75, -0.1, 0.2, 0.9, -0.3, 0.4])
    exact = randomisation_test(d)
    assert randomisation_test(d, samples=1000) == pytest.approx(exact, abs=0.05)
    assert randomisation_test(np.ones(200)) == pytest.approx(1 / 10_001)
    assert randomisation_test(d) == exact


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_bootstrap_interval() -> None:
    values = np.array([0.0, 1.0] * 50)
    interval = bootstrap(values)
    assert interval is not None
    # Half-width of the normal interval: 1.96 · 0.5 / √100.
    assert (interval.mean, interval.low, interval.high) == pytest.approx((0.5, 0.402, 0.598), abs=0.015)
    assert bootstrap(values) == interval
    assert bootstrap(np.array([np.nan])) is None


def test_table_equals_single_bootstrap_with_gaps() -> None:
    rng = np.random.default_rng(1)
    table = rng.random((20, 3))
    table[5:, 1] = np.nan
    table[:, 2] = np.nan
    got = bootstrap_table(table)
    for column in (0, 1):
        one = bootstrap(table[:, column])
        assert one is not None
        assert got[column] is not None
        assert (got[column].mean, got[column].low, got[column].high) == pytest.approx((one.mean, one.low, one.high))
    assert got[2] is None


def test_sentences_say_what_is_significant() -> None:
    rng = np.random.default_rng(0)
    base = rng.integers(0, 2, 100).astype(float)
    better = base.copy()
    better[np.flatnonzero(base == 0)[:20]] = 1
    nearly = base.copy()
    nearly[np.flatnonzero(base == 0)[0]] = 1
    results = {(c.a, c.b): c for c in compare({"old": base, "new": better, "near": nearly, "same": base}, "R@10")}
    assert len(results) == 6
    c = results["old", "new"]
    assert c.significant
    assert (c.wins, c.losses, c.n) == (0, 20, 100)
    assert c.sentence.startswith("old is significantly worse than new in R@10 (-0.200, 95 % interval ")
    assert "after Holm's correction for 6 comparisons" in c.sentence
    assert results["old", "near"].sentence.startswith("Between old and near no significant difference in R@10 was found (")
    assert results["old", "same"].sentence == "old and same do the same in R@10 on all 100 questions."


def test_where_lower_is_better_the_words_say_so() -> None:
    values = {"a": np.zeros(20), "b": np.full(20, 0.3)}
    (comparison,) = compare(values, "wrong@10", lower=True)
    assert comparison.sentence.startswith("a is significantly better than b in wrong@10 (-0.300")
    assert (comparison.wins, comparison.losses) == (20, 0)
    assert "better on 20, worse on 0 of 20" in comparison.sentence
