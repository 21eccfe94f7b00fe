"""A folder of PDFs or unit JSON files made ready to search: parsed, resolved, embedded, each kept on disk for the next run."""

from __future__ import annotations

import gc
import hashlib
import json
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import normrag_core
from normrag_core.codec import UnitJsonError, from_object, load_parsed, to_object
from normrag_core.config import RetrieverConfig
from normrag_core.files import atomic_write, cache_folder, sha256_of
from normrag_core.model import Corpus, ParsedDocument
from normrag_core.retriever import Retriever
from normrag_core.storage.vectors import VectorStore

READER_MODULES = ("anchors", "codec", "identifiers", "model")
"""What the reader uses outside its own package."""


class NothingReadError(Exception):
    """No document in the folder could be read; the message says where was looked."""


def say(text: str) -> None:
    """A message for the person at the terminal."""
    print(text, file=sys.stderr)


def open_retriever(folder: Path, configs: Sequence[RetrieverConfig], questions: Sequence[str] = ()) -> Retriever:
    """A retriever over the folder. NothingReadError where no file can be read; a bad file is named and left out.

    configs: what will be asked for; the embedding model is loaded only where one of them needs it. questions: those that are
    known beforehand, embedded together.
    """
    corpus = open_corpus(folder)
    if not any(c.uses_dense or c.expansion for c in configs):
        return Retriever(corpus)
    from normrag_core.commands.stored import StoredEmbedder
    from normrag_core.embedding import EmbeddingError, load_embedder

    try:
        embedder = StoredEmbedder(load_embedder(), _vector_store(), say)
    except EmbeddingError as error:
        say(f"no embedding model, so the dense stages are left out: {error}")
        return Retriever(corpus)
    if questions:
        embedder.prepare(questions)
    return Retriever(corpus, embedder, embedder.vectors)


def open_cutting(retriever: Retriever) -> Retriever | None:
    """The same corpus with texts cut at the embedding model's limit; None where there is no model."""
    if retriever.embedder is None:
        return None
    from normrag_core.commands.stored import StoredEmbedder
    from normrag_core.embedding import load_embedder

    embedder = StoredEmbedder(load_embedder(long_texts="cut"), _vector_store(), say)
    return Retriever(retriever.corpus, embedder, embedder.vectors)


def _vector_store() -> VectorStore:
    """Vectors of earlier runs; in memory where the cache folder cannot be used."""
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        store = VectorStore(cache_folder() / "vectors.sqlite")
        len(store)
        return store
    except OSError as error:
        say(f"vectors are not kept for the next run: {error}")
        return VectorStore(None)


def open_corpus(folder: Path) -> Corpus:
    """The corpus of a folder: its PDFs and its *.json files in the parse form."""
    if not folder.is_dir():
        raise NothingReadError(f"{folder}: expected a folder of PDFs or unit JSON files; found {_kind(folder)}")
    pdfs = sorted(p for p in folder.iterdir() if p.suffix.lower() == ".pdf" and p.is_file())
    jsons = sorted(p for p in folder.iterdir() if p.suffix.lower() == ".json" and p.is_file())
    was_on = gc.isenabled()
    gc.disable()  # It would look again and again at a million small objects that stay to the end of the command.
    try:
        parsed = [*_from_json(jsons), *_from_pdf(pdfs)]
        if not parsed:
            many = len(pdfs) + len(jsons)
            raise NothingReadError(f"{folder}: expected PDFs or unit JSON files; none of {many} could be read")
        corpus = Corpus.of(parsed)
    finally:
        if was_on:
            gc.enable()
    gc.freeze()
    return corpus


def _kind(path: Path) -> str:
    return "a file" if path.exists() else "nothing"


def _from_json(files: Sequence[Path]) -> list[ParsedDocument]:
    parsed = []
    for file in files:
        try:
            parsed += load_parsed(file)
        except UnitJsonError as error:
            say(str(error))
    return parsed


def _from_pdf(files: Sequence[Path]) -> list[ParsedDocument]:
    """Parsed documents in the order of the files. Only files that the cache does not know are parsed."""
    found: dict[Path, ParsedDocument] = {}
    kept = {file: cache_folder() / "parsed" / f"{sha256_of(file)}-{_reader_version()}.json" for file in files}
    for file, entry in kept.items():
        try:
            data = json.loads(entry.read_bytes())
            # The same bytes may have been parsed under another name, which the questions know nothing of.
            data["document"]["file"] = file.name
            found[file] = from_object(data, file.name)
        except (OSError, ValueError, KeyError, TypeError):
            continue
    new = [f for f in files if f not in found]
    if new:
        from normrag_core.ingest.pool import parse_files

        say(f"parsing {len(new)} of {len(files)} files")
        for outcome in parse_files(new):
            if outcome.parsed is None:
                say(f"{outcome.path.name}: {outcome.error}")
                continue
            found[outcome.path] = outcome.parsed
            _keep(kept[outcome.path], outcome.parsed)
    return [found[f] for f in files if f in found]


def _keep(entry: Path, parsed: ParsedDocument) -> None:
    """Writes a cache entry; what an older reader made of the same file goes."""
    content = entry.name.partition("-")[0]
    for older in entry.parent.glob(f"{content}-*.json"):
        older.unlink(missing_ok=True)
    try:
        atomic_write(entry, json.dumps(to_object(parsed), ensure_ascii=False).encode())
    except OSError as error:
        say(f"{entry}: not kept for the next run: {error}")


@cache
def _reader_version() -> str:
    """Hash over the code that reads PDFs: a better reader must not be given what an older one made."""
    root = Path(normrag_core.__file__).parent
    digest = hashlib.sha256()
    for source in [*sorted((root / "ingest").rglob("*.py")), *(root / f"{name}.py" for name in READER_MODULES)]:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]
