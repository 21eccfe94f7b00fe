"""Module 4, the BM25 prefilter: postings in numpy arrays, and Okapi scores equal to those of `rank_bm25.BM25Okapi`.

The text and the context of a chunk are two fields of one posting. A context word counts `context_weight` times a word of
the text, in the term frequency and in the length; at weight 1 that is BM25 over both strung together (the idea of BM25F,
Robertson, Zaragoza and Taylor 2004). Weights and parameters can change without tokenising again.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from normrag_core.selection import best

EPSILON = 0.25  # rank_bm25's floor: a negative idf becomes EPSILON times the mean idf of the vocabulary.
STRETCH = 2_000_000  # Terms counted at once, which bounds the memory that sorting them takes.
EAGER_POSTINGS = 20_000_000  # Up to here (160 MB) the score of every posting is worked out once, beforehand.


@dataclass(frozen=True, slots=True)
class Postings:
    """Which chunk holds which term how often: n chunks, v terms, p postings; chunk indices rise within a term.

    vocabulary: term → its number. starts: (v + 1,) int64; the postings of term t are `starts[t]:starts[t + 1]`.
    chunks: (p,) int32. text, context: (p,) uint16 occurrences in either field. text_lengths, context_lengths: (n,) int64
    in terms.
    """

    vocabulary: dict[str, int]
    starts: np.ndarray
    chunks: np.ndarray
    text: np.ndarray
    context: np.ndarray
    text_lengths: np.ndarray
    context_lengths: np.ndarray

    def __len__(self) -> int:
        return len(self.text_lengths)

    def of_term(self, term: str) -> slice:
        """Where the postings of a term stand; an empty stretch for a term that no chunk holds."""
        number = self.vocabulary.get(term)
        return slice(0, 0) if number is None else slice(int(self.starts[number]), int(self.starts[number + 1]))

    def counts(self, term: str, chunk: int) -> tuple[int, int]:
        """How often one chunk holds a term: (in its text, in its context)."""
        where = self.of_term(term)
        at = where.start + int(np.searchsorted(self.chunks[where], chunk))
        if at == where.stop or self.chunks[at] != chunk:
            return 0, 0
        return int(self.text[at]), int(self.context[at])

    @classmethod
    def of(cls, fields: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Postings:
        """Postings of (terms of the text, terms of the context), one pair a chunk."""
        numbers = _Numbers()
        text_lengths, context_lengths = array("q"), array("q")
        ids, stretches = array("i"), [_NO_STRETCH]
        begun = 0  # the first chunk whose terms are in `ids`: text, context, text, context, ...
        for own, beside in fields:
            ids.extend(map(numbers.__getitem__, own))
            ids.extend(map(numbers.__getitem__, beside))
            text_lengths.append(len(own))
            context_lengths.append(len(beside))
            if len(ids) >= STRETCH:
                stretches.append(_count(ids, text_lengths[begun:], context_lengths[begun:], begun))
                ids, begun = array("i"), len(text_lengths)
        stretches.append(_count(ids, text_lengths[begun:], context_lengths[begun:], begun))
        terms, chunks, text, context = (np.concatenate(column) for column in zip(*stretches, strict=True))
        order = np.argsort(terms, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(terms, minlength=len(numbers)))]).astype(np.int64)
        return cls(
            dict(numbers),
            starts,
            chunks[order],
            text[order],
            context[order],
            np.array(text_lengths, dtype=np.int64),
            np.array(context_lengths, dtype=np.int64),
        )


class _Numbers(dict[str, int]):
    """Term → its number, given when it is first asked for."""

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        return number


_Stretch = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
_NO_STRETCH: _Stretch = tuple(np.zeros(0, dtype=t) for t in (np.int32, np.int32, np.uint16, np.uint16))  # type: ignore[assignment]


def _count(ids: array[int], text_lengths: array[int], context_lengths: array[int], first: int) -> _Stretch:
    """(term, chunk, occurrences in the text, in the context) of the postings of some chunks in a row, by chunk.

    ids: numbers of the terms, of each chunk its text's and then its context's. first: number of the first chunk.
    """
    chunks = np.arange(first, first + len(text_lengths), dtype=np.int64)
    lengths = np.stack([np.array(text_lengths, dtype=np.int64), np.array(context_lengths, dtype=np.int64)], axis=1)
    # One number for term and chunk: sorting it counts both at once.
    places = np.repeat(np.repeat(chunks, 2) << 32, lengths.ravel()) | np.array(ids, dtype=np.int64)
    in_context = np.repeat(np.tile([False, True], len(chunks)), lengths.ravel())
    postings, posting_of = np.unique(places, return_inverse=True)
    both = np.bincount(posting_of, minlength=len(postings))
    context = np.bincount(posting_of[in_context], minlength=len(postings))
    most = np.iinfo(np.uint16).max
    return (
        (postings & 0xFFFFFFFF).astype(np.int32),
        (postings >> 32).astype(np.int32),
        np.minimum(both - context, most).astype(np.uint16),
        np.minimum(context, most).astype(np.uint16),
    )


class Bm25:
    """Okapi scores over postings with one set of parameters.

    score(q, d) = Σ_t idf(t) · f·(k1 + 1) / (f + k1·(1 − b + b·|d|/avgdl)), f = f_text + context_weight·f_context, and |d|
    likewise; idf(t) = ln(n − df + 0.5) − ln(df + 0.5), negative ones replaced by EPSILON times the mean idf. idf_power other
    than 1 bends it, see `bent`.
    """

    def __init__(
        self, postings: Postings, k1: float = 1.5, b: float = 0.75, context_weight: float = 1.0, idf_power: float = 1.0
    ) -> None:
        self.postings = postings
        self.k1 = k1
        self.context_weight = context_weight
        self.idf_power = idf_power
        lengths = postings.text_lengths + context_weight * postings.context_lengths
        mean = lengths.mean() if len(lengths) else 0.0
        self.lengths = lengths
        self.norms = k1 * (1 - b + b * lengths / mean) if mean > 0 else np.full(len(lengths), k1)
        self.idf, self._raised = self._idf()
        small = len(postings.chunks) <= EAGER_POSTINGS
        self._eager = self._impacts(slice(None)) * np.repeat(self.idf, np.diff(postings.starts)) if small else None

    def _idf(self) -> tuple[np.ndarray, np.ndarray]:
        """(idf (v,) float64, which were raised (v,) bool). A term of contexts only is none of the corpus at weight 0."""
        postings = self.postings
        if self.context_weight > 0:
            frequency = np.diff(postings.starts).astype(np.float64)
        else:
            known = np.concatenate([[0], np.cumsum(postings.text > 0)])
            frequency = np.diff(known[postings.starts]).astype(np.float64)
        idf = np.log(len(postings) - frequency + 0.5) - np.log(frequency + 0.5)
        idf[frequency == 0] = 0.0
        negative = idf < 0
        if negative.any():
            idf[negative] = EPSILON * idf.sum() / np.count_nonzero(frequency)
        return bent(idf, len(postings), self.idf_power), negative

    def idf_of(self, term: str) -> tuple[float, bool]:
        """(idf as used, whether it was negative and raised) of a term in the vocabulary."""
        number = self.postings.vocabulary[term]
        return float(self.idf[number]), bool(self._raised[number])

    def _impacts(self, where: slice) -> np.ndarray:
        """Tf part of the score of a stretch of postings, float64, without the idf."""
        postings = self.postings
        frequency = postings.text[where].astype(np.float64)
        if self.context_weight > 0:
            frequency += self.context_weight * postings.context[where]
        below = frequency + self.norms[postings.chunks[where]]
        # k1 = 0 makes a posting of weight 0 0/0; it scores nothing.
        return np.divide(frequency * (self.k1 + 1), below, out=np.zeros_like(frequency), where=below > 0)

    def _term_scores(self, term: str, weight: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """(chunks that hold the term, rising; what it adds to the score of each), both empty for an unknown term."""
        where = self.postings.of_term(term)
        if self._eager is not None:
            scores = self._eager[where]
        elif where.start == where.stop:
            scores = np.zeros(0)
        else:
            scores = self.idf[self.postings.vocabulary[term]] * self._impacts(where)
        return self.postings.chunks[where], scores if weight == 1 else weight * scores

    def scores(self, weights: Mapping[str, float]) -> np.ndarray:
        """(n,) float64 scores of all chunks. weights: term → how often the question says it, see `weigh`."""
        found = [self._term_scores(term, weight) for term, weight in weights.items()]
        if not found:
            return np.zeros(len(self.postings))
        chunks = np.concatenate([c for c, _ in found])
        return np.bincount(chunks, np.concatenate([s for _, s in found]), minlength=len(self.postings))

    def top(self, weights: Mapping[str, float], n: int, allowed: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The best n chunks that hold a term of the question: (indices, scores), best first, ties by index.

        allowed: (n_chunks,) bool, the chunks to choose from; None for all.
        """
        return pick(self.scores(weights), lambda: self.holders(weights), n, allowed)

    def holders(self, terms: Iterable[str]) -> np.ndarray:
        """(m,) int64: chunks that hold any of the terms, rising."""
        held = [self._term_scores(term)[0] for term in terms]
        return np.unique(np.concatenate(held)).astype(np.int64) if held else np.zeros(0, dtype=np.int64)

    def knows(self, term: str) -> bool:
        """Whether any chunk holds the term."""
        return term in self.postings.vocabulary

    def holds(self, term: str, chunk: int) -> bool:
        """Whether a chunk holds the term, in its text or its context."""
        return any(self.postings.counts(term, chunk))

    def explained(self, weights: Mapping[str, float], chunk: int) -> tuple[Bm25, int, tuple[int, int] | None]:
        """Whose contributions make the chunk's score: this scorer's to the chunk itself. See `BestPartBm25`."""
        return self, chunk, None

    def contributions(self, weights: Mapping[str, float], chunk: int) -> dict[str, float]:
        """Term → its share of the chunk's score; the shares add up to it. Terms the chunk does not hold are left out."""
        out: dict[str, float] = {}
        for term, weight in weights.items():
            chunks, scores = self._term_scores(term, weight)
            at = int(np.searchsorted(chunks, chunk))
            if at < len(chunks) and chunks[at] == chunk:
                out[term] = float(scores[at])
        return out


def pick(
    scores: np.ndarray, holders: Callable[[], np.ndarray], n: int, allowed: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """The best n of the chunks with a score: (indices, scores), best first, ties by index.

    holders: the chunks that hold a term of the question, asked for where fewer than n have a score.
    """
    hits = np.flatnonzero(scores)
    if len(hits) < n:
        # In a small corpus idf can be exactly 0: a chunk that holds the term is a hit all the same.
        hits = holders()
    if allowed is not None:
        hits = hits[allowed[hits]]
    kept = hits[best(scores[hits], n)]
    return kept, scores[kept]


def bent(idf: np.ndarray, n: int, power: float) -> np.ndarray:
    """highest · (idf / highest)^power, where highest is the idf of a term that one of the n chunks holds; ours.

    A question in somebody's own words has rare words by accident, and Okapi's idf lets one of them outweigh several that the
    right clause does hold. A power below 1 draws the weights together; the rarest keep theirs, idf 0 stays 0.
    """
    highest = float(np.log(n - 0.5) - np.log(1.5)) if n > 2 else 0.0
    if power == 1.0 or highest <= 0:
        return idf
    return np.where(idf > 0, highest * (np.maximum(idf, 0) / highest) ** power, idf)


def weigh(terms: Iterable[str]) -> dict[str, float]:
    """Question terms with their number of occurrences, in order of first occurrence."""
    return dict(Counter(terms))
