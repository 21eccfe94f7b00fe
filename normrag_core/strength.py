"""How far the results bear on the question at all, so that a page can say when they do not.

A ranking always has a first place, also for a question that the documents do not answer. Two signs tell: how much of the
question's weight in rare words the best results hold, and the plain cosine of the nearest one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from normrag_core.dense import cosines
from normrag_core.retriever import Retriever
from normrag_core.trace import Trace

LOOKED_AT = 3
# Measured with all-MiniLM-L6-v2 over 29 real standards: 4 of 184 questions that they answer are called weak, 17 of 20 about
# other matters. A model whose cosines lie higher makes the verdict rarer, never more frequent.
ENOUGH_WORDS = 0.5
ENOUGH_MEANING = 0.4


@dataclass(frozen=True, slots=True)
class Strength:
    """words: share of the question's idf that the best of the first results holds, 0 to 1. meaning: highest plain cosine among
    them, None without vectors. unknown: terms of the question that stand nowhere in the corpus.
    """

    words: float
    meaning: float | None
    unknown: tuple[str, ...]

    @property
    def weak(self) -> bool:
        """Neither words nor meaning speak for the first results."""
        return self.words < ENOUGH_WORDS and (self.meaning is None or self.meaning < ENOUGH_MEANING)


def strength(retriever: Retriever, trace: Trace) -> Strength:
    """What the first results of a trace have to do with its question."""
    index = retriever.index(trace.config)
    bm25 = index.bm25(trace.config)
    weight = term_weights(retriever, trace)
    unknown = tuple(t for t in weight if not bm25.knows(t))
    known = [t for t in weight if t not in unknown]
    total = sum(weight.values())
    first = [r.index for r in trace.results[:LOOKED_AT]]
    held = [sum(weight[t] for t in known if bm25.holds(t, chunk)) for chunk in first]
    plain = index.vectors() if trace.query_vector is not None else None
    meaning = None
    if plain is not None and trace.query_vector is not None and first:
        meaning = float(cosines(plain, trace.query_vector, np.array(first, dtype=np.int64)).max())
    return Strength(max(held, default=0.0) / total if total else 0.0, meaning, unknown)


def term_weights(retriever: Retriever, trace: Trace) -> dict[str, float]:
    """Term of the question → its idf, at least 0. One that no chunk holds is as rare as can be: like one in a single chunk."""
    index = retriever.index(trace.config)
    bm25 = index.bm25(trace.config)
    rarest = max(0.0, math.log(max(1.0, len(index) - 0.5)) - math.log(1.5))
    terms = trace.query_tokens or tuple(retriever.terms(trace.question, trace.config))
    return {t: max(0.0, bm25.idf_of(t)[0]) if bm25.knows(t) else rarest for t in terms}
