"""Vectors in the background: the retriever asks for those of a chunk list and gets None until a thread has made them.

One model serves the whole process (it carries nothing of a user); the matrices belong to one Library.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from normrag_core.embedding import Embedder, EmbeddingCancelled, EmbeddingError, load_embedder
from normrag_core.model import Chunk
from pages._jobs import VectorJob

KEPT = 4
Embed = Callable[[Embedder, Sequence[Chunk], Callable[[int, int], None], Callable[[], bool]], np.ndarray]


class Model:
    """The embedder of the process, loaded at first need: showing a page must not wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._embedder: Embedder | None = None

    def get(self) -> Embedder:
        with self._lock:
            if self._embedder is None:
                self._embedder = load_embedder()
            return self._embedder

    @property
    def loaded(self) -> Embedder | None:
        """The embedder where it is in memory; does not wait."""
        return self._embedder

    def encode_query(self, text: str) -> np.ndarray:
        """(dim,) vector of a question: all that the retriever asks of an embedder here."""
        return self.get().encode_query(text)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """(n, dim) vectors of a few sentences, for the answer."""
        return self.get().encode(texts)


@lru_cache(maxsize=1)
def model() -> Model:
    return Model()


class Vectors:
    """Matrices of chunk lists, made one after the other in a thread; the list asked for last comes first.

    embed: makes or fetches the (n, dim) matrix of a chunk list. turn: waits until that may begin, or is cancelled.
    """

    def __init__(self, embed: Embed, turn: Callable[[Callable[[], bool]], None]) -> None:
        self._embed = embed
        self._turn = turn
        self._lock = threading.Lock()
        self._made: OrderedDict[int, tuple[Sequence[Chunk], np.ndarray]] = OrderedDict()
        self._wanted: OrderedDict[int, Sequence[Chunk]] = OrderedDict()
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self.job: VectorJob | None = None

    def __call__(self, chunks: Sequence[Chunk]) -> np.ndarray | None:
        """The matrix, or None while it is being made; asking starts the making."""
        # By identity: a chunk list lives as long as its index, and the kept pair holds on to it, so ids are not reused.
        key = id(chunks)
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key][1]
            failed = self.job is not None and bool(self.job.error)
            if not self._stopped.is_set() and not failed:
                self._wanted[key] = chunks
                self._wanted.move_to_end(key)
                while len(self._wanted) > KEPT:  # Nobody waits for what was asked for that long ago.
                    self._wanted.popitem(last=False)
                if self._thread is None:
                    self._thread = threading.Thread(target=self._work, name="vectors", daemon=True)
                    self._thread.start()
            return None

    def ready(self, chunks: Sequence[Chunk]) -> bool:
        return id(chunks) in self._made

    def stop(self) -> None:
        """Ends the work in hand; what a store has kept stays. `resume` allows it again."""
        self._stopped.set()
        with self._lock:
            self._wanted.clear()

    def resume(self) -> None:
        self._stopped.clear()
        self.job = None

    def forget(self) -> None:
        """Drops all matrices, e.g. after the documents went."""
        self.stop()
        with self._lock:
            self._made.clear()
        self.resume()

    def _work(self) -> None:
        while True:
            self._turn(self._cancelled)
            with self._lock:
                if not self._wanted:
                    self._thread = None
                    return
                key, chunks = self._wanted.popitem()
            try:
                self.job = VectorJob(0, len(chunks))
                made = self._embed(model().get(), chunks, self._progress, self._cancelled)
            except EmbeddingCancelled:
                self._end("stopped")
            except (EmbeddingError, OSError, MemoryError) as error:
                self._end(str(error))
            else:
                with self._lock:
                    self._made[key] = (chunks, made)
                    while len(self._made) > KEPT:
                        self._made.popitem(last=False)
                self._end("")

    def _progress(self, done: int, total: int) -> None:
        if self.job is not None:
            self.job = replace(self.job, done=done, total=total)

    def _cancelled(self) -> bool:
        return self._stopped.is_set()

    def _end(self, error: str) -> None:
        if self.job is not None:
            self.job = replace(self.job, ended=time.monotonic(), error=error)
