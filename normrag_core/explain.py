"""Why a chunk is ranked where it is, in figures that add up. For a chunk that is not among the results see `why_not`.

Every explanation is worked out from the same functions as the ranking; a test holds the sums equal to the scores of the Trace.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from normrag_core.config import Relation
from normrag_core.expansion import best_seed, paper_terms, reach
from normrag_core.fusion import fusion_terms
from normrag_core.model import Chunk
from normrag_core.rerank import rerank_terms
from normrag_core.retriever import Retriever
from normrag_core.smoothing import neighbourhood, smooth
from normrag_core.trace import Stage, StageName, Trace, Via
from normrag_core.why_not import Fate, Remedy, WhyNot, why_not

__all__ = ["Explanation", "Fate", "Remedy", "WhyNot", "explain", "why_not"]


@dataclass(frozen=True, slots=True)
class TermShare:
    """One term's part of a BM25 score. text, context: occurrences in either field; idf as used, `floored` where it was
    negative and raised; asked: how often the question says the term."""

    term: str
    asked: float
    text: int
    context: int
    idf: float
    floored: bool
    share: float


@dataclass(frozen=True, slots=True)
class Bm25Part:
    """shares add up to score. missing: terms of the question that the chunk does not hold. length: in terms, as weighted.

    part: (number from 1, of how many) where the figures are those of a clause's best part, None where of the whole chunk.
    """

    score: float
    shares: tuple[TermShare, ...]
    missing: tuple[str, ...]
    length: float
    mean_length: float
    part: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class NeighbourShare:
    """One neighbour's part of a smoothed cosine. cosine: of the neighbour itself with the question."""

    index: int
    relations: tuple[Relation, ...]
    cosine: float
    share: float


@dataclass(frozen=True, slots=True)
class DensePart:
    """before: cosine of the plain vector; after: of the vector in use. own + the neighbours' shares = after.

    With more than one iteration the shares are those of the last one, and `own` is the chunk as the one before left it.
    """

    before: float
    after: float
    own: float
    neighbours: tuple[NeighbourShare, ...]


@dataclass(frozen=True, slots=True)
class RankShare:
    """One ranking's part of a fused score: weight / (k + rank), or weight times the z-normalised score."""

    stage: StageName
    rank: int
    score: float
    weight: float
    share: float


@dataclass(frozen=True, slots=True)
class FusionPart:
    """shares add up to score."""

    score: float
    shares: tuple[RankShare, ...]


@dataclass(frozen=True, slots=True)
class SeedShare:
    """One seed's part of an expansion score. Paper: question · similarity / degree. Best seed: `question` is the seed's fused
    score, `similarity` 1 and `degree` 1, and the share is weight times it."""

    seed: int
    question: float
    similarity: float
    degree: int
    share: float


@dataclass(frozen=True, slots=True)
class ExpansionPart:
    """own (the score it had before, which only the "best-seed" formula counts) + the seeds' shares = score."""

    score: float
    own: float
    shares: tuple[SeedShare, ...]
    via: tuple[Via, ...]


@dataclass(frozen=True, slots=True)
class RerankPart:
    """before + reading = score: the place it had among the results read, and what the cross-encoder made of it, both
    z-normalised over these results and weighted. stage, rank, given: where the first comes from."""

    score: float
    stage: StageName
    rank: int
    given: float
    before: float
    reading: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """All parts of one chunk's ranking; None for a stage that did not run or did not rank the chunk."""

    index: int
    chunk: Chunk
    rank: int | None
    bm25: Bm25Part | None
    dense: DensePart | None
    fusion: FusionPart | None
    expansion: ExpansionPart | None
    rerank: RerankPart | None = None


def explain(retriever: Retriever, trace: Trace, index: int) -> Explanation:
    """The ranking of the chunk with this index, whether or not it is among the results."""
    chunks = retriever.chunks(trace.config)
    if not 0 <= index < len(chunks):
        raise ValueError(f"chunk: expected an index below {len(chunks)}; found {index}")
    final = trace.final.position(index)
    ranked = {s.name for s in trace.stages if s.position(index)}
    return Explanation(
        index,
        chunks[index],
        final[0] if final else None,
        _bm25(retriever, trace, index) if trace.stage("bm25") else None,
        _dense(retriever, trace, index) if trace.query_vector is not None else None,
        _fusion(trace, index) if "fusion" in ranked else None,
        _expansion(retriever, trace, index) if "expansion" in ranked else None,
        _rerank(trace, index) if "rerank" in ranked else None,
    )


def _bm25(retriever: Retriever, trace: Trace, index: int) -> Bm25Part:
    """Also for a chunk beyond the prefilter: its score says how far beyond."""
    terms = retriever.terms(trace.question, trace.config)
    scorer, index, part = retriever.index(trace.config).bm25(trace.config).explained(terms, index)
    shares = []
    for term, share in scorer.contributions(terms, index).items():
        text, context = scorer.postings.counts(term, index)
        idf, floored = scorer.idf_of(term)
        shares.append(TermShare(term, terms[term], text, context, idf, floored, share))
    held = {s.term for s in shares}
    return Bm25Part(
        sum(s.share for s in shares),
        tuple(sorted(shares, key=lambda s: -s.share)),
        tuple(t for t in terms if t not in held),
        float(scorer.lengths[index]),
        float(scorer.lengths.mean()),
        part,
    )


def _dense(retriever: Retriever, trace: Trace, index: int) -> DensePart | None:
    over = retriever.index(trace.config)
    config, query = trace.config, trace.query_vector
    plain = over.vectors()
    if plain is None or query is None:
        return None
    wide = query.astype(np.float64)
    before = float(plain[index].astype(np.float64) @ wide)
    if not config.smoothing:
        return DensePart(before, before, before, ())
    # Vectors as the last iteration found them; with one iteration the plain ones.
    base = smooth(plain, over.adjacency, config.alpha, config.smoothing_relations, config.iterations - 1)
    around = neighbourhood(over.adjacency, index, config.smoothing_relations)
    own = base[index].astype(np.float64)
    if not around:
        after = float(own @ wide)
        return DensePart(before, after, after, ())
    rows = base[list(around)].astype(np.float64)
    length = float(np.linalg.norm(config.alpha * own + (1 - config.alpha) * rows.mean(axis=0))) or 1.0
    cosines = rows @ wide
    shares = (1 - config.alpha) * cosines / (len(rows) * length)
    neighbours = tuple(
        NeighbourShare(i, relations, float(c), float(s))
        for (i, relations), c, s in zip(around.items(), cosines, shares, strict=True)
    )
    kept = config.alpha * float(own @ wide) / length
    return DensePart(
        before, kept + float(shares.sum()), kept, tuple(sorted(neighbours, key=lambda n: (-abs(n.share), n.index)))
    )


def _fusion(trace: Trace, index: int) -> FusionPart:
    bm25, dense = trace.stage("bm25"), trace.stage("dense")
    assert bm25 is not None
    assert dense is not None
    order, terms = fusion_terms(trace.config, bm25, dense)
    at = int(np.searchsorted(order, index))
    shares = []
    weights = (trace.config.bm25_weight, trace.config.dense_weight)
    for stage, weight, share in zip((bm25, dense), weights, terms[:, at], strict=True):
        rank, score = stage.position(index) or (0, 0.0)
        shares.append(RankShare(stage.name, rank, score, weight, float(share)))
    return FusionPart(float(terms[:, at].sum()), tuple(shares))


def _expansion(retriever: Retriever, trace: Trace, index: int) -> ExpansionPart | None:
    config = trace.config
    over = retriever.index(config)
    before = _before(trace, "expansion")
    seeds = before.order[: config.seeds]
    allowed = None if trace.documents is None else over.mask(trace.documents)
    reached, _ = reach(over.adjacency, seeds.tolist(), config.hops, config.expansion_relations, allowed)
    via = tuple(reached.get(index, ()))
    if index not in reached and index not in seeds:
        return None  # beyond the expanded set: it kept its place
    if config.formula == "best-seed":
        fused = dict(zip(before.order.tolist(), before.scores.tolist(), strict=True))
        own = fused.get(index, 0.0)
        if not via:
            return ExpansionPart(own, own, (), via)
        seed = best_seed(via, fused)
        share = config.expansion_weight * fused[seed]
        return ExpansionPart(own + share, own, (SeedShare(seed, fused[seed], 1.0, 1, share),), via)
    used = over.in_use(config)
    assert used is not None
    assert trace.query_vector is not None
    similarity = used.cosines(trace.query_vector, seeds)
    degree = int(over.adjacency.degree[index])
    terms = paper_terms(used.rows, similarity, seeds, np.array([index]), over.adjacency.degree)[0]
    shares = tuple(
        SeedShare(int(s), float(q), float(t * degree / q) if q else 0.0, degree, float(t))
        for s, q, t in zip(seeds, similarity, terms, strict=True)
    )
    return ExpansionPart(float(terms.sum()), 0.0, shares, via)


def _rerank(trace: Trace, index: int) -> RerankPart | None:
    before = _before(trace, "rerank")
    head = before.scores[: trace.config.rerank_n]
    rank, given = before.position(index) or (0, 0.0)
    if rank > len(head):
        return None  # behind the results that were read: it kept its place
    final = trace.stage("rerank")
    assert final is not None
    _, score = final.position(index) or (0, 0.0)
    own = float(rerank_terms(head, head, trace.config.rerank_weight)[0, rank - 1])
    return RerankPart(score, before.name, rank, given, own, score - own)


def _before(trace: Trace, name: StageName) -> Stage:
    """The stage that ran before the one of this name."""
    return trace.stages[[s.name for s in trace.stages].index(name) - 1]
