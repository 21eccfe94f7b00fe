"""Module 3: e_j ← α·e_j + (1−α)·mean{e_n : n ∈ N(j)}, then L2-normalised; no retraining.

N(j) is a set: a sibling that is also cited counts once. All means are taken from the old vectors (Jacobi). The mean of the
neighbours does not depend on α, so that a slider over α costs the candidates and not the corpus: with q the question, e a
vector and m the mean of its neighbours, the smoothed cosine is

    (α·q·e + (1−α)·q·m) / √(α²·‖e‖² + 2α(1−α)·e·m + (1−α)²·‖m‖²).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from normrag_core.config import Relation
from normrag_core.graph.adjacency import Adjacency

BLOCK = 65_536  # Rows worked on at once, so that temporary arrays stay small beside the vectors.
NARROW_BLOCK = 8_192  # Of float16 vectors, whose neighbours are widened to float32.


@dataclass(frozen=True, slots=True)
class Means:
    """The neighbours' means of a vector matrix, and what of the closed form depends on neither question nor α.

    means: (n, dim) of the vectors' type, float32 or float16; a node without neighbours has itself for its mean, so that it
    keeps its vector. counts: (n,) int64 neighbours. own, cross, norms: (n,) float64, ‖e‖², e·m and ‖m‖² of the values as held,
    so that the closed form is exact for float16 too.
    """

    means: np.ndarray
    counts: np.ndarray
    own: np.ndarray
    cross: np.ndarray
    norms: np.ndarray


def neighbour_means(vectors: np.ndarray, adjacency: Adjacency, relations: Sequence[Relation]) -> Means:
    """Means over the neighbours by the given relations. vectors: (n, dim) float32 or float16, rows L2-normalised."""
    if len(vectors) != len(adjacency):
        raise ValueError(f"expected one vector for each of {len(adjacency)} chunks; found {len(vectors)}")
    n, dim = vectors.shape
    edges, siblings = _neighbourhoods(adjacency, relations)
    group = adjacency.group
    counts = np.diff(edges.indptr).astype(np.int64)
    sums = np.zeros((0, dim), dtype=np.float32)
    if siblings:
        sums = _product(adjacency.members, vectors)
        sizes = np.diff(adjacency.members.indptr)
        counts[group >= 0] += sizes[group[group >= 0]] - 1
    means = np.empty((n, dim), dtype=np.float16 if vectors.dtype == np.float16 else np.float32)
    own, cross, norms = np.empty(n), np.empty(n), np.empty(n)
    for start in range(0, n, BLOCK):
        rows = slice(start, min(start + BLOCK, n))
        e = np.asarray(vectors[rows], dtype=np.float32)
        m = _product(edges[rows], vectors)
        if siblings:
            inside = group[rows] >= 0
            m[inside] += sums[group[rows][inside]] - e[inside]
        some = counts[rows] > 0
        m[some] /= counts[rows][some, None]
        m[~some] = e[~some]
        means[rows] = m
        m = np.asarray(means[rows], dtype=np.float32)
        own[rows] = np.einsum("ij,ij->i", e, e)
        cross[rows] = np.einsum("ij,ij->i", e, m)
        norms[rows] = np.einsum("ij,ij->i", m, m)
    return Means(means, counts, own, cross, norms)


def _product(matrix: sparse.csr_array, vectors: np.ndarray) -> np.ndarray:
    """(rows, dim) float32, matrix · vectors. scipy cannot multiply float16, and only the vectors met are worth widening."""
    if vectors.dtype == np.float32:
        return matrix @ vectors
    out = np.empty((matrix.shape[0], vectors.shape[1]), dtype=np.float32)
    for start in range(0, len(out), NARROW_BLOCK):
        part = matrix[start : start + NARROW_BLOCK]
        met, places = np.unique(part.indices, return_inverse=True)
        narrow = sparse.csr_array((part.data, places, part.indptr), shape=(part.shape[0], len(met)))
        out[start : start + NARROW_BLOCK] = narrow @ vectors[met].astype(np.float32)
    return out


def neighbourhood(adjacency: Adjacency, node: int, relations: Sequence[Relation]) -> dict[int, tuple[Relation, ...]]:
    """N(node): neighbour → the relations it is one by."""
    out: dict[int, tuple[Relation, ...]] = {}
    for relation in relations:
        for neighbour in adjacency.neighbours(node, relation):
            out[int(neighbour)] = (*out.get(int(neighbour), ()), relation)
    return out


def _neighbourhoods(adjacency: Adjacency, relations: Sequence[Relation]) -> tuple[sparse.csr_array, bool]:
    """(edges as float32 CSR, whether siblings count). Edges between siblings are left out where siblings count anyway."""
    siblings = "sibling" in relations
    edges = adjacency.union([r for r in relations if r != "sibling"]).tocoo()
    rows, columns = edges.coords
    if siblings:
        apart = (adjacency.group[rows] < 0) | (adjacency.group[rows] != adjacency.group[columns])
        rows, columns = rows[apart], columns[apart]
    ones = np.ones(len(rows), dtype=np.float32)
    return sparse.csr_array((ones, (rows, columns)), shape=(len(adjacency), len(adjacency))), siblings


def smoothed_cosines(
    means: Means, query_own: np.ndarray, query_mean: np.ndarray, rows: np.ndarray | slice, alpha: float
) -> np.ndarray:
    """(m,) float64 closed form for some rows. query_own, query_mean: q·e and q·m of these rows."""
    above = alpha * query_own + (1 - alpha) * query_mean
    below = alpha**2 * means.own[rows] + 2 * alpha * (1 - alpha) * means.cross[rows] + (1 - alpha) ** 2 * means.norms[rows]
    # Opposite vectors can cancel out; such a chunk points nowhere and is like nothing.
    return np.divide(above, np.sqrt(np.maximum(below, 0)), out=np.zeros_like(above), where=below > 1e-12)


def smoothed_rows(vectors: np.ndarray, means: Means, rows: np.ndarray | slice, alpha: float) -> np.ndarray:
    """(m, dim) float32 smoothed vectors of some rows, L2-normalised."""
    mixed = alpha * np.asarray(vectors[rows], dtype=np.float32) + (1 - alpha) * np.asarray(means.means[rows], dtype=np.float32)
    return normalised(mixed)


def smooth(
    vectors: np.ndarray, adjacency: Adjacency, alpha: float, relations: Sequence[Relation], iterations: int = 1
) -> np.ndarray:
    """(n, dim) float32 smoothed vectors, L2-normalised after each iteration; α = 1 gives the very matrix that came in."""
    if alpha == 1.0:
        return vectors
    for _ in range(iterations):
        vectors = smoothed_rows(vectors, neighbour_means(vectors, adjacency, relations), slice(None), alpha)
    return vectors


def normalised(rows: np.ndarray) -> np.ndarray:
    """Rows at length 1; rows of length 0 stay."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return (rows / np.where(lengths > 1e-6, lengths, 1)[:, None]).astype(np.float32)
