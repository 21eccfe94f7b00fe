"""The standards of one person and what is being made from them. No Streamlit in here: its threads outlive any run of a page.

    uploaded file ─▶ queue ─▶ parsed in a worker process ─▶ workspace ─▶ Corpus + Retriever (search by words works)
                                                                             └▶ vectors in the background (by meaning joins)

Readers never wait for writers: `loaded` is an immutable snapshot that is swapped as a whole, and whoever holds the old one
goes on with it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from normrag_core.codec import UnitJsonError, from_object
from normrag_core.config import DEFAULT_PRESET, PRESETS, RetrieverConfig
from normrag_core.embedding import Embedder, embedding_text
from normrag_core.graph import Graph
from normrag_core.model import Chunk, Corpus, ParsedDocument
from normrag_core.resolution import version_key
from normrag_core.retriever import Retriever
from normrag_core.storage import MemoryWorkspace, Workspace
from normrag_core.trace import Trace
from pages import _sample as sample
from pages._intake import Cancelled, Intake, Refused
from pages._jobs import FileJob, VectorJob
from pages._vectors import Vectors, model

if TYPE_CHECKING:
    from normrag_core.ingest.pool import ParsePool


@dataclass(frozen=True)
class Loaded:
    """What is loaded at one moment; revision grows with every change."""

    revision: int
    corpus: Corpus
    retriever: Retriever

    @property
    def graph(self) -> Graph:
        return self.retriever.graph

    @cached_property
    def newer(self) -> dict[str, str]:
        """Document key → label of the latest loaded edition of the same standard, where that is another one."""
        latest = {d.id: d for d in sorted(self.corpus.documents, key=version_key)}
        return {d.key: latest[d.id].label for d in self.corpus.documents if version_key(d) < version_key(latest[d.id])}

    @cached_property
    def examples(self) -> list[str]:
        return sample.examples(self.corpus)


class Library:
    """Documents with their workspace, the files on their way in, and the vectors being made.

    fixed: documents shown to everybody, which cannot be removed here.
    """

    def __init__(self, workspace: Workspace | MemoryWorkspace, fixed: Sequence[ParsedDocument] = ()) -> None:
        self.workspace = workspace
        self._fixed = {p.document.key: p for p in fixed}
        self._lock = threading.RLock()
        self._parsed = {**self._fixed, **{p.document.key: p for p in workspace.documents()}}
        self._intake = Intake(self._read, self._take, self._settle)
        self._vectors = Vectors(self._embed)
        self.loaded = self._load(1)

    # What is loaded.

    def _load(self, revision: int) -> Loaded:
        corpus = Corpus.of(self._parsed.values())
        return Loaded(revision, corpus, Retriever(corpus, model(), self._vectors))  # type: ignore[arg-type]

    def _settle(self) -> None:
        """Makes what was added or removed the state that everybody sees, and starts on its vectors."""
        with self._lock:
            loaded = self._load(self.loaded.revision + 1)
            self.loaded = loaded
        self.warm()

    def warm(self) -> None:
        """Builds what the default settings need, so that the first question finds it ready."""
        loaded = self.loaded
        if loaded.corpus.documents:
            index = loaded.retriever.index(PRESETS[DEFAULT_PRESET].config)
            index.bm25(PRESETS[DEFAULT_PRESET].config)
            index.vectors()

    @property
    def removable(self) -> Collection[str]:
        """Keys of the documents that may be removed here."""
        return [key for key in self._parsed if key not in self._fixed]

    @property
    def sample(self) -> Collection[str]:
        """Keys of the sample documents that are loaded and may be removed."""
        return [key for key in self.removable if self._parsed[key].document.sha256 in sample.digests()]

    def search(self, question: str, config: RetrieverConfig, documents: Collection[str] | None) -> Trace:
        """Trace of a question over what is loaded now."""
        return self.loaded.retriever.search(question, config, documents=documents)

    # Documents in and out.

    def add(self, files: Sequence[tuple[str, bytes]]) -> None:
        """Queues files, (name, content) each: PDFs, or unit files in JSON."""
        self._intake.add(files)

    def add_sample(self) -> None:
        """Queues the sample standards."""
        self.workspace.remember("sample", "loaded")
        self.add([(f.name, f.read_bytes()) for f in sample.files()])

    def remove(self, key: str) -> None:
        self._remove([key])

    def remove_sample(self) -> None:
        self.workspace.remember("sample", "removed")
        self._remove(self.sample)

    def _remove(self, keys: Collection[str]) -> None:
        with self._lock:
            for key in [k for k in keys if k in self.removable]:
                self.workspace.remove(key)
                del self._parsed[key]
        self._settle()

    def clear(self) -> None:
        """Deletes everything in the workspace; what is on its way in is cancelled."""
        self._intake.cancel_all()
        self._vectors.forget()
        with self._lock:
            self.workspace.clear()
            self.workspace.remember("sample", "removed")
            self._parsed = dict(self._fixed)
        self._settle()

    def _read(
        self, name: str, data: bytes, progress: Callable[[int, int], None], cancelled: Callable[[], bool]
    ) -> Sequence[ParsedDocument]:
        if name.lower().endswith(".json"):
            try:
                found = json.loads(data)
                return [from_object(o, name) for o in (found if isinstance(found, list) else [found])]
            except (ValueError, UnitJsonError) as error:
                raise Refused(str(error)) from error
        return [_read_pdf(name, data, progress, cancelled)]

    def _take(self, parsed: ParsedDocument, data: bytes) -> str:
        """Keeps a document; says what it turned out to be."""
        with self._lock:
            twin = next((p for p in self._parsed.values() if p.document.sha256 == parsed.document.sha256 != ""), None)
            if twin is not None:
                return f"the same file as {twin.document.label}, already loaded"
            kept = self.workspace.add(parsed, data)
            self._parsed[kept.document.key] = kept
        document = kept.document
        return f"{document.label}, {document.pages} pages, {len(kept.units) - 1} clauses"

    # What is under way.

    @property
    def files(self) -> tuple[FileJob, ...]:
        return self._intake.jobs

    @property
    def vectors(self) -> VectorJob | None:
        return self._vectors.job

    @property
    def busy(self) -> bool:
        """Whether anything is under way that a page may want to watch."""
        vectors = self._vectors.job
        return self._intake.active or (vectors is not None and vectors.active)

    def cancel(self, file: int) -> None:
        self._intake.cancel(file)

    def forget_finished(self) -> None:
        self._intake.forget_finished()

    def cancel_vectors(self) -> None:
        self._vectors.stop()

    def vectors_ready(self, config: RetrieverConfig) -> bool:
        """Whether the dense stage can run under these settings."""
        return self._vectors.ready(self.loaded.retriever.chunks(config))

    def _embed(
        self,
        embedder: Embedder,
        chunks: Sequence[Chunk],
        progress: Callable[[int, int], None],
        cancelled: Callable[[], bool],
    ) -> np.ndarray:
        return self.workspace.vectors.embed(embedder, [embedding_text(c) for c in chunks], progress, cancelled)

    # What the user keeps.

    def own_presets(self) -> dict[str, RetrieverConfig]:
        return self.workspace.presets()

    def save_preset(self, name: str, config: RetrieverConfig) -> None:
        self.workspace.save_preset(name, config)

    def remove_preset(self, name: str) -> None:
        self.workspace.remove_preset(name)

    @property
    def tour_dismissed(self) -> bool:
        return self.workspace.recall("tour") == "dismissed"

    def dismiss_tour(self) -> None:
        self.workspace.remember("tour", "dismissed")

    @property
    def has_sample_files(self) -> bool:
        return bool(sample.files())

    def tour(self) -> list[tuple[str, str]]:
        """(question, why it is worth asking) of the guided tour; [] unless the sample is loaded."""
        return sample.tour(self.loaded.corpus) if self.sample else []

    def model_line(self) -> str:
        """Which model makes the vectors, in words."""
        embedder = model().loaded
        if embedder is None:
            return "The embedding model is loaded when the first vectors are made."
        return f"Search by meaning uses {embedder.name} ({embedder.dimension} dimensions, {embedder.engine})."


@lru_cache(maxsize=1)
def _pool() -> ParsePool:
    """The worker processes that read PDFs, one set for the whole server."""
    from normrag_core.ingest.pool import ParsePool

    return ParsePool()


def _read_pdf(name: str, data: bytes, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> ParsedDocument:
    """Reads a PDF in a worker process. The reader is imported here: showing the first page must not wait for it."""
    from normrag_core.ingest import pool

    try:
        return _pool().parse(name, data, progress, cancelled)
    except pool.IngestError as error:
        raise Refused(str(error)) from error
    except pool.Cancelled as error:
        raise Cancelled from error


def on_disk() -> Library:
    """The library of local mode: the workspace that NORMRAG_WORKSPACE names; the sample is put in when it is new."""
    workspace = Workspace.default()
    library = Library(workspace)
    if not library.loaded.corpus.documents and not workspace.recall("sample"):
        library.add_sample()
    else:
        threading.Thread(target=library.warm, name="warm", daemon=True).start()
    return library


def in_memory(fixed: Sequence[ParsedDocument]) -> Library:
    """A library of shared mode: for one session, gone with it."""
    return Library(MemoryWorkspace(), fixed)
