"""The best n, ties by position, as a full sort would give them."""

from __future__ import annotations

import numpy as np
import pytest

from normrag_core.selection import best, ranks


@pytest.mark.parametrize("n", [0, 1, 3, 5, 8, 20])
def test_best_equals_the_head_of_a_stable_sort(n: int) -> None:
    scores = np.array([2.0, 1.0, 2.0, 0.0, 2.0, -1.0, 1.0, 2.0])
    assert best(scores, n).tolist() == np.argsort(-scores, kind="stable")[:n].tolist()


def test_best_on_random_scores_with_many_ties() -> None:
    random = np.random.default_rng(7)
    for n in (1, 10, 99, 100):
        scores = random.integers(0, 9, 100).astype(float)
        assert best(scores, n).tolist() == np.argsort(-scores, kind="stable")[:n].tolist()


def test_ranks_count_from_1() -> None:
    assert ranks(np.array([0.5, 2.0, 0.5])).tolist() == [2, 1, 3]
