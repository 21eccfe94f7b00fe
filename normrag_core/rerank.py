"""The last stage, where one is given: a cross-encoder reads question and chunk together and re-orders the first results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np


class Reranker(Protocol):
    """Anything that can say how well texts answer a question."""

    name: str

    def score(self, question: str, texts: Sequence[str]) -> np.ndarray:
        """(len(texts),) scores, higher is better; any scale."""
        ...


def rerank(reranker: Reranker, question: str, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """(positions, scores) of the texts, best first; equal scores keep the order given."""
    scores = np.asarray(reranker.score(question, texts), dtype=np.float64)
    if scores.shape != (len(texts),):
        raise ValueError(f"reranker {reranker.name}: expected {len(texts)} scores; found shape {scores.shape}")
    order = np.argsort(-scores, kind="stable")
    return order, scores[order]
