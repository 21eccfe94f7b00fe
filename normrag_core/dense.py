"""Module 5, the dense re-ranker: cosine of the question with each candidate. Vectors are L2-normalised, so a dot product."""

from __future__ import annotations

import numpy as np

HALF_FROM = 200_000
"""Vectors of so many chunks and more are held as float16, as the store keeps them: a million of 384 dimensions take 0.8 GB
instead of 1.5, their neighbours' means as much again. It moves a cosine by about 1e-5; see docs/benchmarks.md for the ranks."""
BLOCK = 512  # Rows widened at once: as float32 they fit the processor's cache.
_SIGN_AND_VALUE = np.int32(0x8FFFE000 - 2**32)  # What is left of the sign's copies, the exponent and the mantissa.


def held_as(chunks: int) -> type[np.floating]:
    """The type in which the vectors of so many chunks are held in memory."""
    return np.float16 if chunks >= HALF_FROM else np.float32


def cosines(vectors: np.ndarray, query: np.ndarray, candidates: np.ndarray | None = None) -> np.ndarray:
    """(n,) float64 cosines of the candidates (chunk indices; None for all rows) with the question.

    vectors: (n_chunks, dim), rows L2-normalised, float32 or a smaller float; may be memory-mapped. query: (dim,).
    """
    asked = query.astype(np.float32)
    rows = vectors if candidates is None else vectors[candidates]
    if rows.dtype == np.float32:
        return (rows @ asked).astype(np.float64)
    return _half_products(rows, asked) if rows.dtype == np.float16 else (rows.astype(np.float32) @ asked).astype(np.float64)


def _half_products(rows: np.ndarray, query: np.ndarray) -> np.ndarray:
    """(n,) float64 products of float16 rows with a float32 question, as exact as after `astype`, in a fifth of its time.

    A float16's exponent and mantissa, moved 13 bits up below the sign, are a float32 that is 2^112 times too small (the
    biases of the exponents are 15 and 127); the question makes up for that. Holds for finite numbers.
    """
    bits, scaled = rows.view(np.int16), query * np.float32(2.0**112)
    out = np.empty(len(rows))
    for start in range(0, len(rows), BLOCK):
        wide = bits[start : start + BLOCK].astype(np.int32)
        wide <<= 13
        wide &= _SIGN_AND_VALUE
        out[start : start + BLOCK] = wide.view(np.float32) @ scaled
    return out
