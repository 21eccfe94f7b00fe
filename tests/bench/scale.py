"""How ranking grows with the corpus, up to a million generated chunks of 384 dimensions, and the sliders at that size."""

from __future__ import annotations

import gc
import resource
import sys
from collections.abc import Callable
from functools import partial

import numpy as np
import psutil

from normrag_core.config import PRESETS
from normrag_core.dense import HALF_FROM
from normrag_core.evaluation.questions import Question, Witness
from normrag_core.evaluation.runs import run
from normrag_core.retriever import Retriever
from tests.bench.generated import million
from tests.bench.ranking import moved
from tests.bench.table import Row, Section, growth_row, median_ms, seconds

SIZES = (10_000, 100_000, 1_000_000)
BASE = PRESETS["chunked-smoothed"].config
BUILDS: dict[str, Callable[[Retriever], object]] = {
    "postings": lambda r: r.index(BASE).bm25(BASE),
    "graph over the chunks": lambda r: [r.index(BASE).adjacency.degree, r.index(BASE).adjacency.members],
    "smoothing (neighbours' means)": lambda r: r.index(BASE).in_use(BASE),
}
QUERIES = {
    "query (BM25, smoothed cosine, fusion)": BASE,
    "the same, α moved": BASE.with_(alpha=0.4),
    "query with expansion": BASE.with_(expansion=True),
    "cosine alone, over all chunks": PRESETS["dense"].config,
}
LIMITS = {
    "index: smoothing (neighbours' means)": f"from {HALF_FROM:,} chunks on vectors are float16, and widening them doubles the "
    "work, which is done once",
    "cosine alone, over all chunks": "the vectors of few chunks fit the processor's cache, those of many wait for memory",
}


def scale(full: bool) -> tuple[Section, ...]:
    """Growth of every step, and at the largest size the sliders and the memory. Runs best in a process of its own."""
    times: dict[str, list[float]] = {}
    memory: list[float] = []
    sliders: list[Row] = []
    for size in SIZES:
        retriever, questions = million(np.random.default_rng(0), size)
        inputs = _resident()
        times.setdefault("index: chunks", []).append(seconds(partial(retriever.index, BASE)))
        retriever.index(BASE).vectors()  # drawing them is no work of ours
        for name, work in BUILDS.items():
            times.setdefault(f"index: {name}", []).append(seconds(partial(work, retriever)))
        for name, config in QUERIES.items():
            retriever.search(questions[0], config)
            spent = median_ms([partial(retriever.search, q, config) for q in questions[1:]])
            times.setdefault(name, []).append(spent / 1000)
        asked = _judged(retriever, questions)
        times.setdefault("evaluation of one preset, 20 questions", []).append(
            seconds(lambda r=retriever, a=asked: run(r, a, {"base": BASE}, (10,)))  # type: ignore[misc]
        )
        gc.collect()
        memory.append(_resident())
        if size == SIZES[-1]:
            sliders = moved(retriever, questions, 150.0)
        del retriever, asked
        gc.collect()
    rows = [growth_row(name, SIZES, spent, LIMITS.get(name, "")) for name, spent in times.items()]
    rows.append(
        Row(
            "resident memory",
            ", ".join(f"{m:.2f} GB" for m in memory),
            target=f"≤ 8 GB at {SIZES[-1]:,}",
            met=memory[-1] <= 8.0,
            limit="clauses, chunks and their texts are Python objects: about half of it, before the first vector",
        )
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e9 if sys.platform == "darwin" else 1e6)
    rows.append(Row("peak of the process", f"{peak:.2f} GB"))
    rows.append(Row("resident memory a chunk at the largest size", f"{memory[-1] / SIZES[-1] * 1e6:.1f} kB"))
    sizes = ", ".join(f"{s:,}" for s in SIZES)
    return (
        Section(
            "Growth with the number of chunks",
            f"Generated clauses of 25 words in trees, {sizes} chunks, vectors of 384 dimensions. Each step at each size, "
            "and the exponent b of the fit time ~ size^b: 1 is linear, 0 does not grow.",
            tuple(rows),
            (
                "The memory is all of the process at that size: generated clauses, chunks, postings, vectors and neighbours' "
                f"means; {inputs:.2f} GB of it at {SIZES[-1]:,} are the clauses themselves, before anything was indexed.",
                "A query takes BM25's best 200 and looks at the vectors of these alone; only cosine alone reads all vectors.",
            ),
        ),
        Section(
            f"A moved slider at {SIZES[-1]:,} chunks",
            "The whole search again after one setting changed; median over 20 questions; vectors and postings in memory.",
            tuple(sliders),
        ),
    )


def _judged(retriever: Retriever, questions: tuple[str, ...]) -> list[Question]:
    """The questions, each with the text of one clause for its witness."""
    units = [u for u in retriever.corpus.units if u.body]
    step = len(units) // len(questions)
    pairs = zip(questions, units[::step], strict=False)
    return [Question(f"q{i}", q, witnesses=(Witness(u.body, u.document),)) for i, (q, u) in enumerate(pairs)]


def _resident() -> float:
    """Gigabytes of this process."""
    return float(psutil.Process().memory_info().rss) / 1e9
