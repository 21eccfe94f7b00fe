"""More like this: chunks whose vectors are closest to that of a given one."""

from __future__ import annotations

import numpy as np

from normrag_core.config import RetrieverConfig
from normrag_core.dense import cosines
from normrag_core.retriever import Retriever
from normrag_core.selection import best


def similar(retriever: Retriever, config: RetrieverConfig, index: int, most: int = 8) -> list[tuple[int, float]]:
    """(chunk index, cosine) of the closest chunks, best first, none of the same unit; [] while vectors are not ready.

    Plain vectors: smoothing would make every neighbour similar by construction.
    """
    over = retriever.index(config)
    vectors = over.vectors()
    if vectors is None:
        return []
    scores = cosines(vectors, np.asarray(vectors[index], dtype=np.float32))
    own = over.chunks[index].unit
    ranked = best(scores, min(len(over), most + sum(c.unit == own for c in over.chunks)))
    return [(int(i), float(scores[i])) for i in ranked if over.chunks[i].unit != own][:most]
