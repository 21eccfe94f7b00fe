"""The property graph G = (IU, P ∪ C) over the units of a corpus; chunks inherit it (see `chunk_adjacency`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from normrag_core.config import Relation
from normrag_core.graph.adjacency import Adjacency, chunk_adjacency
from normrag_core.model import Corpus, InfoUnit

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Adjacency", "Graph", "chunk_adjacency"]


@dataclass(frozen=True)
class Graph:
    """Parthood and resolved citations over the units of a corpus.

    units: the nodes. index: unit id → its place in `units`. adjacency: edges between these places.
    """

    corpus: Corpus
    units: tuple[InfoUnit, ...]
    index: dict[str, int]
    adjacency: Adjacency

    @classmethod
    def of(cls, corpus: Corpus) -> Graph:
        """Graph of a corpus. Citations that are not resolved have no target and make no edge."""
        units = corpus.units
        index = {u.id: i for i, u in enumerate(units)}
        parent = np.array([-1 if u.parent is None else index[f"{u.document}#{u.parent}"] for u in units], dtype=np.int64)
        pairs = (
            (index[c.source], index[c.target])
            for c in corpus.citations
            if c.state == "resolved" and c.target in index and c.source in index
        )
        # A unit's siblings are the other children of its parent, so the parent's number names the group.
        return cls(corpus, units, index, Adjacency.of(parent, parent, pairs))

    def neighbours(self, unit: str, relation: Relation) -> list[InfoUnit]:
        """Units next to the unit with this id, in corpus order."""
        return [self.units[i] for i in self.adjacency.neighbours(self.index[unit], relation)]

    def matrix(self, relation: Relation) -> sparse.csr_array:
        """(n, n) bool CSR of one relation. That of "sibling" grows with the square of a clause's sub-clauses."""
        if relation != "sibling":
            return self.adjacency.explicit(relation)
        members = self.adjacency.members
        made = sparse.coo_array(members.T @ members)
        apart = made.row != made.col
        ones = np.ones(int(apart.sum()), dtype=bool)
        return sparse.csr_array((ones, (made.row[apart], made.col[apart])), shape=made.shape)

    @cached_property
    def degree(self) -> np.ndarray:
        """(n,) int64: distinct neighbours by parthood and citation, siblings not counted, at least 1."""
        return self.adjacency.degree

    def to_networkx(self) -> nx.MultiDiGraph:
        """Nodes are unit ids; edges carry relation "part-of" (child to parent) or "cites" (citing to cited)."""
        import networkx as nx  # here, for starting need not wait for it

        out = nx.MultiDiGraph()
        for unit in self.units:
            out.add_node(unit.id, document=unit.document, code=unit.code, title=unit.title, kind=unit.kind, page=unit.page)
        for relation, matrix in (("part-of", self.adjacency.to_parent), ("cites", self.adjacency.cites)):
            made = sparse.coo_array(matrix)
            for source, target in zip(made.row, made.col, strict=True):
                out.add_edge(self.units[source].id, self.units[target].id, relation=relation)
        return out
