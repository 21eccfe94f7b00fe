"""Generated corpora and vectors of any size, seeded: for growth and scale, where no real corpus is large enough."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from normrag_core.model import Citation, Corpus, Document, InfoUnit
from normrag_core.retriever import Retriever


def corpus(documents: int, units: int, citations: int, seed: int = 0) -> Corpus:
    """A corpus of `units` clauses in trees of up to 30 clauses a level, with heavy-tailed citations (most hit few clauses)."""
    rng = np.random.default_rng(seed)
    each = max(1, units // documents)
    made_documents, made_units = [], []
    for d in range(documents):
        key = f"GS X {d:03} V1.1.1"
        name, pages = f"Generated standard {d}", each // 4 + 1
        made_documents.append(Document(key, f"GS X {d:03}", "V1.1.1", "2020-01", name, pages, "x.pdf"))
        made_units.append(InfoUnit(f"{key}#", key, "", "", f"Generated standard {d}", "document", None, 1))
        codes = [""]
        for i in range(1, each):
            parent = codes[(i - 1) // 30]
            code = f"{parent}.{(i - 1) % 30 + 1}".lstrip(".")
            codes.append(code)
            title = f"Requirement {i} of part {d}"
            made_units.append(InfoUnit(f"{key}#{code}", key, code, code, title, "clause", parent, i // 4 + 1, title))
    n = len(made_units)
    source = rng.integers(0, n, citations)
    target = np.minimum((n * rng.power(0.35, citations)).astype(int), n - 1)
    target = rng.permutation(n)[target]
    states = rng.choice(4, citations, p=[0.8, 0.05, 0.05, 0.1])
    names = ("resolved", "version-mismatch", "missing-clause", "not-loaded")
    made_citations = []
    for s, t, state in zip(source.tolist(), target.tolist(), states.tolist(), strict=True):
        unit = made_units[t]
        known = names[state] == "resolved"
        made_citations.append(
            Citation(
                source=made_units[s].id,
                page=1,
                start=0,
                end=5,
                text=f"clause {unit.code}",
                context="",
                document=unit.document.removesuffix(" V1.1.1") if names[state] != "not-loaded" else f"GS Y {t % 300:03}",
                code=unit.code,
                target=unit.id if known else None,
                state=names[state],
            )
        )
    return Corpus(tuple(made_documents), tuple(made_units), tuple(made_citations))


def million(rng: np.random.Generator, chunks: int = 1_000_000, dimension: int = 384) -> tuple[Retriever, tuple[str, ...]]:
    """A retriever over `chunks` generated clauses of about 25 words from a Zipf vocabulary, and 20 questions."""
    from tests.bench.ranking import Fixed

    documents, each = max(1, chunks // 1000), min(1000, chunks)
    words = np.array([f"w{i}" for i in range(200_000)])
    base = corpus(documents, documents * each, chunks // 5)
    drawn = np.minimum(rng.zipf(1.3, (len(base.units), 25)) - 1, len(words) - 1)
    units = tuple(replace(u, body=" ".join(words[d])) for u, d in zip(base.units, drawn, strict=True))
    fixed = Fixed(dimension)
    questions = tuple(" ".join(words[np.minimum(rng.zipf(1.3, 8) - 1 + 50, len(words) - 1)]) for _ in range(20))
    return Retriever(Corpus(base.documents, units, base.citations), fixed, fixed.vectors), questions
