"""Picking the best n of many scores without sorting them all; equal scores keep index order, so that runs repeat."""

from __future__ import annotations

import numpy as np


def best(scores: np.ndarray, n: int) -> np.ndarray:
    """Positions of the n highest scores, best first, ties by position. scores: (m,); gives (min(n, m),) int64."""
    if not 0 < n < len(scores):
        return np.argsort(-scores, kind="stable")[:n]
    threshold = np.partition(scores, len(scores) - n)[len(scores) - n]
    above = np.flatnonzero(scores > threshold)
    at = np.flatnonzero(scores == threshold)[: n - len(above)]
    kept = np.concatenate([above, at])
    # `above` comes in position order and `at` ranks behind all of it, so a stable sort keeps ties in position order.
    return kept[np.argsort(-scores[kept], kind="stable")]


def ranks(scores: np.ndarray) -> np.ndarray:
    """(m,) int64 ranks from 1 by falling score, ties by position."""
    out = np.empty(len(scores), dtype=np.int64)
    out[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return out


def places_of(order: np.ndarray, chunks: np.ndarray) -> np.ndarray:
    """(len(chunks),) where in the order each chunk stands, -1 where it does not."""
    sorter = np.argsort(order)
    found = np.searchsorted(order, chunks, sorter=sorter)
    at = sorter[np.minimum(found, len(order) - 1)] if len(order) else np.zeros(len(chunks), dtype=np.int64)
    return np.where(order[at] == chunks, at, -1) if len(order) else at - 1
