"""Windows are even, cover everything, and are averaged by their tokens."""

from __future__ import annotations

import numpy as np
import pytest

from normrag_core.embedding import windows


@pytest.mark.parametrize(
    ("length", "limit", "sizes"),
    [(0, 4, [0]), (1, 4, [1]), (4, 4, [4]), (5, 4, [2, 3]), (8, 4, [4, 4]), (9, 4, [3, 3, 3]), (10, 4, [3, 3, 4])],
)
def test_as_few_and_as_even_windows_as_possible(length: int, limit: int, sizes: list[int]) -> None:
    parts = windows.split(range(length), limit)
    assert [len(p) for p in parts] == sizes
    assert [t for p in parts for t in p] == list(range(length))


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 token a window; found 0"):
        windows.split([1], 0)


def test_mean_weighted_by_tokens_worked_by_hand() -> None:
    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32)
    pooled = windows.pool(vectors, np.array([0, 0, 1]), np.array([3, 4, 9]), 2)
    # (3·(1,0) + 4·(0,1)) = (3, 4) → (0.6, 0.8); the single window keeps its vector
    np.testing.assert_allclose(pooled, [[0.6, 0.8], [0.6, 0.8]], atol=1e-6)
    assert pooled.dtype == np.float32
