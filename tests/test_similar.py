"""More like this: the closest vectors, without the clause itself."""

from __future__ import annotations

import numpy as np
import pytest
import toys

from normrag_core.config import PRESETS
from normrag_core.retriever import Retriever
from normrag_core.similar import similar


def test_the_closest_chunks_of_other_units_come_in_order_of_their_cosine() -> None:
    retriever = Retriever(toys.corpus(), toys.HashingEmbedder())
    config = PRESETS["chunked-rrf"].config.with_(max_words=30)
    chunks = retriever.chunks(config)
    vectors = retriever.index(config).vectors()
    assert vectors is not None
    split = next(i for i, c in enumerate(chunks) if c.kind == "part")
    found = similar(retriever, config, split, 4)
    others = [i for i, c in enumerate(chunks) if c.unit != chunks[split].unit]
    best = sorted(others, key=lambda i: -float(vectors[i] @ vectors[split]))[:4]
    assert [c for _, c in found] == pytest.approx([float(vectors[i] @ vectors[split]) for i in best], abs=1e-6)
    assert np.all(np.diff([c for _, c in found]) <= 1e-9)


def test_without_vectors_nothing_is_like_it() -> None:
    assert similar(Retriever(toys.corpus()), PRESETS["bm25"].config, 3) == []
