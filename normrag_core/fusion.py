"""Module 6: two orders of the same candidates made one, by reciprocal rank or by weighted scores.

Reciprocal Rank Fusion: Cormack, Clarke and Buettcher, SIGIR 2009. Ranks count from 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from normrag_core.selection import ranks


def rrf_terms(scores: Sequence[np.ndarray], k: float, weights: Sequence[float]) -> np.ndarray:
    """(rankings, n) float64: weight_r / (k + rank_r(d)) of each ranking; the column sums are RRF(d)."""
    return np.stack([w / (k + ranks(s)) for s, w in zip(scores, weights, strict=True)])


def weighted_terms(scores: Sequence[np.ndarray], weights: Sequence[float]) -> np.ndarray:
    """(rankings, n) float64: weight_r · (score − mean) / standard deviation, over the candidates; 0 where all are equal."""
    terms = []
    for given, weight in zip(scores, weights, strict=True):
        spread = given.std() if len(given) else 0.0
        terms.append(weight * (given - given.mean()) / spread if spread > 0 else np.zeros(len(given)))
    return np.stack(terms)
