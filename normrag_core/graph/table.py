"""Units and citations as index arrays: what the adjacency, the views, the tables and the centralities are made from.

One row a unit (in corpus order) and one a citation. Whatever climbs the clause tree climbs it level by level for all units at
once, so it costs a handful of array operations at any size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from normrag_core.model import Corpus

STATES = ("resolved", "version-mismatch", "missing-clause", "not-loaded")


@dataclass(frozen=True, slots=True)
class CitationTable:
    """Index arrays over `corpus.units` and `corpus.citations`.

    parent: (n_units,) index of the parent, -1 for a root. depth: (n_units,) 0 for a root. document: (n_units,) index into
    `corpus.documents`. source, target: (n_citations,) unit indices, target -1 where the citation leads nowhere.
    state: (n_citations,) index into STATES. informative: (n_citations,) bool.
    """

    corpus: Corpus
    index: dict[str, int]
    parent: np.ndarray
    depth: np.ndarray
    document: np.ndarray
    source: np.ndarray
    target: np.ndarray
    state: np.ndarray
    informative: np.ndarray

    @classmethod
    def of(cls, corpus: Corpus) -> CitationTable:
        """Arrays of a corpus, whose units may stand in any order."""
        units, citations = corpus.units, corpus.citations
        index = {unit.id: i for i, unit in enumerate(units)}
        document_index = {d.key: i for i, d in enumerate(corpus.documents)}
        state_index = {s: i for i, s in enumerate(STATES)}
        parent = np.array([-1 if u.parent is None else index[f"{u.document}#{u.parent}"] for u in units], dtype=np.int64)
        depth = np.zeros(len(units), dtype=np.int64)
        above = parent.copy()
        while (above >= 0).any():
            depth += above >= 0
            above = _step(parent, above)
        return cls(
            corpus=corpus,
            index=index,
            parent=parent,
            depth=depth,
            document=np.array([document_index[u.document] for u in units], dtype=np.int64),
            source=np.array([index[c.source] for c in citations], dtype=np.int64),
            target=np.array([index.get(c.target or "", -1) for c in citations], dtype=np.int64),
            state=np.array([state_index[c.state] for c in citations], dtype=np.int64),
            informative=np.array([c.informative for c in citations], dtype=bool),
        )

    def places(self, ids: list[str]) -> np.ndarray:
        """(m,) int64 unit indices of the ids that name a unit; others are skipped."""
        return np.array([self.index[i] for i in ids if i in self.index], dtype=np.int64)

    def mask(self, ids: list[str]) -> np.ndarray:
        """(n_units,) bool: the units with these ids."""
        made = np.zeros(len(self.parent), dtype=bool)
        made[self.places(ids)] = True
        return made

    def lift(self, visible: np.ndarray) -> np.ndarray:
        """Nearest shown ancestor-or-self of every unit: (n_units,) unit index, -1 where none is shown.

        visible: (n_units,) bool.
        """
        lifted = np.arange(len(self.parent))
        while True:
            hidden = (lifted >= 0) & ~visible[lifted]
            if not hidden.any():
                return lifted
            lifted = np.where(hidden, _step(self.parent, lifted), lifted)

    def with_above(self, chosen: np.ndarray) -> np.ndarray:
        """(n_units,) bool: the chosen units and all above them."""
        out, level = chosen.copy(), np.flatnonzero(chosen)
        while level.size:
            level = np.unique(self.parent[level])
            level = level[level >= 0]
            level = level[~out[level]]
            out[level] = True
        return out

    def with_below(self, chosen: np.ndarray) -> np.ndarray:
        """(n_units,) bool: the chosen units and all below them."""
        return np.asarray(self.lift(chosen) >= 0)

    def folded(self, shown: list[str], score: np.ndarray) -> dict[str, float]:
        """A score of units summed over what each shown unit stands for, scaled so that the largest is 1.

        shown: unit ids, others are skipped. score: (n_units,).
        """
        known = [i for i in shown if i in self.index]
        lifted = self.lift(self.mask(known))
        total = np.bincount(lifted[lifted >= 0], weights=score[lifted >= 0], minlength=len(score))
        top = max((float(total[self.index[i]]) for i in known), default=0.0)
        return {i: float(total[self.index[i]]) / top if top else 0.0 for i in known}

    def worst(self, shown: list[str]) -> dict[str, str]:
        """Shown unit id → the worst state of the citations in what it stands for; units that cite nothing are left out."""
        known = [i for i in shown if i in self.index]
        lifted = self.lift(self.mask(known))[self.source]
        worst = np.full(len(self.parent), -1, dtype=np.int64)
        np.maximum.at(worst, lifted[lifted >= 0], self.state[lifted >= 0])
        return {i: STATES[worst[self.index[i]]] for i in known if worst[self.index[i]] >= 0}


def _step(parent: np.ndarray, at: np.ndarray) -> np.ndarray:
    """One level up: -1 stays -1."""
    return np.where(at >= 0, parent[np.maximum(at, 0)] if len(parent) else at, -1)
