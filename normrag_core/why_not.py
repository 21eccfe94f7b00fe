"""Why a chunk is not among the results: at which stage it fell out, and which setting, changed alone, would bring it in.

Nothing is guessed: each remedy is the outcome of a search with that setting, which costs milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from normrag_core.config import RANGES, ConfigError, RetrieverConfig
from normrag_core.retriever import Retriever
from normrag_core.trace import StageName, Trace

ALPHAS = tuple(round(a / 20, 2) for a in range(21))
RRF_KS = (1, 2, 5, 10, 20, 40, 60, 100, 200, 500, 1000)
DENSE_WEIGHTS = (0.0, 0.1, 0.25, 0.5, 2.0, 4.0, 10.0)


@dataclass(frozen=True, slots=True)
class Remedy:
    """Settings that, changed alone, bring the chunk to `rank`. low, high: the range of the first setting that does, where a
    range was scanned (α); both are its value otherwise."""

    changes: dict[str, Any]
    rank: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Fate:
    """What one stage did to the chunk. rank is None where it was not ranked; of: how many the stage ranked."""

    stage: StageName
    rank: int | None
    score: float | None
    of: int


@dataclass(frozen=True, slots=True)
class WhyNot:
    """rank: in the final ranking, None where it is not in it. fell: where it was lost, "" when it is a result: by the filter
    on documents, as a heading without text, in the BM25 prefilter, or behind the top K.

    bm25_rank: its place in the BM25 order of the whole corpus, None where it holds no word of the question.
    """

    index: int
    rank: int | None
    fell: Literal["", "filter", "heading", "bm25", "top_k"]
    fates: tuple[Fate, ...]
    bm25_rank: int | None
    remedies: tuple[Remedy, ...]


def why_not(retriever: Retriever, trace: Trace, index: int) -> WhyNot:
    """The way of one chunk through the stages of a search. index: its place in the chunk list of the configuration."""
    config = trace.config
    over = retriever.index(config)
    if not 0 <= index < len(over):
        raise ValueError(f"chunk: expected an index below {len(over)}; found {index}")
    fates = tuple(
        Fate(s.name, at[0] if (at := s.position(index)) else None, at[1] if at else None, len(s.order)) for s in trace.stages
    )
    outside = trace.documents is not None and not over.mask(trace.documents)[index]
    heading = not config.headings and not over.with_text[index]
    rank = None if outside else _final_rank(retriever, trace, index)
    bm25_rank = None if outside or heading else _bm25_rank(retriever, trace, index)
    fell: Literal["", "filter", "heading", "bm25", "top_k"]
    if outside:
        fell = "filter"
    elif rank is None:
        fell = "heading" if heading else "bm25"
    else:
        fell = "" if rank <= config.top_k else "top_k"
    remedies = () if fell in ("", "filter") else tuple(_remedies(retriever, trace, index, rank, bm25_rank))
    return WhyNot(index, rank, fell, fates, bm25_rank, remedies)


def _final_rank(retriever: Retriever, trace: Trace, index: int) -> int | None:
    """Rank in the final ranking. A ranking of the whole corpus is cut for the record; here it goes on to the end."""
    final = trace.final.position(index)
    config = trace.config
    if final is None and len(trace.stages[0].order) < len(retriever.chunks(config)) and config.ranking in ("bm25", "dense"):
        wide = config.with_(prefilter_n=int(RANGES["prefilter_n"][1]))
        final = retriever.search(trace.question, wide, documents=trace.documents).final.position(index)
    return final[0] if final else None


def _bm25_rank(retriever: Retriever, trace: Trace, index: int) -> int | None:
    over = retriever.index(trace.config)
    scorer = over.bm25(trace.config)
    terms = retriever.terms(trace.question, trace.config)
    if not scorer.contributions(terms, index):
        return None
    scores = scorer.scores(terms)
    rankable = over.rankable(trace.config, trace.documents)
    if rankable is not None:
        scores = np.where(rankable, scores, -np.inf)
    ahead = np.count_nonzero(scores > scores[index]) + np.count_nonzero(scores[:index] == scores[index])
    return int(ahead) + 1


def _remedies(retriever: Retriever, trace: Trace, index: int, rank: int | None, bm25_rank: int | None) -> Iterable[Remedy]:
    config = trace.config

    def reached(**changes: Any) -> int | None:
        """Rank of the chunk with settings changed, where that makes it a result."""
        try:
            changed = config.with_(**changes)
        except ConfigError:
            return None
        found = retriever.search(trace.question, changed, documents=trace.documents).final.position(index)
        return found[0] if found and found[0] <= changed.top_k else None

    if rank is not None and rank <= RANGES["top_k"][1]:
        yield Remedy({"top_k": rank}, rank)
    yield from _wider(config, bm25_rank, reached)
    if config.chunking != "vanilla" and config.uses_dense:
        yield from _alphas(config, reached)
    for changes in _alternatives(config):
        if found := reached(**changes):
            yield Remedy(changes, found)


def _wider(config: RetrieverConfig, bm25_rank: int | None, reached: Any) -> Iterable[Remedy]:
    """The smallest prefilter that lets the chunk in, alone or with as many more results as it takes."""
    if not config.uses_bm25 or bm25_rank is None or bm25_rank <= config.prefilter_n:
        return
    if found := reached(prefilter_n=bm25_rank):
        yield Remedy({"prefilter_n": bm25_rank}, found)
    elif found := reached(prefilter_n=bm25_rank, top_k=int(RANGES["top_k"][1])):
        yield Remedy({"prefilter_n": bm25_rank, "top_k": found}, found)


def _alphas(config: RetrieverConfig, reached: Any) -> Iterable[Remedy]:
    """Stretches of α, in steps of 0.05, in which the chunk is a result; each with its best rank."""
    run: list[tuple[float, int]] = []
    for alpha in (*ALPHAS, None):
        found = None if alpha is None else reached(alpha=alpha)
        if alpha is not None and found:
            run.append((alpha, found))
        elif run:
            best = min(run, key=lambda a: (a[1], abs(a[0] - config.alpha)))
            yield Remedy({"alpha": best[0]}, best[1], run[0][0], run[-1][0])
            run = []


def _alternatives(config: RetrieverConfig) -> Iterable[dict[str, Any]]:
    """Other settings worth trying one at a time, in the order in which a reader would; none that needs a new index."""
    if config.ranking == "rrf":
        yield from ({"rrf_k": k} for k in RRF_KS if k != config.rrf_k)
    if config.ranking in ("rrf", "weighted"):
        yield from ({"dense_weight": w} for w in DENSE_WEIGHTS if w != config.dense_weight)
    yield from ({"ranking": r} for r in ("bm25", "dense", "rrf") if r != config.ranking)
    if config.expansion:
        yield {"expansion": False}
    elif config.chunking != "vanilla":
        yield {"expansion": True, "formula": "best-seed"}
        yield {"expansion": True, "formula": "paper"}
    if not config.headings:
        yield {"headings": True}
    if config.edition_preference == "latest":
        yield {"edition_preference": "all"}
    if config.uses_bm25 and not config.name_weight:
        yield {"name_weight": 1.0}
