"""Texts longer than the model's limit: cut into windows of even length whose vectors are averaged by their tokens.

A 300-word clause is about 490 tokens; all-MiniLM-L6-v2 reads 256. Cutting would drop half of it without a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np


def split(tokens: Sequence[int], limit: int) -> list[Sequence[int]]:
    """Windows of at most `limit` tokens, as few as possible and as even as possible, in order. [] gives one empty one.

    Even windows: a text one token over the limit must not end in a window of one token that weighs nothing.
    """
    if limit < 1:
        raise ValueError(f"limit: expected at least 1 token a window; found {limit}")
    count = max(1, -(-len(tokens) // limit))
    edges = [len(tokens) * i // count for i in range(count + 1)]
    return [tokens[a:b] for a, b in pairwise(edges)]


def pool(vectors: np.ndarray, owners: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
    """Token-weighted mean of window vectors, L2-normalised.

    vectors: (n_windows, dim) float32, rows L2-normalised; owners: (n_windows,) index of each window's text; weights:
    (n_windows,) tokens; count: number of texts. Returns (count, dim) float32. A text with one window keeps its vector.
    """
    total = np.zeros((count, vectors.shape[1]), np.float32)
    np.add.at(total, owners, vectors * np.maximum(weights, 1)[:, None].astype(np.float32))
    norm = np.linalg.norm(total, axis=1, keepdims=True)
    return total / np.maximum(norm, 1e-12)
