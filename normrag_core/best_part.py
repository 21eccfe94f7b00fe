"""BM25 of whole clauses, each as good as its best part: a long clause is not held back for all that it says beside the answer.

Parts are those of the split clauses, their heads left out; a clause within the limit is its own part. Callan, "Passage-level
evidence in document retrieval", SIGIR 1994. Ours, not the paper's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from normrag_core.bm25 import Bm25, pick
from normrag_core.model import Chunk


class BestPartBm25:
    """Scores of clauses from a scorer over their parts.

    parts: the chunks that the scorer ranks, those of one clause in a row and the clauses in the order in which they are ranked.
    """

    def __init__(self, scorer: Bm25, parts: Sequence[Chunk]) -> None:
        self.scorer = scorer
        units = [c.unit for c in parts]
        self._starts = np.array([i for i, u in enumerate(units) if i == 0 or u != units[i - 1]], dtype=np.int64)
        self._heads = np.array([c.kind == "head" for c in parts], dtype=bool)

    def idf_of(self, term: str) -> tuple[float, bool]:
        """(idf as used, whether it was negative and raised), over the parts."""
        return self.scorer.idf_of(term)

    def knows(self, term: str) -> bool:
        """Whether any part holds the term."""
        return self.scorer.knows(term)

    def holds(self, term: str, chunk: int) -> bool:
        """Whether any part of the clause holds the term."""
        return any(self.scorer.holds(term, part) for part in self._parts(chunk))

    def scores(self, weights: Mapping[str, float]) -> np.ndarray:
        """(n,) float64: the best part's score of each clause."""
        if not len(self._starts):
            return np.zeros(0)
        scores = np.where(self._heads, -np.inf, self.scorer.scores(weights))
        return np.maximum.reduceat(scores, self._starts)

    def top(self, weights: Mapping[str, float], n: int, allowed: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """See `Bm25.top`."""
        return pick(self.scores(weights), lambda: self._clauses(self.scorer.holders(weights)), n, allowed)

    def contributions(self, weights: Mapping[str, float], chunk: int) -> dict[str, float]:
        """Term → its share of the score of the clause's best part."""
        return self.scorer.contributions(weights, self.explained(weights, chunk)[1])

    def explained(self, weights: Mapping[str, float], chunk: int) -> tuple[Bm25, int, tuple[int, int] | None]:
        """(the scorer of the parts, the best part's index in it, (its number from 1, of how many) of a split clause)."""
        parts = np.array(self._parts(chunk))
        scores = np.where(self._heads[parts], -np.inf, self.scorer.scores(weights)[parts])
        best = int(np.argmax(scores))
        # The first of several is the head.
        return self.scorer, int(parts[best]), (best, len(parts) - 1) if len(parts) > 1 else None

    def _parts(self, chunk: int) -> range:
        ends = [*self._starts[chunk + 1 : chunk + 2].tolist(), len(self._heads)]
        return range(int(self._starts[chunk]), ends[0])

    def _clauses(self, parts: np.ndarray) -> np.ndarray:
        return np.unique(np.searchsorted(self._starts, parts[~self._heads[parts]], side="right") - 1)
