"""A workspace: documents, their originals, vectors, question sets, runs and own presets, on disk or in memory."""

from __future__ import annotations

import gc
import gzip
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from normrag_core.codec import from_object, to_object
from normrag_core.config import ConfigError, RetrieverConfig
from normrag_core.model import Corpus, Document, ParsedDocument
from normrag_core.storage.blobs import Blobs, FolderBlobs, MemoryBlobs, piece_id
from normrag_core.storage.errors import WorkspaceError
from normrag_core.storage.vectors import VectorStore

_DOCUMENTS, _ORIGINALS, _PRESETS, _QUESTIONS, _RUNS, _NOTES = "documents", "originals", "presets", "questions", "runs", "notes"
KINDS = (_DOCUMENTS, _ORIGINALS, _PRESETS, _QUESTIONS, _RUNS, _NOTES)
_PARTS = "parts"  # One kind for each document below it, "parts/<id>".
PARTS_KEPT = 8
"""Parts of a document kept: of so many settings of chunks and terms, those made last."""
_GZIP_LEVEL = 1  # 6 saves a tenth and takes four times as long


def handle(document: Document) -> str:
    """What tells documents apart here: the file's hash, for two files may print one id and version; else the key."""
    return document.sha256 or document.key


@contextmanager
def _collector_off() -> Iterator[None]:
    """The cycle collector looks again and again at the many small objects of a load, which make no cycles: 40 % of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Workspace:
    """What both kinds of workspace do. Every method may be called from any thread."""

    vectors: VectorStore

    def __init__(self, blobs: Blobs, vectors: VectorStore) -> None:
        self._blobs, self.vectors = blobs, vectors

    # Documents

    def add(self, parsed: ParsedDocument, original: bytes | None = None) -> None:
        """Keeps a document and, where it is given and is a PDF, its file. The same file again replaces the document."""
        # Escaped: PDFs hold halves of surrogate pairs, which UTF-8 cannot carry
        data = gzip.compress(json.dumps(to_object(parsed)).encode(), _GZIP_LEVEL, mtime=0)
        piece = piece_id(handle(parsed.document))
        with self._blobs.locked():
            # The document last: one that is there has its original.
            if original is not None and b"%PDF-" in original[:1024]:
                self._blobs.write(_ORIGINALS, piece, original)
            self._forget_parts(piece)
            try:
                self._blobs.write(_DOCUMENTS, piece, data)
            except WorkspaceError:
                if not self._blobs.has(_DOCUMENTS, piece):
                    self._blobs.delete(_ORIGINALS, piece)
                raise

    def remove(self, document: Document | str) -> None:
        """Removes a document, its original and the vectors that only it had. A string: its file's hash, or its key."""
        name = document if isinstance(document, str) else handle(document)
        if not self._blobs.has(_DOCUMENTS, piece_id(name)):
            name = next((handle(p.document) for p in self.documents() if p.document.key == name), name)
        with self._blobs.locked():
            self._blobs.delete(_DOCUMENTS, piece_id(name))
            self._blobs.delete(_ORIGINALS, piece_id(name))
            self._forget_parts(piece_id(name))
        self.vectors.forget(name)

    def documents(self) -> list[ParsedDocument]:
        """All documents that can be read, the one first added first. What cannot is in `damaged`."""
        return self.everything()[0]

    def damaged(self) -> list[bytes]:
        """Originals of documents that cannot be read (written by another version, or harmed): to be parsed anew."""
        return self.everything()[1]

    def everything(self) -> tuple[list[ParsedDocument], list[bytes]]:
        """(`documents()`, `damaged()`), read once for both."""
        with _collector_off():
            decoded = list(self._decoded())
        originals = (self._blobs.read(_ORIGINALS, piece) for piece, parsed in decoded if parsed is None)
        return [parsed for _, parsed in decoded if parsed is not None], [data for data in originals if data is not None]

    def has_documents(self) -> bool:
        """Whether there are any, without reading them."""
        return bool(self._blobs.ids(_DOCUMENTS))

    def corpus(self) -> Corpus:
        """The documents with their citations resolved."""
        return Corpus.of(self.documents())

    def original(self, document: Document | str) -> bytes | None:
        """The PDF as it was added; None where it was not kept. A string is the file's hash, or the key of one without."""
        return self._blobs.read(_ORIGINALS, piece_id(document if isinstance(document, str) else handle(document)))

    def has_original(self, document: Document | str) -> bool:
        """Whether `original` would give something."""
        return self._blobs.has(_ORIGINALS, piece_id(document if isinstance(document, str) else handle(document)))

    def part(self, document: Document, name: str) -> bytes | None:
        """What `keep_part` kept of a document under a name; None where there is nothing."""
        return self._blobs.read(f"{_PARTS}/{piece_id(handle(document))}", piece_id(name))

    def keep_part(self, document: Document, name: str, data: bytes) -> None:
        """Keeps what was made from a document and can be made again; it goes with the document, or when newer parts come."""
        piece = piece_id(handle(document))
        kind = f"{_PARTS}/{piece}"
        with self._blobs.locked():
            if not self._blobs.has(_DOCUMENTS, piece):
                return  # Removed while the part was being made: nothing of it may stay.
            with suppress(WorkspaceError):  # No room, or a folder to be read only: it can be made again.
                self._blobs.write(kind, piece_id(name), data, durable=False)
            for old in self._blobs.ids(kind)[:-PARTS_KEPT]:
                self._blobs.delete(kind, old)

    def _forget_parts(self, document: str) -> None:
        for part in self._blobs.ids(f"{_PARTS}/{document}"):
            self._blobs.delete(f"{_PARTS}/{document}", part)

    def clear(self) -> None:
        """Deletes everything: documents, originals, parts, vectors, question sets, runs, presets, notes."""
        with self._blobs.locked():
            for document in self._blobs.below(_PARTS):
                self._forget_parts(document)
            for kind in KINDS:
                for piece in self._blobs.ids(kind):
                    self._blobs.delete(kind, piece)
        self.vectors.clear()

    def _decoded(self) -> Iterator[tuple[str, ParsedDocument | None]]:
        """(id, document) of all; None where it cannot be read."""
        for piece in self._blobs.ids(_DOCUMENTS):
            data = self._blobs.read(_DOCUMENTS, piece)
            if data is None:
                continue
            try:
                yield piece, from_object(json.loads(gzip.decompress(data)))
            except (OSError, EOFError, zlib.error, ValueError, TypeError, KeyError, IndexError, RecursionError):
                yield piece, None

    # What the user keeps by name

    def presets(self) -> dict[str, RetrieverConfig]:
        """Own presets by name; one that this version cannot read (a setting has gone) is left out."""
        found = {}
        for name, value in self._named(_PRESETS):
            with suppress(ConfigError):
                found[name] = RetrieverConfig.from_json(value)
        return found

    def save_preset(self, name: str, config: RetrieverConfig) -> None:
        """Keeps a configuration under a name, in place of the one that had it."""
        self._put(_PRESETS, name, json.loads(config.to_json()))

    def remove_preset(self, name: str) -> None:
        """Removes an own preset; nothing happens where there is none."""
        self._blobs.delete(_PRESETS, piece_id(name))

    def question_sets(self) -> dict[str, str]:
        """JSONL text of each question set by name."""
        return {name: text for name, text in self._named(_QUESTIONS) if isinstance(text, str)}

    def save_question_set(self, name: str, jsonl: str) -> None:
        """Keeps a question set under a name, in place of the one that had it."""
        self._put(_QUESTIONS, name, jsonl)

    def remove_question_set(self, name: str) -> None:
        """Removes a question set; nothing happens where there is none."""
        self._blobs.delete(_QUESTIONS, piece_id(name))

    def runs(self) -> dict[str, dict[str, Any]]:
        """Records of evaluation runs by name, the first saved first."""
        return dict(self._named(_RUNS))

    def run_ids(self) -> tuple[str, ...]:
        """Which runs there are, without reading them: the same answer, the same runs."""
        return tuple(self._blobs.ids(_RUNS))

    def save_run(self, name: str, record: dict[str, Any]) -> None:
        """Keeps the record of a run (what JSON can hold) under a name."""
        self._put(_RUNS, name, record)

    def remove_run(self, name: str) -> None:
        """Removes a run's record; nothing happens where there is none."""
        self._blobs.delete(_RUNS, piece_id(name))

    def remember(self, name: str, value: str) -> None:
        """Keeps a small fact, such as that the tour was dismissed."""
        self._put(_NOTES, name, value)

    def recall(self, name: str) -> str:
        """What `remember` kept; "" where there is nothing."""
        data = self._blobs.read(_NOTES, piece_id(name))
        try:
            return str(json.loads(data)["value"]) if data else ""
        except (ValueError, KeyError, TypeError, RecursionError):
            return ""

    def _put(self, kind: str, name: str, value: Any) -> None:
        self._blobs.write(kind, piece_id(name), json.dumps({"name": name, "value": value}).encode())

    def _named(self, kind: str) -> Iterator[tuple[str, Any]]:
        for piece in self._blobs.ids(kind):
            with suppress(ValueError, KeyError, TypeError, RecursionError):
                item = json.loads(self._blobs.read(kind, piece) or b"")
                yield str(item["name"]), item["value"]


class MemoryWorkspace(_Workspace):
    """For shared mode: nothing reaches a disk, and all of it goes with the object.

    limit: bytes of files and what is kept beside them; beyond it WorkspaceError. vector_limit: bytes of vectors, which come on
    top; beyond it those go that were asked for longest ago. 0 for any.
    """

    def __init__(self, limit: int = 0, vector_limit: int = 0) -> None:
        super().__init__(MemoryBlobs(limit), VectorStore(None, vector_limit))


class Workspace(_Workspace):
    """A folder in plain formats: gzipped unit JSON, PDFs, JSON, arrays in .npz, one SQLite file. Safe with several processes.

    Opening it clears what killed runs left. Raises WorkspaceError where the folder cannot be used.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        blobs = FolderBlobs(self.path)
        super().__init__(blobs, VectorStore(self.path / "vectors.sqlite"))
        with blobs.locked():
            for piece in set(blobs.ids(_ORIGINALS)) - set(blobs.ids(_DOCUMENTS)):
                blobs.delete(_ORIGINALS, piece)  # its run was killed before it wrote the document
            for piece in set(blobs.below(_PARTS)) - set(blobs.ids(_DOCUMENTS)):
                self._forget_parts(piece)

    @classmethod
    def default(cls) -> Workspace:
        """The folder that NORMRAG_WORKSPACE names, else one among the user's data."""
        given = os.environ.get("NORMRAG_WORKSPACE")
        if given:
            return cls(given)
        from platformdirs import user_data_path

        return cls(user_data_path("normrag", appauthor=False))
