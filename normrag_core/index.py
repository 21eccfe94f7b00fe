"""Everything made from one chunk list and kept for all searches over it: postings, vectors, neighbours' means.

What a setting changes decides what is built again: chunking or context a new index, the tokeniser new postings, the relations
new means; α, N, k, top K and the expansion nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from normrag_core.best_part import BestPartBm25
from normrag_core.bm25 import Bm25, Postings
from normrag_core.cache import Cache
from normrag_core.config import RetrieverConfig, Tokenizer
from normrag_core.dense import cosines
from normrag_core.graph import Graph
from normrag_core.graph.adjacency import Adjacency, chunk_adjacency
from normrag_core.model import Chunk, Document
from normrag_core.named import NamedDocuments, NamingBm25
from normrag_core.parts import Parts, merge
from normrag_core.smoothing import Means, neighbour_means, smooth, smoothed_cosines, smoothed_rows

PRODUCTS = 2_000_000
"""Cosines kept (16 MB): an evaluation asks the same questions again and again, under one setting after the other."""

RECENT = 64
"""Candidates of questions kept, and what vectors say of them, for the next search with other weights."""

Vectors = Callable[[Sequence[Chunk]], "np.ndarray | None"]


@dataclass(frozen=True, slots=True)
class VectorsInUse:
    """The vectors that a configuration ranks by: `plain` as they are, or mixed with the neighbours' means by alpha.

    name: what tells these matrices from the others of the index; α is no part of it.
    """

    plain: np.ndarray
    means: Means | None = None
    alpha: float = 1.0
    name: Hashable = "plain"

    def cosines(self, query: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        """(m,) float64 cosine of the question with each candidate."""
        return self.mixed(self.products(query, candidates), candidates)

    def products(self, query: np.ndarray, candidates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(m,) float64 each: q·e and q·m of the candidates, which α does not change; q·e twice without smoothing."""
        own = cosines(self.plain, query, candidates)
        return own, own if self.means is None else cosines(self.means.means, query, candidates)

    def mixed(self, products: tuple[np.ndarray, np.ndarray], candidates: np.ndarray) -> np.ndarray:
        """(m,) float64 cosines, from the products of these candidates."""
        own, mean = products
        return own if self.means is None else smoothed_cosines(self.means, own, mean, candidates, self.alpha)

    def rows(self, chunks: np.ndarray) -> np.ndarray:
        """(m, dim) float32 vectors of some chunks, L2-normalised."""
        if self.means is None:
            return np.asarray(self.plain[chunks], dtype=np.float32)
        return smoothed_rows(self.plain, self.means, chunks, self.alpha)


class ChunkIndex:
    """One chunk list with what is derived from it. index_of: gives the index of another configuration over the same corpus."""

    def __init__(
        self,
        chunks: tuple[Chunk, ...],
        graph: Graph,
        documents: Sequence[Document],
        vectors: Vectors | None,
        parts: Parts | None = None,
        index_of: Callable[[RetrieverConfig], ChunkIndex] | None = None,
    ) -> None:
        self.chunks = chunks
        self._parts = parts or Parts()
        self._index_of = index_of
        self.graph = graph
        self.documents = documents
        self._vectors = vectors
        self._cache = Cache(limit=32)
        self._ready = Cache(limit=1)  # Apart, so that waiting for vectors does not hold up lexical search.
        self._large = Cache(limit=3)  # Matrices of the size of the vectors.
        self.recent = Cache(limit=RECENT)
        self._products = Cache(limit=max(8, PRODUCTS // max(1, len(chunks))))

    def __len__(self) -> int:
        return len(self.chunks)

    @cached_property
    def adjacency(self) -> Adjacency:
        return chunk_adjacency(self.graph.adjacency, self.graph.index, self.chunks)

    @cached_property
    def named(self) -> NamedDocuments:
        return NamedDocuments(self.documents)

    @cached_property
    def named_chunks(self) -> dict[str, np.ndarray]:
        """Term of a named document → its chunks, rising."""
        number = {d.key: i for i, d in enumerate(self.documents)}
        members = {term: [number[key] for key in keys] for term, keys in self.named.keys.items()}
        return {term: np.flatnonzero(np.isin(self.document_numbers, held)) for term, held in members.items()}

    @cached_property
    def document_numbers(self) -> np.ndarray:
        """(n,) int32: each chunk's document as its place in `documents`."""
        number = {d.key: i for i, d in enumerate(self.documents)}
        return np.array([number[c.document] for c in self.chunks], dtype=np.int32)

    @cached_property
    def superseded(self) -> np.ndarray:
        """(n,) bool: chunks of documents of which a later edition is loaded."""
        latest: dict[str, Document] = {}
        for document in self.documents:
            if document.id not in latest or edition(document) > edition(latest[document.id]):
                latest[document.id] = document
        old = np.array([edition(d) < edition(latest[d.id]) for d in self.documents], dtype=bool)
        return old[self.document_numbers] if len(self) else np.zeros(0, dtype=bool)

    def mask(self, documents: Collection[str]) -> np.ndarray:
        """(n,) bool: chunks of the documents with these keys."""
        wanted = frozenset(documents)
        chosen = np.array([d.key in wanted for d in self.documents], dtype=bool)
        return self._cache.get(("mask", wanted), lambda: chosen[self.document_numbers])

    @cached_property
    def with_text(self) -> np.ndarray:
        """(n,) bool: chunks that hold more than a heading."""
        return np.array([bool(c.spans) or c.kind == "window" for c in self.chunks], dtype=bool)

    def rankable(self, config: RetrieverConfig, documents: Collection[str] | None) -> np.ndarray | None:
        """(n,) bool: chunks that a search may rank; None for all. documents: keys of those searched, None for all."""
        inside = None if documents is None else self.mask(documents)
        if config.headings:
            return inside
        return self.with_text if inside is None else inside & self.with_text

    def postings(self, tokenizer: Tokenizer, stem: bool) -> Postings:
        def build() -> Postings:
            by_key = {d.key: d for d in self.documents}
            runs = groupby(self.chunks, lambda c: c.document)
            return merge([self._parts.postings(by_key[key], tuple(run), tokenizer, stem) for key, run in runs])

        return self._cache.get(("postings", tokenizer, stem), build)

    def bm25(self, config: RetrieverConfig) -> Bm25 | BestPartBm25:
        """Scorer for the settings of module 4."""
        if config.best_part and config.chunking == "structured" and self._index_of is not None:
            split = config.prefilter.with_(chunking="structured+chunks", best_part=False, prefilter_n=1)
            over = self._index_of(split)
            return self._cache.get(("best part", split), lambda: BestPartBm25(over.plain_bm25(split), over.chunks))
        return self.plain_bm25(config)

    def plain_bm25(self, config: RetrieverConfig) -> Bm25:
        """Scorer of the chunks themselves."""
        postings = self.postings(config.tokenizer, config.stem)
        weights = config.bm25_k1, config.bm25_b, config.context_weight, config.idf_power

        def build() -> Bm25:
            if not config.name_weight:
                return Bm25(postings, *weights)
            return NamingBm25(postings, *weights, self.named_chunks)

        return self._cache.get(("bm25", config.tokenizer, config.stem, *weights, config.name_weight > 0), build)

    def vectors(self) -> np.ndarray | None:
        """(n, dim) vectors; None while they are not ready, in which case the next call asks again."""

        def ask() -> np.ndarray | None:
            found = self._vectors(self.chunks) if self._vectors and self.chunks else None
            if found is not None and len(found) != len(self.chunks):
                raise ValueError(f"expected one vector for each of {len(self.chunks)} chunks; found {len(found)}")
            return found

        return self._ready.get("vectors", ask)

    def in_use(self, config: RetrieverConfig) -> VectorsInUse | None:
        """Vectors as module 3 leaves them; None while there are none."""
        plain = self.vectors()
        if plain is None or not config.smoothing:
            return None if plain is None else VectorsInUse(plain)
        relations = config.smoothing_relations
        if config.iterations > 1:
            key = ("smoothed", relations, config.alpha, config.iterations)
            made = self._large.get(key, lambda: smooth(plain, self.adjacency, config.alpha, relations, config.iterations))
            return VectorsInUse(made, name=key)
        return VectorsInUse(plain, self.means(config), config.alpha, ("means", relations))

    def means(self, config: RetrieverConfig) -> Means:
        """Neighbours' means by the relations of the configuration; vectors must be there."""
        plain, relations = self.vectors(), config.smoothing_relations
        if plain is None:
            raise ValueError("neighbours' means: expected vectors; found none")
        return self._large.get(("means", relations), lambda: neighbour_means(plain, self.adjacency, relations))

    def all_cosines(self, config: RetrieverConfig, query: np.ndarray, question: str) -> np.ndarray:
        """(n,) float64 cosine of the question with every chunk. The products that α does not change are kept."""
        used = self.in_use(config)
        if used is None:
            raise ValueError("cosines: expected vectors; found none")
        if used.means is None:
            return self._products.get((used.name, question), lambda: cosines(used.plain, query))
        means = used.means
        own = self._products.get(("plain", question), lambda: cosines(used.plain, query))
        mean = self._products.get(("mean", config.smoothing_relations, question), lambda: cosines(means.means, query))
        return smoothed_cosines(means, own, mean, slice(None), config.alpha)


def edition(document: Document) -> tuple[tuple[int, ...], str]:
    """Sorts the editions of one document by version number, then date."""
    return tuple(int(n) for n in re.findall(r"\d+", document.version)), document.date
