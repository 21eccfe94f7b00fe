"""What single documents add to an index, kept so that one more document costs only itself: their chunks and their postings.

Chunks are kept in memory and shared by the retrievers over one corpus after the other. Postings are kept where `kept` puts
them, under a name that says all they depend on (texts, settings, the tokeniser itself), so that what is found is what would be
made. Merged in the order of the documents they equal those made of all chunks at once, to the last bit.
"""

from __future__ import annotations

import io
import json
import threading
import zipfile
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import numpy as np

from normrag_core import tokenize as tokenizing
from normrag_core.bm25 import Postings
from normrag_core.chunking import document_chunks
from normrag_core.config import Chunking, Context, Tokenizer
from normrag_core.model import Chunk, Corpus, Document, InfoUnit
from normrag_core.tokenize import tokenize

FORMAT = 1
"""Of packed postings; part of their name."""
SETTINGS = 4  # Ways of chunking whose chunks are kept, as many as a retriever keeps indexes.
_ARRAYS = ("starts", "chunks", "text", "context", "text_lengths", "context_lengths")
_Made = tuple[Document, list[InfoUnit]]


class Kept(Protocol):
    """Where postings of single documents are kept, by document and name."""

    def part(self, document: Document, name: str) -> bytes | None: ...

    def keep_part(self, document: Document, name: str, data: bytes) -> None: ...


class Parts:
    """Chunks and postings of single documents. Any thread may ask."""

    def __init__(self, kept: Kept | None = None) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._chunks: OrderedDict[tuple[Chunking, int, Context], dict[str, tuple[_Made, tuple[Chunk, ...]]]] = OrderedDict()

    def chunks(self, corpus: Corpus, chunking: Chunking, max_words: int, context: Context) -> tuple[Chunk, ...]:
        """What `make_chunks` gives. Documents that the last corpus had too are not chunked again."""
        setting = (chunking, max_words, context)
        with self._lock:
            before = self._chunks.get(setting, {})
        now = {}
        for document in sorted(corpus.documents, key=lambda d: d.key):
            made_of = document, corpus.units_of(document.key)
            known = before.get(document.key)
            # Comparing is quick: the objects are the same ones, but for a document that came anew under an old key.
            if known is None or known[0] != made_of:
                known = made_of, tuple(document_chunks(corpus, document, *setting))
            now[document.key] = known
        made = tuple(chunk for _, chunks in now.values() for chunk in chunks)
        with self._lock:
            self._chunks[setting] = now
            for held in self._chunks.values():
                for key in held.keys() - corpus.by_key.keys():
                    del held[key]  # Nothing of a removed document stays.
            self._chunks.move_to_end(setting)
            while len(self._chunks) > SETTINGS:
                self._chunks.popitem(last=False)
        return made

    def postings(self, document: Document, chunks: Sequence[Chunk], tokenizer: Tokenizer, stem: bool) -> Postings:
        """Postings of one document's chunks, numbered from 0."""
        if self._kept is None:
            return _postings(chunks, tokenizer, stem)
        name = _name(chunks, tokenizer, stem)
        data = self._kept.part(document, name)
        found = unpack(data) if data is not None else None
        if found is None or len(found) != len(chunks):
            found = _postings(chunks, tokenizer, stem)
            self._kept.keep_part(document, name, pack(found))
        return found


def merge(parts: Sequence[Postings]) -> Postings:
    """Postings of all parts' chunks, one part after the other, equal to `Postings.of` over all of them."""
    if len(parts) == 1:
        return parts[0]
    vocabulary: dict[str, int] = {}
    first = 0
    terms: list[np.ndarray] = []
    chunks: list[np.ndarray] = []
    for part in parts:
        numbers = np.array([vocabulary.setdefault(term, len(vocabulary)) for term in part.vocabulary], dtype=np.int32)
        terms.append(np.repeat(numbers, np.diff(part.starts)))
        chunks.append(part.chunks + np.int32(first))
        first += len(part)
    if not parts:
        return Postings.of(())
    of_term = np.concatenate(terms)
    order = np.argsort(of_term, kind="stable")  # Within a term the chunks keep rising: parts come in their order.
    return Postings(
        vocabulary,
        np.concatenate([[0], np.cumsum(np.bincount(of_term, minlength=len(vocabulary)))]).astype(np.int64),
        np.concatenate(chunks)[order],
        np.concatenate([p.text for p in parts])[order],
        np.concatenate([p.context for p in parts])[order],
        np.concatenate([p.text_lengths for p in parts]),
        np.concatenate([p.context_lengths for p in parts]),
    )


def pack(postings: Postings) -> bytes:
    """Postings as an .npz file; the vocabulary is a JSON list in UTF-8."""
    out = io.BytesIO()
    terms = np.frombuffer(json.dumps(list(postings.vocabulary)).encode(), dtype=np.uint8)
    np.savez(out, vocabulary=terms, **{name: getattr(postings, name) for name in _ARRAYS})
    return out.getvalue()


def unpack(data: bytes) -> Postings | None:
    """What `pack` packed; None where the file is harmed (each array has a checksum)."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            terms = json.loads(file["vocabulary"].tobytes())
            return Postings({term: i for i, term in enumerate(terms)}, **{name: file[name] for name in _ARRAYS})
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        return None


def _postings(chunks: Sequence[Chunk], tokenizer: Tokenizer, stem: bool) -> Postings:
    beside: dict[str, list[str]] = {}  # Parts of one clause share their context.
    for chunk in chunks:
        if chunk.context not in beside:
            beside[chunk.context] = tokenize(chunk.context, tokenizer, stem) if chunk.context else []
    return Postings.of((tokenize(c.text, tokenizer, stem), beside[c.context]) for c in chunks)


def _name(chunks: Sequence[Chunk], tokenizer: Tokenizer, stem: bool) -> str:
    digest = sha256()
    for chunk in chunks:
        for text in (chunk.text, chunk.context):
            data = text.encode("utf8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
    return f"postings {FORMAT} {_tokenizing()} {tokenizer} {stem} {digest.hexdigest()}"


@cache
def _tokenizing() -> str:
    """What terms depend on beside text and settings: the code that makes them and the stemmer's version."""
    code = sha256(Path(tokenizing.__file__).read_bytes()).hexdigest()
    return f"{code} {version('snowballstemmer')}"
