"""The property graph G = (IU, P ∪ C) over the units of a corpus; chunks inherit it (see `chunk_adjacency`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from normrag_core.config import Relation
from normrag_core.graph.adjacency import Adjacency, chunk_adjacency
from normrag_core.graph.table import CitationTable
from normrag_core.model import Citation, Corpus, InfoUnit

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Adjacency", "Graph", "chunk_adjacency"]


@dataclass(frozen=True)
class Graph:
    """Parthood and resolved citations over the units of a corpus.

    table: the index arrays that all of it is made from. adjacency: edges between the places of `units`.
    """

    table: CitationTable
    adjacency: Adjacency

    @classmethod
    def of(cls, corpus: Corpus) -> Graph:
        """Graph of a corpus. Citations that are not resolved have no target and make no edge."""
        table = CitationTable.of(corpus)
        resolved = table.target >= 0
        pairs = np.stack([table.source[resolved], table.target[resolved]], axis=1)
        # A unit's siblings are the other children of its parent, so the parent's number names the group.
        return cls(table, Adjacency.of(table.parent, table.parent, pairs))

    @property
    def corpus(self) -> Corpus:
        return self.table.corpus

    @property
    def units(self) -> tuple[InfoUnit, ...]:
        """The nodes."""
        return self.table.corpus.units

    @property
    def index(self) -> dict[str, int]:
        """Unit id → its place in `units`."""
        return self.table.index

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

    def nodes(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """(id, attributes) of G = (IU, P ∪ C): units, then what is cited and not there, of kind "not-loaded"."""
        corpus = self.corpus
        for unit in corpus.units:
            yield (
                unit.id,
                {
                    "label": unit.heading or corpus.by_key[unit.document].label,
                    "document": unit.document,
                    "code": unit.code,
                    "title": unit.title,
                    "kind": unit.kind,
                    "page": unit.page,
                    "informative": unit.informative,
                },
            )
        nowhere = {_end(c): c.document for c in corpus.citations if c.target is None}
        for name, document in nowhere.items():
            yield name, {"label": name[1:], "document": document, "kind": "not-loaded"}

    def edges(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """(from, to, attributes): kind "parent", from the parent to the child; kind "cites", one a citation."""
        for unit in self.corpus.units:
            if unit.parent is not None:
                yield f"{unit.document}#{unit.parent}", unit.id, {"kind": "parent"}
        for c in self.corpus.citations:
            yield c.source, _end(c), {"kind": "cites", "text": c.text, "page": c.page, "state": c.state}

    def to_networkx(self) -> nx.MultiDiGraph:
        """The same for notebooks; needs networkx."""
        import networkx as nx  # here, for starting need not wait for it

        out = nx.MultiDiGraph(fingerprint=self.corpus.fingerprint)
        out.add_nodes_from(self.nodes())
        out.add_edges_from(self.edges())
        return out


def _end(citation: Citation) -> str:
    """Where a citation leads: a unit's id, or "?" and the document and clause that are not there."""
    return citation.target or "?" + " ".join(filter(None, (citation.document, citation.code)))
