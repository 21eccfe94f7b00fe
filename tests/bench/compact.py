"""Vectors in fewer bytes: what float16 and int8 with re-scoring save, what they cost in time and what they lose."""

from __future__ import annotations

import numpy as np

from normrag_core.dense import HALF_FROM, cosines
from normrag_core.selection import best
from tests.bench.table import Row, Section, median_ms

SIZE, DIMENSION, CENTRES, QUESTIONS = 200_000, 384, 2_000, 30
BLOCK = 512
RESCORED = 100


def compact(full: bool) -> Section:
    """Cosine over all of many generated vectors in clusters, which lie as close as clauses of one subject do."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((CENTRES, DIMENSION), dtype=np.float32)
    wide = centres[rng.integers(0, CENTRES, SIZE)] + 0.7 * rng.standard_normal((SIZE, DIMENSION), dtype=np.float32)
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    queries = wide[rng.integers(0, SIZE, QUESTIONS)] + 0.05 * rng.standard_normal((QUESTIONS, DIMENSION), dtype=np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    half = wide.astype(np.float16)
    scales = np.abs(wide).max(axis=1) / np.float32(127)
    bytes_ = np.round(wide / scales[:, None]).astype(np.int8)

    def rescored(query: np.ndarray) -> np.ndarray:
        near = best(_by_blocks(bytes_, query) * scales, RESCORED)
        return near[best(cosines(half, query, near), 10)]

    def in_bytes(query: np.ndarray) -> np.ndarray:
        return best(_by_blocks(bytes_, query) * scales, 10)

    ways = {
        "float32": lambda q: best(cosines(wide, q), 10),
        f"float16 (taken from {HALF_FROM:,} chunks)": lambda q: best(cosines(half, q), 10),
        "int8, a scale for each vector": in_bytes,
        f"int8, the first {RESCORED} re-scored in float16": rescored,
    }
    sizes = dict(zip(ways, (4, 2, 1, 3), strict=True))
    exact = [set(ways["float32"](q).tolist()) for q in queries]
    rows = []
    for name, way in ways.items():
        overlap = np.mean([len(e & set(way(q).tolist())) / 10 for e, q in zip(exact, queries, strict=True)])
        spent = median_ms([lambda q=q, w=way: w(q) for q in queries])  # type: ignore[misc]
        saved = f"{sizes[name] * DIMENSION / 1000:.2f} GB a million"
        rows.append(Row(name, f"{saved}, {spent:.1f} ms over all", ratio=f"overlap@10 {overlap:.3f}"))
    return Section(
        "Vectors in fewer bytes",
        f"{SIZE:,} generated vectors of {DIMENSION} dimensions in {CENTRES:,} clusters, {QUESTIONS} questions near one of "
        "them; the best ten by cosine over all vectors, against those of float32.",
        tuple(rows),
        (
            f"Below {HALF_FROM:,} chunks vectors are float32. From there on they, and the means of their neighbours, are "
            "float16: smoothing stays exact for the values as held.",
            "int8 was not taken: without re-scoring it loses the most, and re-scoring needs the float16 vectors beside it, so "
            "that it saves no memory. Memory-mapped files were not taken: shared mode promises to write nothing.",
        ),
    )


def _by_blocks(rows: np.ndarray, query: np.ndarray) -> np.ndarray:
    """(n,) float32 products with the question, widened block by block."""
    out = np.empty(len(rows), dtype=np.float32)
    for start in range(0, len(rows), BLOCK):
        out[start : start + BLOCK] = rows[start : start + BLOCK].astype(np.float32) @ query
    return out
