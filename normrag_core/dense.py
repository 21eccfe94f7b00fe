"""Module 5, the dense re-ranker: cosine of the question with each candidate. Vectors are L2-normalised, so a dot product."""

from __future__ import annotations

import numpy as np


def cosines(vectors: np.ndarray, query: np.ndarray, candidates: np.ndarray | None = None) -> np.ndarray:
    """(n,) float64 cosines of the candidates (chunk indices; None for all rows) with the question.

    vectors: (n_chunks, dim), rows L2-normalised, float32 or a smaller float; may be memory-mapped. query: (dim,).
    """
    rows = vectors if candidates is None else vectors[candidates]
    if rows.dtype != np.float32:
        rows = rows.astype(np.float32)
    return (rows @ query.astype(np.float32)).astype(np.float64)
