"""Where a configuration ranked each goal: the only thing the metrics see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Outcome:
    """One row a question, one column a goal (padded to the longest).

    ranks: (q, g) float64, first rank from 1 of a result that satisfies the goal; inf where none does; nan where the question
    has fewer goals. words: (q, g) float64, words to read, results taken in order, up to and including that result; same
    padding. citation: (q,) bool, whether the question needs both a citing (first goal) and a cited clause (last goal).
    wrong: (q, w) float64, ranks of the results judged wrong, padded with inf; a row of nan where nothing was judged.
    """

    ranks: np.ndarray
    words: np.ndarray
    citation: np.ndarray
    wrong: np.ndarray

    @classmethod
    def of(
        cls,
        ranks: Sequence[Sequence[int | None]],
        words: Sequence[Sequence[int | None]] | None = None,
        citation: Sequence[bool] | None = None,
        wrong: Sequence[Sequence[int] | None] | None = None,
    ) -> Outcome:
        """From lists with None for a goal that was not found. Without `words` nothing can be said about words read.

        wrong: None for a question about which nothing was judged wrong.
        """
        judged = wrong if wrong is not None else [None] * len(ranks)
        width = max((len(w) for w in judged if w is not None), default=0) + 1
        return cls(
            _padded(ranks),
            _padded(words if words is not None else [[None] * len(r) for r in ranks]),
            np.array(citation if citation is not None else [False] * len(ranks), dtype=bool),
            _padded([[] if w is None else [*w, *[None] * (width - len(w))] for w in judged], width),
        )

    @property
    def goals(self) -> np.ndarray:
        """(q,) int64: |G|, the number of goals of each question."""
        return (~np.isnan(self.ranks)).sum(axis=1)

    def take(self, questions: np.ndarray) -> Outcome:
        """The outcome of some questions only (indices or a mask)."""
        return Outcome(self.ranks[questions], self.words[questions], self.citation[questions], self.wrong[questions])


def first_ranks(order: np.ndarray, goals: Sequence[np.ndarray], n_chunks: int) -> list[int | None]:
    """First rank from 1 at which each goal is satisfied. order: (n,) chunk indices, best first. goals: hits of each goal."""
    position = np.full(n_chunks, np.iinfo(np.int64).max, dtype=np.int64)
    position[order] = np.arange(len(order))
    found: list[int | None] = []
    for chunks in goals:
        best = int(position[chunks].min()) if chunks.size else n_chunks
        found.append(best + 1 if best < len(order) else None)
    return found


def _padded(rows: Sequence[Sequence[int | None]], width: int = 0) -> np.ndarray:
    width = max((len(r) for r in rows), default=0) or width
    table = np.full((len(rows), width), np.nan)
    for i, row in enumerate(rows):
        table[i, : len(row)] = [np.inf if v is None else v for v in row]
    return table
