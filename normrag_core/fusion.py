"""Module 6: two orders of the same candidates made one, by reciprocal rank or by weighted scores.

Reciprocal Rank Fusion: Cormack, Clarke and Buettcher, SIGIR 2009. Ranks count from 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from normrag_core.config import RetrieverConfig
from normrag_core.selection import ranks
from normrag_core.trace import Stage


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


def fusion_terms(config: RetrieverConfig, bm25: Stage, dense: Stage) -> tuple[np.ndarray, np.ndarray]:
    """(chunk indices in rising order (n,), terms (2, n)): what BM25 and cosine add to each candidate's fused score."""
    by_bm25, by_dense = np.argsort(bm25.order), np.argsort(dense.order)
    scores = (bm25.scores[by_bm25], dense.scores[by_dense])
    weights = (config.bm25_weight, config.dense_weight)
    terms = rrf_terms(scores, config.rrf_k, weights) if config.ranking == "rrf" else weighted_terms(scores, weights)
    return bm25.order[by_bm25], terms
