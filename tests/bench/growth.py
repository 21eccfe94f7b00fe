"""How cost grows with the corpus: index, query, smoothing, expansion over generated chunks; memory; the graph at size."""

from __future__ import annotations

import gc
import resource

import numpy as np
import psutil

from normrag_core.config import PRESETS
from normrag_core.graph import analysis, views
from normrag_core.graph.table import CitationTable
from tests.bench.generated import corpus, million
from tests.bench.table import Row, Section, exponent, median_ms, seconds


def growth(full: bool) -> Section:
    """At 10,000 and 100,000 chunks, with full also at a million."""
    sizes = (10_000, 100_000, 1_000_000) if full else (3_000, 10_000, 30_000)
    base = PRESETS["chunked-smoothed"].config
    kinds = {
        "index (chunks, postings, neighbours' means)": None,
        "query": base,
        "query, new α": base.with_(alpha=0.4),
        "query with expansion": base.with_(expansion=True),
    }
    times: dict[str, list[float]] = {k: [] for k in kinds}
    memory = []
    for size in sizes:
        retriever, questions = million(np.random.default_rng(0), size)
        for name, config in kinds.items():
            if config is None:
                times[name].append(seconds(lambda r=retriever, q=questions: r.search(q[0], base)))
            else:
                retriever.search(questions[0], config)
                works = [lambda r=retriever, c=config, q=q: r.search(q, c) for q in questions]
                times[name].append(median_ms(works) / 1000)
        memory.append(psutil.Process().memory_info().rss / 1e9)
        del retriever
        gc.collect()
    rows = [
        Row(
            name,
            ", ".join(f"{1000 * t:.1f} ms" if t < 1 else f"{t:.1f} s" for t in spent),
            ratio=f"size^{exponent(sizes, spent):.2f}",
            target="at most linear",
            met=exponent(sizes, spent) <= 1.15,
        )
        for name, spent in times.items()
    ]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    rows.append(Row("resident memory of the process", ", ".join(f"{m:.1f} GB" for m in memory) + f"; peak {peak:.1f} GB"))
    if full:
        rows[-1] = Row(rows[-1].what, rows[-1].ours, target="≤ 8 GB at 1,000,000", met=memory[-1] <= 8.0)
    return Section(
        "Growth",
        f"Generated clauses of 25 words in trees, {', '.join(f'{s:,}' for s in sizes)} chunks, 384 dimensions, float32.",
        tuple(rows),
    )


def graph(full: bool) -> Section:
    """The core of the graph page over 50,000 units and 200,000 citations."""
    large = corpus(50, 50_000, 200_000)
    made: list[CitationTable] = []
    works = {
        "index arrays": lambda: made.append(CitationTable.of(large)),
        "standards view": lambda: views.documents_view(made[0]),
        "the same, one standard opened": lambda: views.documents_view(made[0], opened=[f"{large.documents[3].key}#"]),
        "clause tree": lambda: views.hierarchy_view(made[0], large.documents[0].key),
        "around a clause, 2 hops": lambda: views.neighbourhood_view(made[0], large.units[500].id, 2),
        "matrix": lambda: views.matrix(made[0]),
        "broken reference report": lambda: analysis.broken_references(large),
        "PageRank": lambda: analysis.centrality(made[0], "pagerank"),
        "betweenness (sampled)": lambda: analysis.centrality(made[0], "betweenness"),
    }
    return Section(
        "Graph",
        "50,000 generated units in 50 standards, 200,000 citations.",
        tuple(Row(name, f"{seconds(work):.2f} s") for name, work in works.items()),
    )
