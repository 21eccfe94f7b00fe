"""The embedder made of a tokenizer and an engine: tokenise, window, compute, pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from tokenizers import Tokenizer

from normrag_core.embedding import windows
from normrag_core.embedding.base import Cancel, EmbeddingCancelled, Progress

LongTexts = Literal["windows", "cut"]
_TEXTS_A_STEP = 32
"""Texts between two looks at `cancel`: about half a second of work."""


class Engine(Protocol):
    """Computes vectors of token sequences."""

    dimension: int

    def vectors(self, sequences: Sequence[Sequence[int]]) -> np.ndarray:
        """(n, dimension) float32, rows L2-normalised."""
        ...


class TransformerEmbedder:
    """See `Embedder`. long_texts: "windows" averages over all of a long text, "cut" reads its head like the peers do."""

    def __init__(
        self,
        name: str,
        revision: str,
        engine_name: str,
        engine: Engine,
        tokenizer: Tokenizer,
        max_tokens: int,
        query_prefix: str = "",
        long_texts: LongTexts = "windows",
    ) -> None:
        self.name, self.revision, self.engine = name, revision, engine_name
        self.dimension, self.max_tokens = engine.dimension, max_tokens
        self._engine, self._tokenizer = engine, tokenizer
        self._query_prefix, self._long_texts = query_prefix, long_texts
        tokenizer.no_truncation()  # tokenizer.json of all-MiniLM-L6-v2 would cut at 128 and pad to 128
        tokenizer.no_padding()
        bare, full = tokenizer.encode("a", add_special_tokens=False).ids, tokenizer.encode("a").ids
        at = next(i for i in range(len(full)) if full[i : i + len(bare)] == bare)
        self._head, self._tail = full[:at], full[at + len(bare) :]

    def encode(self, texts: Sequence[str], progress: Progress | None = None, cancel: Cancel | None = None) -> np.ndarray:
        """(n, dimension) float32, rows L2-normalised. Raises EmbeddingCancelled between steps of 32 texts."""
        rows = np.empty((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), _TEXTS_A_STEP):
            if cancel and cancel():
                raise EmbeddingCancelled(f"cancelled after {start} of {len(texts)} texts")
            end = min(start + _TEXTS_A_STEP, len(texts))
            rows[start:end] = self._encode_step(texts[start:end])
            if progress:
                progress(end, len(texts))
        return rows

    def encode_query(self, text: str) -> np.ndarray:
        """(dimension,) float32, L2-normalised."""
        return self._encode_step([self._query_prefix + text])[0]

    def token_counts(self, texts: Sequence[str]) -> np.ndarray:
        """(n,) int64, special tokens included, uncut."""
        extra = len(self._head) + len(self._tail)
        counts = []
        for start in range(0, len(texts), 512):  # bounded, since an encoding holds more than its ids
            batch = self._tokens(texts[start : start + 512])
            counts += [len(tokens) + extra for tokens in batch]
        return np.array(counts, dtype=np.int64)

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, without special tokens, uncut."""
        # PDFs hold halves of surrogate pairs, which the tokenizer refuses
        whole = [t.encode("utf8", "replace").decode("utf8") for t in texts]
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(whole, add_special_tokens=False)]

    def _encode_step(self, texts: Sequence[str]) -> np.ndarray:
        limit = self.max_tokens - len(self._head) - len(self._tail)
        owners: list[int] = []
        pieces: list[Sequence[int]] = []
        for owner, tokens in enumerate(self._tokens(texts)):
            own = [tokens[:limit]] if self._long_texts == "cut" else windows.split(tokens, limit)
            pieces += own
            owners += [owner] * len(own)
        vectors = self._engine.vectors([[*self._head, *piece, *self._tail] for piece in pieces])
        return windows.pool(vectors, np.array(owners), np.array([len(p) for p in pieces]), len(texts))
