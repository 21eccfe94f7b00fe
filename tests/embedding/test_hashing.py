"""The toy embedder is deterministic over processes, normalised, and nearer for texts that share words."""

from __future__ import annotations

import numpy as np
import pytest

from normrag_core.embedding import EmbeddingCancelled
from normrag_core.embedding.hashing import HashEmbedder


def test_shared_words_bring_texts_near() -> None:
    rows = HashEmbedder(512).encode(["radiated emission limit", "limit of radiated emission", "table of contents"])
    assert rows[0] @ rows[1] > 0.8 > rows[0] @ rows[2]
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


def test_known_place_of_a_word_and_a_text_without_words() -> None:
    rows = HashEmbedder().encode(["clause", "CLAUSE", "…"])
    assert (rows[0] == rows[1]).all()
    assert np.flatnonzero(rows[0]).tolist() == [14]
    assert rows[2][0] == 1


def test_cancel() -> None:
    with pytest.raises(EmbeddingCancelled):
        HashEmbedder().encode(["a"], cancel=lambda: True)
