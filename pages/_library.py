"""The standards of one person and what is being made from them. No Streamlit in here: its threads outlive any run of a page.

    uploaded file ─▶ queue ─▶ parsed in a worker process ─▶ workspace ─▶ Corpus + Retriever (search by words works)
                                                                             └▶ vectors in the background (by meaning joins)

Readers never wait for writers: `loaded` is an immutable snapshot that is swapped as a whole, and whoever holds the old one
goes on with it.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from normrag_core.config import DEFAULT_PRESET, PRESETS, RetrieverConfig
from normrag_core.embedding import Embedder, embedding_text
from normrag_core.graph import Graph
from normrag_core.model import Chunk, Corpus, Document, ParsedDocument
from normrag_core.parts import Parts
from normrag_core.resolution import Resolver, version_key
from normrag_core.retriever import Retriever
from normrag_core.storage import MemoryWorkspace, Workspace, handle
from normrag_core.trace import Trace
from pages import _sample as sample
from pages._intake import CancelledError, Intake
from pages._jobs import FileJob, VectorJob
from pages._reading import read
from pages._vectors import Vectors, model

if TYPE_CHECKING:
    from normrag_core.ingest.painter import PagePainter


SESSION_MB = 500
SHELF_VECTORS = 256_000_000  # Bytes: those of what everybody sees, under the settings asked for last.
_CONFIG = PRESETS[DEFAULT_PRESET].config


@dataclass(frozen=True)
class Loaded:
    """What is loaded at one moment; revision grows with every change. vectors: those that the retriever asks for."""

    revision: int
    corpus: Corpus
    retriever: Retriever
    vectors: Vectors

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


@lru_cache(maxsize=1)
def _painter() -> PagePainter:
    """The worker process that draws pages, one for the whole server."""
    from normrag_core.ingest.painter import PagePainter

    return PagePainter()


def _forget_pictures(digests: Collection[str]) -> None:
    """Of documents that went. Not waited for: a page may be being drawn."""
    if _painter.cache_info().currsize:
        threading.Thread(target=_painter().forget, args=(digests,), name="forget", daemon=True).start()


def _set_aside() -> None:
    """Takes all that is alive out of the garbage collector's sight, after a look for what is not.

    Streamlit runs a full collection after every run of a page; over the objects of a corpus that takes longer than the page.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


class Library:
    """Documents with their workspace, the files on their way in, and the vectors being made.

    A workspace with documents is read in a thread, begun when somebody first waits for it: `ready` tells when it is over,
    `loaded` waits. Reading it earlier would only hold up the page that is to be painted meanwhile.
    shelf: another library whose documents are shown here too, read-only; what is made from them is made there, once for all.
    Who has no documents of their own searches with the shelf's retriever: sessions that only search cost next to nothing.
    """

    def __init__(self, workspace: Workspace | MemoryWorkspace, shelf: Library | None = None) -> None:
        self.workspace = workspace
        self._shelf = shelf
        self._lock = threading.RLock()
        self._settling = threading.RLock()  # One new state after the other.
        self._own: dict[str, ParsedDocument] = {}
        self._resolver = Resolver()
        self._parts = Parts(self)
        self._intake = Intake(read, self._take, self._settle)
        # Words first: all of a corpus can be searched by words long before its first half could be by meaning.
        self._vectors = Vectors(self._embed, self._intake.wait)
        self._shelved = 0
        self._loaded: Loaded
        self._opened = threading.Event()
        self._fault: Exception | None = None
        self._over = False
        self._opening: threading.Thread | None = None
        if not workspace.has_documents():
            self._open()

    # What is loaded.

    def _open(self) -> None:
        """Reads the workspace; documents that can no longer be read are parsed anew from their files."""
        try:
            documents, harmed = self.workspace.everything()
            self._own = {handle(p.document): p for p in documents}
            self._loaded = self._load(1)
        except Exception as error:  # Whoever waits must hear of it.
            self._fault = error
            return
        finally:
            self._opened.set()
        self.add([(f"document-{n}.pdf", data) for n, data in enumerate(harmed, 1)])
        self.warm()
        _set_aside()

    @property
    def ready(self) -> bool:
        """Whether `loaded` answers at once."""
        return self._opened.is_set()

    def wait(self) -> None:
        """Until `ready`. Raises what kept the workspace from being read."""
        if not self.ready:
            with self._lock:
                if self._opening is None:
                    self._opening = threading.Thread(target=self._open, name="open", daemon=True)
                    self._opening.start()
            self._opened.wait()
        if self._fault is not None:
            raise self._fault

    @property
    def loaded(self) -> Loaded:
        """The snapshot to show; a new one after every change, also of the shelf. Waits while the workspace is being read."""
        self.wait()
        if self._shelf is not None and self._shelf.loaded.revision != self._shelved:
            self._settle()
        return self._loaded

    def _load(self, revision: int) -> Loaded:
        shelf = self._shelf
        if shelf is not None:
            shown = shelf.loaded
            self._shelved = shown.revision
            if not self._own:
                self._resolver, self._parts = Resolver(), Parts(self)  # Nothing of what was removed stays.
                return replace(shown, revision=revision)
        documents = [*(shelf._own.values() if shelf is not None else ()), *self._own.values()]
        corpus = self._resolver.corpus(documents)
        retriever = Retriever(corpus, model(), self._vectors, parts=self._parts)  # type: ignore[arg-type]
        return Loaded(revision, corpus, retriever, self._vectors)

    def part(self, document: Document, name: str) -> bytes | None:
        """What is kept of a document under a name, in the workspace that has it (see `normrag_core.parts`)."""
        return self._home(document).part(document, name)

    def keep_part(self, document: Document, name: str, data: bytes) -> None:
        self._home(document).keep_part(document, name, data)

    def _home(self, document: Document) -> Workspace | MemoryWorkspace:
        shelf = self._shelf
        return shelf.workspace if shelf is not None and handle(document) in shelf._own else self.workspace

    def _settle(self) -> None:
        """Makes what was added or removed the state that everybody sees, and starts on its vectors.

        Searches go on in the old state until the new one can answer by words.
        """
        with self._settling:
            with self._lock:
                new = self._load(self._loaded.revision + 1)
            self._words(new)
            self._loaded = new
            self._vectors_of(new)
            _set_aside()

    def warm(self) -> None:
        """Builds what the default settings need, so that the first question finds it ready."""
        loaded = self.loaded
        self._words(loaded)
        self._vectors_of(loaded)

    def _words(self, loaded: Loaded) -> None:
        if loaded.corpus.documents:
            loaded.retriever.index(_CONFIG).bm25(_CONFIG)

    def _vectors_of(self, loaded: Loaded) -> None:
        if loaded.corpus.documents:
            loaded.retriever.index(_CONFIG).vectors()

    @property
    def removable(self) -> Collection[str]:
        """Keys of the documents that may be removed here."""
        return [d.key for d in self._loaded.corpus.documents if handle(d) in self._own]

    @property
    def sample(self) -> Collection[str]:
        """Keys of the sample documents that are loaded and may be removed."""
        by_key = self._loaded.corpus.by_key
        return [key for key in self.removable if by_key[key].sha256 in sample.digests()]

    def search(self, question: str, config: RetrieverConfig, documents: Collection[str] | None) -> Trace:
        """Trace of a question over what is loaded now."""
        return self.loaded.retriever.search(question, config, documents=documents)

    # The files themselves.

    def original(self, key: str) -> bytes | None:
        """Content of the PDF that a document came from; None where only its units were loaded."""
        document = self.loaded.corpus.by_key[key]
        found = self.workspace.original(document)
        return found if found is not None or self._shelf is None else self._shelf.workspace.original(document)

    def has_original(self, key: str) -> bool:
        """Whether `original` has something, without reading it."""
        document = self.loaded.corpus.by_key[key]
        return self.workspace.has_original(document) or (
            self._shelf is not None and self._shelf.workspace.has_original(document)
        )

    def page_picture(self, key: str, page: int, zoom: float) -> bytes | str:
        """PNG of a page of a document; in words why there is none. zoom: pixels a point."""
        document, content = self.loaded.corpus.by_key[key], self.original(key)
        if content is None:
            return f"The PDF of {document.label} was not kept, so its pages cannot be shown."
        from normrag_core.ingest import IngestError

        try:
            return _painter().picture(content, document.sha256, document.file, page, zoom)
        except IngestError as error:
            return str(error)

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
                gone = self._own[handle(self._loaded.corpus.by_key[key])].document
                self.workspace.remove(gone)
                del self._own[handle(gone)]
                _forget_pictures({gone.sha256})
        self._settle()

    def clear(self) -> None:
        """Deletes everything in the workspace; what is on its way in is cancelled."""
        self._empty()
        self.workspace.remember("sample", "removed")

    def end(self) -> None:
        """Lets go of everything, for a session that is over: nothing comes in any more."""
        self._over = True
        self._empty()

    def _empty(self) -> None:
        self._intake.cancel_all()
        self._intake.forget_finished()
        self._vectors.forget()
        with self._lock:
            _forget_pictures({p.document.sha256 for p in self._own.values()})
            self.workspace.clear()
            self._own = {}
        self._settle()

    def _take(self, parsed: ParsedDocument, data: bytes) -> str:
        """Keeps a document; says what it turned out to be."""
        loaded = self.loaded
        with self._lock:
            if self._over:
                raise CancelledError
            held = {d.sha256: d for d in loaded.corpus.documents} | {p.document.sha256: p.document for p in self._own.values()}
            twin = held.get(parsed.document.sha256) if parsed.document.sha256 else None
            if twin is not None:
                return f"the same file as {twin.label}, already loaded"
            self.workspace.add(parsed, data)
            self._own[handle(parsed.document)] = parsed
        document = parsed.document
        return f"{document.label}, {document.pages} pages, {len(parsed.units) - 1} clauses"

    # What is under way.

    @property
    def files(self) -> tuple[FileJob, ...]:
        return self._intake.jobs

    @property
    def reading(self) -> bool:
        """Whether files are on their way in, also those of the shelf."""
        return self._intake.active or (self._shelf is not None and self._shelf._intake.active)

    @property
    def vectors(self) -> VectorJob | None:
        """The making of vectors that the shown documents wait for."""
        return self.loaded.vectors.job

    @property
    def busy(self) -> bool:
        """Whether anything is under way that a page may want to watch."""
        vectors = self.vectors
        return self.reading or (vectors is not None and vectors.active)

    def cancel(self, file: int) -> None:
        self._intake.cancel(file)

    def cancel_files(self) -> None:
        """Takes back all files that are not read yet; what was read stays."""
        self._intake.cancel_all()

    def forget_finished(self) -> None:
        self._intake.forget_finished()

    @property
    def may_stop_vectors(self) -> bool:
        """Whether the vectors being made are only ours: those of the shelf are for everybody."""
        return self.loaded.vectors is self._vectors

    def cancel_vectors(self) -> None:
        self._vectors.stop()

    def vectors_ready(self, config: RetrieverConfig) -> bool:
        """Whether the dense stage can run under these settings."""
        loaded = self.loaded
        return loaded.vectors.ready(loaded.retriever.chunks(config))

    def _embed(
        self,
        embedder: Embedder,
        chunks: Sequence[Chunk],
        progress: Callable[[int, int], None],
        cancelled: Callable[[], bool],
    ) -> np.ndarray:
        """Vectors of chunks: those of the shelf's documents from its store, kept for all sessions, the others from our own."""
        owner = {d.key: handle(d) for d in self._loaded.corpus.documents}
        shelved = self._shelf._own if self._shelf is not None else {}
        rows: np.ndarray | None = None
        for library, on_shelf in ((self._shelf, True), (self, False)):
            places = [i for i, c in enumerate(chunks) if (owner.get(c.document) in shelved) == on_shelf]
            if library is None or not places:
                continue
            texts = [embedding_text(chunks[i]) for i in places]
            owners = [owner.get(chunks[i].document, "") for i in places]
            made = library.workspace.vectors.embed(embedder, texts, progress, cancelled, owners)
            rows = np.empty((len(chunks), made.shape[1]), made.dtype) if rows is None else rows
            rows[places] = made
        return rows if rows is not None else np.zeros((0, embedder.dimension), np.float32)

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
        """(question, why it is worth asking) of the guided tour; [] where the sample is not loaded."""
        return sample.tour(self.loaded.corpus)

    def model_line(self) -> str:
        """Which model makes the vectors, in words."""
        embedder = model().loaded
        if embedder is None:
            return "The embedding model is loaded when the first vectors are made."
        return f"Search by meaning uses {embedder.name} ({embedder.dimension} dimensions, {embedder.engine})."


def on_disk() -> Library:
    """The library of local mode: the workspace that NORMRAG_WORKSPACE names; the sample is put in when it is new."""
    workspace = Workspace.default()
    new = not workspace.has_documents() and not workspace.recall("sample")
    library = Library(workspace)
    if new:
        library.add_sample()
    return library


def in_memory() -> Library:
    """A library of shared mode: in memory, for one session, gone with it. Without a named folder it starts with the sample."""
    limit = session_megabytes() * 1_000_000
    return Library(MemoryWorkspace(limit, vector_limit=limit // 4), shelf())


def session_megabytes() -> int:
    """What a session of shared mode may keep in memory: `NORMRAG_MAX_SESSION_MB`, 0 for any amount."""
    given = os.environ.get("NORMRAG_MAX_SESSION_MB", "").strip() or str(SESSION_MB)
    if not given.isdecimal():
        raise ValueError(f"NORMRAG_MAX_SESSION_MB: expected a whole number of megabytes; found {given!r}")
    return int(given)


@lru_cache(maxsize=1)
def shelf() -> Library:
    """What shared mode shows to everybody, read-only: the PDFs of the folder `NORMRAG_CORPUS`, else the sample."""
    library = Library(MemoryWorkspace(vector_limit=SHELF_VECTORS))
    folder = os.environ.get("NORMRAG_CORPUS", "")
    files = sorted(Path(folder).glob("*.pdf")) if folder else sample.files()
    library.add([(f.name, f.read_bytes()) for f in files])
    return library
