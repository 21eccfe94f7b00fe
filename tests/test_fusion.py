"""Fused scores by hand."""

from __future__ import annotations

import numpy as np
import pytest

from normrag_core.fusion import rrf_terms, weighted_terms

BM25 = np.array([9.0, 4.0, 1.0])  # ranks 1, 2, 3
COSINE = np.array([0.2, 0.9, 0.4])  # ranks 3, 1, 2


def test_reciprocal_ranks_by_hand() -> None:
    fused = rrf_terms((BM25, COSINE), 60, (1, 1)).sum(axis=0)
    assert fused == pytest.approx([1 / 61 + 1 / 63, 1 / 62 + 1 / 61, 1 / 63 + 1 / 62], abs=1e-15)


def test_weights_scale_each_ranking() -> None:
    terms = rrf_terms((BM25, COSINE), 10, (2, 0.5))
    assert terms[0] == pytest.approx([2 / 11, 2 / 12, 2 / 13])
    assert terms[1] == pytest.approx([0.5 / 13, 0.5 / 11, 0.5 / 12])


def test_two_chunks_with_swapped_ranks_tie_exactly() -> None:
    fused = rrf_terms((np.array([2.0, 1.0]), np.array([1.0, 2.0])), 60, (1, 1)).sum(axis=0)
    assert fused[0] == fused[1]


def test_weighted_scores_are_z_normalised() -> None:
    terms = weighted_terms((np.array([1.0, 3.0]), np.array([5.0, 5.0])), (2, 1))
    assert terms.tolist() == [[-2.0, 2.0], [0.0, 0.0]]  # equal scores say nothing
