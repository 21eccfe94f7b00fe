"""Generated corpora and vectors of any size, seeded: for growth and scale, where no real corpus is large enough."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

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


def write_standard(path: Path, pages: int, seed: int = 0) -> None:
    """A PDF in ETSI's layout: a cover, then five clauses a page in chapters of ten, each with a paragraph and a citation."""
    import pymupdf

    rng = np.random.default_rng(seed)
    words = [
        f"{a}{b}" for a in ("trans", "re", "con", "inter", "sub") for b in ("mit", "ceive", "figure", "face", "carrier", "set")
    ]
    with pymupdf.open() as document:
        document.new_page(width=595, height=842).insert_text((56, 100), "ETSI EN 399 001 V1.1.1 (2020-01)", fontsize=20)
        number = 0
        for n in range(1, pages):
            page = document.new_page(width=595, height=842)
            page.insert_text((400, 50), "ETSI EN 399 001 V1.1.1 (2020-01)", fontsize=8)
            page.insert_text((298, 50), str(n + 1), fontsize=8)
            y = 90.0
            for _ in range(5):
                code = f"{4 + number // 10}.{number % 10}" if number % 10 else f"{4 + number // 10}"
                number += 1
                page.insert_text((56, y), code, fontsize=12, fontname="hebo")
                page.insert_text((113, y), f"{words[number % 30].title()} {words[number % 7]}", fontsize=12, fontname="hebo")
                cited = f"{4 + int(rng.integers(0, number // 10 + 1))}"
                text = " ".join(rng.choice(words, 80)) + f" as described in clause {cited}."
                page.insert_textbox((56, y + 8, 540, y + 120), text.capitalize(), fontsize=10, fontname="tiro")
                y += 140
        document.save(path)
