"""Units and citations as index arrays: what views, tables and centralities count over.

One row a unit (in corpus order) and one a citation; parents come before their children, so a single pass lifts any unit to
the nearest ancestor that is shown.
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
        """Arrays of a corpus. Units must follow their parents, as ingest writes them; others are sorted out by depth."""
        index = {unit.id: i for i, unit in enumerate(corpus.units)}
        document_index = {d.key: i for i, d in enumerate(corpus.documents)}
        n = len(corpus.units)
        parent = np.full(n, -1, dtype=np.int64)
        for i, unit in enumerate(corpus.units):
            if unit.parent is not None:
                parent[i] = index[f"{unit.document}#{unit.parent}"]
        depth = np.zeros(n, dtype=np.int64)
        for i in range(n):
            at, steps = parent[i], 0
            while at >= 0:
                at, steps = parent[at], steps + 1
            depth[i] = steps
        citations = corpus.citations
        return cls(
            corpus=corpus,
            index=index,
            parent=parent,
            depth=depth,
            document=np.array([document_index[u.document] for u in corpus.units], dtype=np.int64),
            source=np.array([index[c.source] for c in citations], dtype=np.int64),
            target=np.array([index.get(c.target or "", -1) for c in citations], dtype=np.int64),
            state=np.array([STATES.index(c.state) for c in citations], dtype=np.int64),
            informative=np.array([c.informative for c in citations], dtype=bool),
        )

    def lift(self, visible: np.ndarray) -> np.ndarray:
        """Nearest shown ancestor-or-self of every unit: (n_units,) unit index, -1 where none is shown.

        visible: (n_units,) bool.
        """
        lifted = np.full(len(self.parent), -1, dtype=np.int64)
        for i in np.argsort(self.depth, kind="stable"):
            lifted[i] = i if visible[i] else (lifted[self.parent[i]] if self.parent[i] >= 0 else -1)
        return lifted

    def subtree_sizes(self) -> np.ndarray:
        """Units in each unit's subtree, itself included: (n_units,)."""
        sizes = np.ones(len(self.parent), dtype=np.int64)
        for i in np.argsort(-self.depth, kind="stable"):
            if self.parent[i] >= 0:
                sizes[self.parent[i]] += sizes[i]
        return sizes

    def folded(self, shown: list[str], score: np.ndarray) -> dict[str, float]:
        """A score of units summed over what each shown unit stands for, scaled so that the largest is 1.

        shown: unit ids, others are skipped. score: (n_units,).
        """
        visible = np.zeros(len(self.parent), dtype=bool)
        known = [i for i in shown if i in self.index]
        visible[[self.index[i] for i in known]] = True
        lifted = self.lift(visible)
        total = np.bincount(lifted[lifted >= 0], weights=score[lifted >= 0], minlength=len(score))
        top = max((float(total[self.index[i]]) for i in known), default=0.0)
        return {i: float(total[self.index[i]]) / top if top else 0.0 for i in known}
