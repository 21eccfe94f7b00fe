"""Importance of units in the citation graph, by sparse linear algebra; tests hold each measure equal to networkx's."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array, diags_array

EXACT_UP_TO = 5_000
SOURCES = 64
BATCH = 64


def pagerank(links: csr_array, damping: float = 0.85, tolerance: float = 1e-9) -> np.ndarray:
    """PageRank (Page, Brin, Motwani, Winograd 1999) by power iteration: (n,) float64 that sums to 1.

    links: (n, n), links[i, j] > 0 where i cites j. A node that cites nothing passes its rank on to all.
    """
    n = links.shape[0]
    if n == 0:
        return np.zeros(0)
    out = np.asarray(links.sum(axis=1)).ravel()
    share = np.divide(1.0, out, out=np.zeros(n), where=out > 0)
    step = (diags_array(share) @ links).T.tocsr()
    rank = np.full(n, 1.0 / n)
    for _ in range(200):
        lost = rank[out == 0].sum()
        new = damping * (step @ rank + lost / n) + (1 - damping) / n
        if np.abs(new - rank).sum() < tolerance:
            return new
        rank = new
    return rank


def betweenness(links: csr_array, seed: int = 0) -> np.ndarray:
    """Shortest paths through each node (Brandes 2001, unweighted, directed), end points not counted: (n,) float64.

    Exact up to EXACT_UP_TO nodes with an edge; beyond, estimated from SOURCES seeded sources (Brandes and Pich 2007) and
    scaled up. Sources are walked in batches: one sparse product a level of the breadth first search serves them all.
    """
    n = links.shape[0]
    forward = csr_array((np.ones(links.nnz), links.indices, links.indptr), shape=links.shape).T.tocsr()
    backward = forward.T.tocsr()
    starts = np.flatnonzero(np.diff(links.indptr))
    scale = 1.0
    if len(starts) > EXACT_UP_TO:
        scale = len(starts) / SOURCES
        starts = np.sort(np.random.default_rng(seed).choice(starts, SOURCES, replace=False))
    total = np.zeros(n)
    for begin in range(0, len(starts), BATCH):
        total += _through(forward, backward, starts[begin : begin + BATCH], n)
    return total * scale


def _through(forward: csr_array, backward: csr_array, starts: np.ndarray, n: int) -> np.ndarray:
    """Summed dependencies of one batch of sources: (n,)."""
    columns = np.arange(len(starts))
    paths = np.zeros((n, len(starts)))
    paths[starts, columns] = 1.0
    seen = paths > 0
    levels = [paths.copy()]
    while True:
        reached = forward @ levels[-1]
        reached[seen] = 0.0
        if not reached.any():
            break
        seen |= reached > 0
        paths += reached
        levels.append(reached)
    dependency = np.zeros_like(paths)
    for above, level in reversed(list(pairwise(levels))):
        share = np.divide(1.0 + dependency, paths, out=np.zeros_like(paths), where=level > 0)
        dependency += (backward @ share) * above
    dependency[starts, columns] = 0.0
    return dependency.sum(axis=1)
