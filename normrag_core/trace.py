"""The record of one search: what every stage did to every chunk. Pages and reports show it; nothing recomputes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from normrag_core.config import Relation, RetrieverConfig
from normrag_core.model import Chunk

StageName = Literal["bm25", "dense", "fusion", "expansion", "rerank", "edition"]


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage's ranking. order: (n,) int64 chunk indices, best first; scores: (n,) float64 in the same order.

    milliseconds: time of the stage alone. n is the number of chunks that the stage ranked, not the corpus size.
    """

    name: StageName
    order: np.ndarray
    scores: np.ndarray
    milliseconds: float = 0.0

    def position(self, chunk: int) -> tuple[int, float] | None:
        """(rank from 1, score) of the chunk with this index; None where the stage did not rank it."""
        hit = np.flatnonzero(self.order == chunk)
        return (int(hit[0]) + 1, float(self.scores[hit[0]])) if hit.size else None


@dataclass(frozen=True, slots=True)
class Via:
    """How expansion reached a chunk: from which seed (chunk index), by which relation of the first hop, in how many hops."""

    seed: int
    relation: Relation
    hops: int


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the final ranking. index: the chunk's place in the chunk list. ranks: stage → (rank, score)."""

    rank: int
    index: int
    chunk: Chunk
    score: float
    ranks: dict[str, tuple[int, float]]
    role: Literal["", "seed", "neighbour"] = ""
    via: tuple[Via, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """What a search did. results: the top K. stages: in the order they ran; the last one's order is the final ranking.

    query_tokens: what the BM25 stage looked for. notes: what the reader should know ("dense stage skipped: vectors not
    ready"). milliseconds: stage name → time, with "encode" for the question's embedding and "total". documents: keys of the
    documents searched, None for all.
    """

    question: str
    config: RetrieverConfig
    results: tuple[Result, ...]
    stages: tuple[Stage, ...]
    query_tokens: tuple[str, ...] = ()
    query_vector: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    milliseconds: dict[str, float] = field(default_factory=dict)
    documents: tuple[str, ...] | None = None

    @property
    def final(self) -> Stage:
        """The ranking that the results are the head of."""
        return self.stages[-1]

    def stage(self, name: str) -> Stage | None:
        """The stage of this name; None where it did not run."""
        return next((s for s in self.stages if s.name == name), None)
