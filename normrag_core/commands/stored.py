"""An embedder whose vectors, those of questions too, are kept on disk: a second run embeds nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from normrag_core.embedding import Embedder, embedding_text
from normrag_core.embedding.base import Cancel, Progress
from normrag_core.model import Chunk
from normrag_core.storage.vectors import VectorStore


class StoredEmbedder:
    """An Embedder over another one and a store. `vectors` is what a Retriever takes for its chunks.

    say: gets a line before texts are embedded, since that can take minutes.
    """

    def __init__(self, embedder: Embedder, store: VectorStore, say: Callable[[str], None]) -> None:
        self.name, self.revision, self.dimension = embedder.name, embedder.revision, embedder.dimension
        self.max_tokens, self.engine = embedder.max_tokens, embedder.engine
        self._embedder, self._store, self._say = embedder, store, say
        self._questions = _Questions(embedder)
        self._known: dict[str, np.ndarray] = {}

    def encode(self, texts: Sequence[str], progress: Progress | None = None, cancel: Cancel | None = None) -> np.ndarray:
        """(n, dimension) float32, rows L2-normalised."""
        missing = self._store.missing(self._embedder, texts)
        if missing:
            self._say(f"embedding {missing} of {len(texts)} passages with {self.name} ({self.engine})")
        return self._store.embed(self._embedder, texts, progress, cancel)

    def encode_query(self, text: str) -> np.ndarray:
        """(dimension,) float32, L2-normalised."""
        if text not in self._known:
            self.prepare([text])
        return self._known[text]

    def prepare(self, questions: Sequence[str]) -> None:
        """Embeds or fetches many questions at once."""
        found = self._store.embed(self._questions, questions)
        self._known.update(zip(questions, found, strict=True))

    def token_counts(self, texts: Sequence[str]) -> np.ndarray:
        return self._embedder.token_counts(texts)

    def vectors(self, chunks: Sequence[Chunk]) -> np.ndarray:
        """(n, dimension) float32, rows L2-normalised."""
        return self.encode([embedding_text(c) for c in chunks])


class _Questions:
    """The same model as it embeds questions: its prefix makes other vectors of the same text, so it is another revision."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.revision, self.dimension = embedder.name, f"{embedder.revision} questions", embedder.dimension
        self.max_tokens, self.engine = embedder.max_tokens, embedder.engine
        self.encode_query, self.token_counts = embedder.encode_query, embedder.token_counts

    def encode(self, texts: Sequence[str], progress: Progress | None = None, cancel: Cancel | None = None) -> np.ndarray:
        return np.stack([self.encode_query(t) for t in texts])
