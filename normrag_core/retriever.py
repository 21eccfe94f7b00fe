"""Runs the stages in the paper's order and returns a Trace: for every chunk its rank and score at every stage.

question ─ bm25 prefilter ▶ dense ▶ fusion (▶ expansion) (▶ rerank) (▶ edition)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from functools import lru_cache
from time import perf_counter
from typing import TypeVar

import numpy as np

from normrag_core.abbreviations import WEIGHT, Abbreviations
from normrag_core.bm25 import weigh
from normrag_core.cache import Cache
from normrag_core.chunking import passage
from normrag_core.config import DEFAULT_PRESET, PRESETS, RELATIONS, Relation, RetrieverConfig
from normrag_core.embedding.base import Embedder
from normrag_core.expansion import best_seed_scores, paper_terms, reach
from normrag_core.fusion import fusion_terms
from normrag_core.graph import Graph
from normrag_core.index import ChunkIndex, Vectors, VectorsInUse
from normrag_core.model import Chunk, Corpus
from normrag_core.parts import Parts
from normrag_core.rerank import Reranker, installed, read, rerank_terms
from normrag_core.selection import best, places_of
from normrag_core.tokenize import tokenize
from normrag_core.trace import Result, Stage, StageName, Trace, Via

DEEP = 2000  # Candidates of one question; more are not kept for the next search.
T = TypeVar("T")
INDEXES = 4  # Chunk lists kept at once; each holds postings and, where used, vectors.


class Retriever:
    """Searches one corpus under any configuration; what configurations have in common is built once and shared.

    vectors: gives the (n, dim) float32 vectors of a chunk list, rows L2-normalised, or None while they are not ready;
    without it the embedder is asked at first need. Without an embedder the dense stages are left out, and the Trace says so.
    reranker: the cross-encoder of the last stage; without it the one an optional package brings, where that is installed.
    parts: chunks and postings of single documents, to share with the retriever over the corpus before or after.
    """

    def __init__(
        self,
        corpus: Corpus,
        embedder: Embedder | None = None,
        vectors: Vectors | None = None,
        reranker: Reranker | None = None,
        parts: Parts | None = None,
    ) -> None:
        self.corpus = corpus
        self._parts = parts or Parts()
        self.graph = Graph.of(corpus)
        self.abbreviations = Abbreviations(corpus)
        self.embedder = embedder
        self.reranker = reranker
        self._vectors = vectors or (self._embed if embedder else None)
        self._indexes = Cache(INDEXES)
        self._queries = Cache(512)
        self._installed = Cache(1)

    def index(self, config: RetrieverConfig) -> ChunkIndex:
        """The chunk list of a configuration with all that is made from it."""

        def build() -> ChunkIndex:
            chunks = self._parts.chunks(self.corpus, config.chunking, limit, config.context)
            return ChunkIndex(chunks, self.graph, self.corpus.documents, self._vectors, self._parts, self.index)

        # The limit on words says nothing about whole units: one index for all its values.
        limit = 0 if config.chunking == "structured" else config.max_words
        return self._indexes.get((config.chunking, limit, config.context), build)

    def chunks(self, config: RetrieverConfig) -> tuple[Chunk, ...]:
        """What is ranked under a configuration; indices in a Trace are places in it."""
        return self.index(config).chunks

    def neighbours(self, chunk: int, config: RetrieverConfig) -> dict[Relation, list[int]]:
        """Chunk indices next to a chunk, by relation."""
        adjacency = self.index(config).adjacency
        return {relation: adjacency.neighbours(chunk, relation).tolist() for relation in RELATIONS}

    def terms(self, question: str, config: RetrieverConfig) -> dict[str, float]:
        """What BM25 looks for: term → weight, in order of first occurrence."""
        named: list[str] = []
        if config.name_weight:
            question, named = self.index(config).named.split(question)
        terms = weigh(tokenize(question, config.tokenizer, config.stem)) | dict.fromkeys(named, config.name_weight)
        if config.expand_abbreviations:
            for text in self.abbreviations.beside(question):
                for term in tokenize(text, config.tokenizer, config.stem):
                    terms.setdefault(term, WEIGHT)
        return terms

    def query_vector(self, question: str) -> np.ndarray | None:
        """(dim,) vector of a question, kept; None without an embedder."""
        if self.embedder is None:
            return None
        embedder = self.embedder
        return self._queries.get(question, lambda: embedder.encode_query(question))

    def cross_encoder(self) -> Reranker | str:
        """The one given, else the one an optional package brings, loaded at first need; where there is none, why not."""
        if self.reranker is not None:
            return self.reranker

        return self._installed.get("cross-encoder", installed)

    def search(
        self, question: str, config: RetrieverConfig | None = None, *, documents: Collection[str] | None = None
    ) -> Trace:
        """Ranks the corpus for a question. documents: keys of the documents to search in; None for all."""
        return _Search(self, question, config or PRESETS[DEFAULT_PRESET].config, documents).run()

    def _embed(self, chunks: Sequence[Chunk]) -> np.ndarray | None:
        return self.embedder.encode([passage(c) for c in chunks]) if self.embedder else None


class _Search:
    """One run through the stages. `order` and `scores` are the ranking so far, best first."""

    def __init__(self, retriever: Retriever, question: str, config: RetrieverConfig, documents: Collection[str] | None) -> None:
        self.retriever = retriever
        self.question = question
        self.config = config
        self.documents = None if documents is None else tuple(sorted(documents))
        self.milliseconds: dict[str, float] = {}
        self.notes: list[str] = []
        self.stages: list[Stage] = []
        self.started = perf_counter()
        self.index = retriever.index(config)
        self.allowed = None if documents is None else self.index.mask(documents)
        self.rankable = self.index.rankable(config, documents)
        self.reached: dict[int, list[Via]] = {}
        self.seeds: list[int] = []
        self.query: np.ndarray | None = None
        self.used: VectorsInUse | None = None
        self.terms: dict[str, float] = {}

    def run(self) -> Trace:
        config = self.config
        if self._wants_vectors():
            self._prepare_vectors()
        if config.uses_bm25 or self.used is None:
            self._bm25()
        if config.uses_dense and self.used is not None:
            self._dense()
        if config.ranking in ("rrf", "weighted"):
            self._fuse()
        if config.expansion:
            self._expand()
        if config.rerank_n:
            self._rerank()
        if config.edition_preference == "latest":
            self._prefer_latest()
        return self._trace()

    def _wants_vectors(self) -> bool:
        return self.config.uses_dense or (self.config.expansion and self.config.formula == "paper")

    def _prepare_vectors(self) -> None:
        began = perf_counter()
        used = self.index.in_use(self.config)
        self.milliseconds["vectors"] = 1000 * (perf_counter() - began)
        began = perf_counter()
        self.query = self.retriever.query_vector(self.question) if used is not None else None
        self.milliseconds["encode"] = 1000 * (perf_counter() - began)
        self.used = used if self.query is not None else None
        if self.used is None and self.config.uses_dense:
            why = "no embedding model" if self.retriever.embedder is None else "vectors not ready"
            self.notes.append(f"dense stage skipped: {why}")

    def _bm25(self) -> None:
        began = perf_counter()
        prefilter = _prefilter(self.config)

        def search() -> tuple[dict[str, float], np.ndarray, np.ndarray]:
            terms = self.retriever.terms(self.question, prefilter)
            return terms, *self.index.bm25(prefilter).top(terms, prefilter.prefilter_n, self.rankable)

        # A slider over α or a weight, or a sweep, asks for the same candidates again and again.
        asked = (self.question, prefilter, self.documents)
        self.terms, order, scores = self._kept(asked, search)
        if not len(order):
            self.notes.append("no word of the question stands in the text searched")
        self._done("bm25", order, scores, began)

    def _kept(self, asked: Hashable, search: Callable[[], T]) -> T:
        """What an earlier search found for the same, else what is found now. Rankings of the whole corpus are not kept."""
        return self.index.recent.get(asked, search) if self.config.depth <= DEEP else search()

    def _dense(self) -> None:
        began = perf_counter()
        assert self.used is not None
        assert self.query is not None
        before = self.stages[-1].order if self.stages else np.zeros(0, dtype=np.int64)
        if len(before):
            candidates = np.sort(before)  # Ties are broken by index, not by the order of the prefilter.
            used, query = self.used, self.query
            asked = (self.question, _prefilter(self.config), self.documents, used.name)
            products = self._kept(asked, lambda: used.products(query, candidates))
            scores = used.mixed(products, candidates)
            order = best(scores, len(candidates))
        else:
            # Asked for, or the prefilter found nothing at all (a question in other words): the whole corpus.
            if self.config.uses_bm25:
                self.notes.append("the prefilter found nothing, so cosine ranks all of it")
            candidates = np.arange(len(self.index)) if self.rankable is None else np.flatnonzero(self.rankable)
            scores = self.index.all_cosines(self.config, self.query, self.question)[candidates]
            order = best(scores, self.config.depth)
        self._done("dense", candidates[order], scores[order], began)

    def _fuse(self) -> None:
        began = perf_counter()
        bm25, dense = (next((s for s in self.stages if s.name == n and len(s.order)), None) for n in ("bm25", "dense"))
        if bm25 is None or dense is None:
            return
        order, terms = fusion_terms(self.config, bm25, dense)
        scores = terms.sum(axis=0)
        kept = best(scores, len(scores))
        self._done("fusion", order[kept], scores[kept], began)

    def _expand(self) -> None:
        began = perf_counter()
        before = self.stages[-1]
        config = self.config
        if config.formula == "paper" and self.used is None:
            self.notes.append("expansion skipped: its formula needs vectors")
            return
        seeds = before.order[: config.seeds]
        relations = config.expansion_relations
        self.reached, cut = reach(self.index.adjacency, seeds.tolist(), config.hops, relations, self.allowed)
        if cut:
            self.notes.append(f"expansion stopped at {len(self.reached)} neighbours")
        self.seeds = seeds.tolist()
        nodes = np.union1d(seeds, np.fromiter(self.reached, dtype=np.int64, count=len(self.reached)))
        if config.formula == "paper":
            assert self.used is not None
            assert self.query is not None
            similarity = self.used.cosines(self.query, seeds)
            scores = paper_terms(self.used.rows, similarity, seeds, nodes, self.index.adjacency.degree).sum(axis=1)
        else:
            fused = dict(zip(before.order.tolist(), before.scores.tolist(), strict=True))
            scores = best_seed_scores(nodes.tolist(), self.reached, fused, config.expansion_weight)
        kept = best(scores, len(scores))
        rest = ~np.isin(before.order, nodes)
        order = np.concatenate([nodes[kept], before.order[rest]])
        self._done("expansion", order, np.concatenate([scores[kept], before.scores[rest]]), began)

    def _rerank(self) -> None:
        began = perf_counter()
        reranker = self.retriever.cross_encoder()
        if isinstance(reranker, str):
            self.notes.append(f"rerank stage skipped: {reranker}")
            return
        before = self.stages[-1]
        head, tail = before.order[: self.config.rerank_n], before.order[self.config.rerank_n :]
        texts = [passage(self.index.chunks[i]) for i in head]
        given = read(reranker, self.question, texts)
        scores = rerank_terms(before.scores[: len(head)], given, self.config.rerank_weight).sum(axis=0)
        order = np.argsort(-scores, kind="stable")
        scores = np.concatenate([scores[order], before.scores[len(head) :]])
        self._done("rerank", np.concatenate([head[order], tail]), scores, began)

    def _prefer_latest(self) -> None:
        began = perf_counter()
        before = self.stages[-1]
        old = self.index.superseded[before.order]
        if old.any():
            parts = [np.flatnonzero(~old), np.flatnonzero(old)]
            order = np.concatenate(parts)
            self._done("edition", before.order[order], before.scores[order], began)

    def _done(self, name: StageName, order: np.ndarray, scores: np.ndarray, began: float) -> None:
        spent = 1000 * (perf_counter() - began)
        self.milliseconds[name] = spent
        self.stages.append(Stage(name, order.astype(np.int64), scores.astype(np.float64), spent))

    def _trace(self) -> Trace:
        final = self.stages[-1]
        top = final.order[: self.config.top_k]
        places = {stage.name: places_of(stage.order, top) for stage in self.stages}
        seeds = set(self.seeds)
        results = tuple(
            Result(
                rank=i + 1,
                index=int(chunk),
                chunk=self.index.chunks[chunk],
                score=float(final.scores[i]),
                ranks={s.name: (int(at) + 1, float(s.scores[at])) for s in self.stages if (at := places[s.name][i]) >= 0},
                role="seed" if chunk in seeds else "neighbour" if chunk in self.reached else "",
                via=tuple(self.reached.get(int(chunk), ())),
            )
            for i, chunk in enumerate(top)
        )
        self.milliseconds["total"] = 1000 * (perf_counter() - self.started)
        return Trace(
            self.question,
            self.config,
            results,
            tuple(self.stages),
            tuple(self.terms),
            self.query,
            tuple(self.notes),
            self.milliseconds,
            self.documents,
        )


@lru_cache(1024)
def _prefilter(config: RetrieverConfig) -> RetrieverConfig:
    return config.prefilter
