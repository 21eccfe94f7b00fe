"""How reading and embedding grow with the length of a document."""

from __future__ import annotations

import tempfile
from pathlib import Path

from normrag_core.chunking import make_chunks
from normrag_core.embedding import embedding_text, load_embedder
from normrag_core.ingest import read_pdf
from normrag_core.model import Corpus, ParsedDocument
from tests.bench.generated import write_standard
from tests.bench.table import Section, growth_row, seconds


def growth(full: bool) -> Section:
    """A generated standard of 12, 36 and 120 pages read, and the chunks of it embedded: 1 ×, 3 × and 10 × of a small sample."""
    factors = (1, 3, 10)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{n}.pdf" for n in factors]
        parsed: list[ParsedDocument] = []
        times: dict[str, list[float]] = {"read a PDF": [], "embed its chunks": []}
        for file, n in zip(files, factors, strict=True):
            write_standard(file, 12 * n)
        read_pdf(files[0])
        embedder = load_embedder()
        embedder.encode(["warm"])
        for file in files:
            times["read a PDF"].append(seconds(lambda f=file: parsed.append(read_pdf(f))))  # type: ignore[misc]
        for document in parsed:
            texts = [embedding_text(c) for c in make_chunks(Corpus.of([document]))]
            times["embed its chunks"].append(seconds(lambda t=texts: embedder.encode(t)))  # type: ignore[misc]
    pages = [12 * n for n in factors]
    return Section(
        "Growth with the length of a document",
        f"A generated standard of {pages[0]}, {pages[1]} and {pages[2]} pages with {len(parsed[0].units)}, "
        f"{len(parsed[1].units)} and {len(parsed[2].units)} clauses; one process reads, all processors embed.",
        tuple(growth_row(name, pages, spent) for name, spent in times.items()),
    )
