"""A toy embedder: words hashed into a vector. Deterministic, instant, needs no model; for tests, not for work.

It knows no meaning: two texts are near when they share words. `NORMRAG_MODEL=hash` selects it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from normrag_core.embedding.base import Cancel, EmbeddingCancelled, Progress

_WORD = re.compile(r"\w+(?:[.-]\w+)*")


class HashEmbedder:
    """Counts words into `dimension` signed buckets (the hashing trick) and normalises."""

    name = "hash (toy)"
    revision = "1"
    max_tokens = 1_000_000
    engine = "numpy"

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension

    def encode(self, texts: Sequence[str], progress: Progress | None = None, cancel: Cancel | None = None) -> np.ndarray:
        """(n, dimension) float32, rows L2-normalised; a text without words is the first unit vector."""
        if cancel and cancel():
            raise EmbeddingCancelled("cancelled before the first text")
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _WORD.findall(text.lower()):
                value = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
                row[value // 2 % self.dimension] += 1 if value % 2 else -1
            if not row.any():
                row[0] = 1
        if progress:
            progress(len(texts), len(texts))
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def encode_query(self, text: str) -> np.ndarray:
        """(dimension,) float32."""
        return self.encode([text])[0]

    def token_counts(self, texts: Sequence[str]) -> np.ndarray:
        """(n,) int64: words."""
        return np.array([len(_WORD.findall(t.lower())) for t in texts], dtype=np.int64)
