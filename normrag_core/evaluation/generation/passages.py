"""What questions are made from: single clauses, and pairs of a citing and a cited clause."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, zip_longest

import numpy as np

from normrag_core.evaluation.statistics import SEED
from normrag_core.model import Corpus, InfoUnit

MIN_WORDS = 40
MAX_WORDS = 700
_BOILERPLATE = ("foreword", "history", "intellectual property", "modal verbs", "contents", "references", "bibliography")


@dataclass(frozen=True, slots=True)
class Source:
    """Clauses that one question is to be made from: one, or the citing and the cited one. citation: as printed."""

    units: tuple[InfoUnit, ...]
    citation: str = ""

    @property
    def id(self) -> str:
        """Stable over runs: a resumed generation knows what it has done by it."""
        return " -> ".join(u.id for u in self.units)


def clause_sources(corpus: Corpus, n: int, seed: int = SEED) -> list[Source]:
    """n clauses with enough running text, drawn with the seed; documents take turns, so that no long one fills the set."""
    return _draw(corpus, [Source((u,)) for u in corpus.units if usable(u)], n, seed)


def citation_sources(corpus: Corpus, n: int, seed: int = SEED) -> list[Source]:
    """n pairs of clauses joined by a resolved citation, each pair once, both with enough text."""
    pairs: dict[tuple[str, str], Source] = {}
    for c in corpus.citations:
        if c.target is None or c.target == c.source:
            continue
        source, target = corpus.by_id[c.source], corpus.by_id[c.target]
        if usable(source) and usable(target):
            pairs.setdefault((source.id, target.id), Source((source, target), c.text))
    return _draw(corpus, list(pairs.values()), n, seed)


def usable(unit: InfoUnit) -> bool:
    """Whether a clause has text to ask about, and not too much for a prompt."""
    n_words = len(unit.body.split())
    return (
        unit.kind != "document"
        and MIN_WORDS <= n_words <= MAX_WORDS
        and not unit.title.casefold().startswith(_BOILERPLATE)
        and unit.code != "2"  # The references clause of every ETSI standard.
    )


def _draw(corpus: Corpus, sources: list[Source], n: int, seed: int) -> list[Source]:
    rng = np.random.default_rng(seed)
    by_document: dict[str, list[Source]] = {d.key: [] for d in corpus.documents}
    for i in rng.permutation(len(sources)):
        by_document[sources[i].units[0].document].append(sources[i])
    turns: Iterable[Source | None] = chain.from_iterable(zip_longest(*by_document.values()))
    return [s for s in turns if s is not None][:n]
