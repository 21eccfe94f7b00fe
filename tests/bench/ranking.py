"""BM25 against its peers, and what a moved slider costs."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np

from normrag_core.chunking import make_chunks
from normrag_core.config import PRESETS
from normrag_core.dense import held_as
from normrag_core.model import Chunk
from normrag_core.retriever import Retriever
from normrag_core.tokenize import tokenize
from tests.bench import material
from tests.bench.table import Row, Section, best_ms, median_ms, peer, seconds

SLID = PRESETS["chunked-smoothed"].config
SLIDERS = {
    "α": {"alpha": 0.55},
    "N": {"prefilter_n": 120},
    "k": {"rrf_k": 20},
    "top K": {"top_k": 30},
    "expansion": {"expansion": True},
}


def bm25(full: bool) -> Section:
    """A tokenised query, top 100, median over the questions."""
    import bm25s
    from rank_bm25 import BM25Okapi

    config = PRESETS["bm25"].config
    corpus = material.corpus()
    chunks = make_chunks(corpus, config.chunking, config.max_words, config.context)
    tokens = [tokenize(f"{c.context}\n{c.text}", config.tokenizer, config.stem) for c in chunks]
    queries = [tokenize(q, config.tokenizer, config.stem) for q in material.questions()]
    retriever = Retriever(corpus)
    ours = retriever.index(config).bm25(config)
    weighed = [retriever.terms(q, config) for q in material.questions()]
    okapi = BM25Okapi(tokens)
    fast = bm25s.BM25(method="atire", k1=1.5, b=0.75, backend="numpy")
    fast.index(tokens, show_progress=False)
    ours.top(weighed[0], 100)
    # In turns, the best of five for each query: what else the machine does falls on both alike.
    pairs = [
        (
            best_ms(lambda w=w: ours.top(w, 100)),
            best_ms(lambda q=q: fast.retrieve([q], k=100, show_progress=False, n_threads=0)),
        )
        for w, q in zip(weighed, queries, strict=True)
    ]
    mine, sparse = (statistics.median(column) for column in zip(*pairs, strict=True))
    theirs = median_ms([lambda q=q: okapi.get_scores(q) for q in queries[:20]])
    return Section(
        "BM25",
        f"{len(chunks):,} chunks of {material.name()}; one tokenised query, top 100, median of {len(queries)} queries.",
        (
            Row(
                "query",
                f"{mine:.3f} ms",
                f"{theirs:.1f} ms ({peer('rank-bm25')}, scores only)",
                f"{theirs / mine:.0f} ×",
                "≥ 50 ×",
                theirs >= 50 * mine,
                "a query that few chunks answer costs the peer less",
            ),
            Row(
                "query",
                f"{mine:.3f} ms",
                f"{sparse:.3f} ms ({peer('bm25s')}, numpy)",
                f"{sparse / mine:.1f} ×",
                "≥ 1 ×",
                sparse >= mine,
                "both add up one array a term: what is left is numpy's cost of a call",
            ),
        ),
    )


def sliders(full: bool) -> Section:
    """Time from a changed setting to the new ranking, vectors and postings in memory."""
    retriever = Retriever(material.corpus(), Fixed(384), Fixed(384).vectors)
    questions = material.questions()[:20]
    first = seconds(lambda: retriever.search(questions[0], SLID))
    chunks = len(retriever.chunks(SLID))
    return Section(
        "A moved slider",
        f"The whole search again after one setting changed; median over {len(questions)} questions. {material.name()}, "
        f"{chunks:,} chunks, generated vectors of 384 dimensions. The same at a million chunks is further below.",
        (
            Row("first search (builds postings and neighbours' means)", f"{first:.1f} s"),
            *moved(retriever, questions, 15.0),
        ),
    )


def moved(retriever: Retriever, questions: Sequence[str], limit: float) -> list[Row]:
    """A row a slider: milliseconds from the changed setting to the new ranking, and the limit it should keep."""
    for q in questions:
        retriever.search(q, SLID)
    rows = []
    for name, change in SLIDERS.items():
        config = SLID.with_(**change)
        retriever.search(questions[0], config)
        spent = median_ms([lambda q=q, c=config: retriever.search(q, c) for q in questions])
        rows.append(Row(name, f"{spent:.1f} ms", target=f"≤ {limit:g} ms", met=spent <= limit, limit=SLOW[name]))
    return rows


SLOW = {
    "α": "a new question, or other neighbours, would cost more; α itself costs the candidates only",
    "N": "BM25 adds up the postings of every term of the question; common words have the longest",
    "k": "BM25 is asked again where the last 64 questions did not include this one",
    "top K": "building the results that are shown",
    "expansion": "walking the neighbourhoods of the seeds, node by node in Python",
}


class Fixed:
    """Seeded random vectors: the time of a ranking does not depend on what they mean."""

    name, revision, max_tokens, engine = "random", "0", 512, "random"

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension

    def vectors(self, chunks: tuple[Chunk, ...]) -> np.ndarray:
        """(n, dimension), rows L2-normalised, in the type in which so many are held."""
        rng = np.random.default_rng(0)
        out = np.empty((len(chunks), self.dimension), dtype=held_as(len(chunks)))
        for start in range(0, len(out), 65_536):
            made = rng.standard_normal((min(65_536, len(out) - start), self.dimension), dtype=np.float32)
            out[start : start + len(made)] = made / np.linalg.norm(made, axis=1, keepdims=True)
        return out

    def encode_query(self, text: str) -> np.ndarray:
        """(dimension,) float32, L2-normalised."""
        made = np.random.default_rng(abs(hash(text)) % 2**32).standard_normal(self.dimension).astype(np.float32)
        return made / np.linalg.norm(made)
