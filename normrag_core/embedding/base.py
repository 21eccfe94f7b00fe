"""What an embedder is and the errors it raises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

Progress = Callable[[int, int], None]
"""Called with (texts done, texts in all)."""
Cancel = Callable[[], bool]
"""Asked between batches; True stops the work with `EmbeddingCancelled`."""


class EmbeddingError(RuntimeError):
    """A model cannot be found, trusted or run; the message says what was expected, what was found and what to do."""


class EmbeddingCancelled(RuntimeError):  # noqa: N818 (a stop that the caller asked for is no error)
    """The caller's `cancel` answered True; what a store had committed before stays."""


class Embedder(Protocol):
    """Turns texts into vectors.

    name: as shown to the user. revision: hash over weights, settings and precision; vectors of two revisions are never
    mixed. dimension: of a vector. max_tokens: the model's limit, its two special tokens included. engine: what computes it.
    """

    name: str
    revision: str
    dimension: int
    max_tokens: int
    engine: str

    def encode(self, texts: Sequence[str], progress: Progress | None = None, cancel: Cancel | None = None) -> np.ndarray:
        """(n, dimension) float32, rows L2-normalised, in the order of the texts."""
        ...

    def encode_query(self, text: str) -> np.ndarray:
        """(dimension,) float32, L2-normalised: a question, with the prefix that the model wants before one."""
        ...

    def token_counts(self, texts: Sequence[str]) -> np.ndarray:
        """(n,) int64: tokens of each text with special tokens, uncut. Above `max_tokens` a text is long."""
        ...
