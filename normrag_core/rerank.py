"""The last stage, where one is given: a cross-encoder reads question and chunk together and re-orders the first results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from normrag_core.fusion import weighted_terms


class Reranker(Protocol):
    """Anything that can say how well texts answer a question."""

    name: str

    def score(self, question: str, texts: Sequence[str]) -> np.ndarray:
        """(len(texts),) scores, higher is better; any scale."""
        ...


def rerank_terms(before: np.ndarray, given: np.ndarray, weight: float) -> np.ndarray:
    """(2, n) float64: (1 − weight) · z(score before) and weight · z(cross-encoder); the column sums are the new scores.

    Alone, a small cross-encoder trained on web questions orders clauses worse than what it is given; beside it, better.
    """
    return weighted_terms((before, given), (1 - weight, weight))


def read(reranker: Reranker, question: str, texts: Sequence[str]) -> np.ndarray:
    """(len(texts),) float64 scores of the cross-encoder."""
    scores = np.asarray(reranker.score(question, texts), dtype=np.float64)
    if scores.shape != (len(texts),):
        raise ValueError(f"reranker {reranker.name}: expected {len(texts)} scores; found shape {scores.shape}")
    return scores


def installed() -> Reranker | str:
    """The cross-encoder that an optional package brings; where there is none, why not."""
    from normrag_core.embedding.base import EmbeddingError
    from normrag_core.embedding.cross_encoder import CrossEncoder

    try:
        return CrossEncoder()
    except EmbeddingError as error:
        return str(error)
