"""Who is next to whom: parthood and citation as sparse matrices, over units or over chunks alike.

Siblings stay implicit: nodes of one group are siblings of each other, so a clause with 2,000 sub-clauses costs 2,000
entries and not four million.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from normrag_core.config import Relation
from normrag_core.model import Chunk


@dataclass(frozen=True)
class Adjacency:
    """Edges between n nodes.

    parent: (n,) int64, the parent's index, -1 for none. group: (n,) int64; nodes of one group are siblings, -1 for none.
    cites: (n, n) bool CSR, row cites column, no loops.
    """

    parent: np.ndarray
    group: np.ndarray
    cites: sparse.csr_array

    @classmethod
    def of(cls, parent: np.ndarray, group: np.ndarray, citations: np.ndarray | Sequence[tuple[int, int]]) -> Adjacency:
        """From (m, 2) citing, cited; repeated pairs count once and a node that cites itself is not its own neighbour."""
        pairs = np.asarray(citations, dtype=np.int64).reshape(-1, 2)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        return cls(np.asarray(parent, dtype=np.int64), np.asarray(group, dtype=np.int64), _matrix(pairs, len(parent)))

    def __len__(self) -> int:
        return len(self.parent)

    @cached_property
    def to_parent(self) -> sparse.csr_array:
        """(n, n) bool CSR, row's parent is column."""
        nodes = np.flatnonzero(self.parent >= 0)
        return _matrix(np.stack([nodes, self.parent[nodes]], axis=1), len(self))

    @cached_property
    def to_children(self) -> sparse.csr_array:
        return _turned(self.to_parent)

    @cached_property
    def cited_by(self) -> sparse.csr_array:
        return _turned(self.cites)

    @cached_property
    def members(self) -> sparse.csr_array:
        """(groups, n) float32 CSR: which nodes a sibling group holds."""
        nodes = np.flatnonzero(self.group >= 0)
        groups = int(self.group.max(initial=-1)) + 1
        ones = np.ones(len(nodes), dtype=np.float32)
        made = sparse.csr_array((ones, (self.group[nodes], nodes)), shape=(groups, len(self)))
        made.sort_indices()
        return made

    def explicit(self, relation: Relation) -> sparse.csr_array:
        """(n, n) bool CSR of a relation other than sibling; row's neighbours are its columns."""
        match relation:
            case "parent":
                return self.to_parent
            case "child":
                return self.to_children
            case "cites":
                return self.cites
            case "cited-by":
                return self.cited_by
        raise ValueError(f"relation: expected parent, child, cites or cited-by; found {relation!r}")

    def neighbours(self, node: int, relation: Relation) -> np.ndarray:
        """(m,) int64 indices in rising order."""
        if relation == "sibling":
            group = self.group[node]
            if group < 0:
                return np.zeros(0, dtype=np.int64)
            found = _row(self.members, int(group))
            return found[found != node]
        return _row(self.explicit(relation), node)

    @cached_property
    def degree(self) -> np.ndarray:
        """(n,) int64: distinct neighbours by parthood and citation, siblings not counted, at least 1."""
        every = self.union(("parent", "child", "cites", "cited-by"))
        return np.maximum(np.diff(every.indptr), 1).astype(np.int64)

    def union(self, relations: Iterable[Relation]) -> sparse.csr_array:
        """(n, n) bool CSR of several relations other than sibling together; a neighbour by two of them counts once."""
        out = sparse.csr_array((len(self), len(self)), dtype=bool)
        for relation in relations:
            out = out + self.explicit(relation)
        return sparse.csr_array(out)


def chunk_adjacency(units: Adjacency, index: Mapping[str, int], chunks: Sequence[Chunk]) -> Adjacency:
    """The graph over chunks: a whole unit is one node; a split unit is its head, with its parts as children.

    Edges between units join their heads. Parts of one unit are siblings of each other, and so are units of one parent.
    Windows have no edges. units: the graph over units; index: unit id → its node there.
    """
    node = np.full(len(units), -1, dtype=np.int64)  # unit → the chunk that stands for it
    for i, chunk in enumerate(chunks):
        if chunk.kind in ("unit", "head"):
            node[index[chunk.unit]] = i
    parent = np.full(len(chunks), -1, dtype=np.int64)
    group = np.full(len(chunks), -1, dtype=np.int64)
    for i, chunk in enumerate(chunks):
        unit = index[chunk.unit]
        if chunk.kind == "part":
            parent[i] = node[unit]
            group[i] = len(units) + unit
        elif chunk.kind != "window" and units.parent[unit] >= 0:
            parent[i] = node[units.parent[unit]]
            group[i] = units.parent[unit]
    known = group >= 0
    group[known] = np.unique(group[known], return_inverse=True)[1]  # no gaps: every group has a row in `members`
    rows, columns = node[units.cites.tocoo().coords[0]], node[units.cites.tocoo().coords[1]]
    both = (rows >= 0) & (columns >= 0)
    return Adjacency(parent, group, _matrix(np.stack([rows[both], columns[both]], axis=1), len(chunks)))


def _matrix(pairs: np.ndarray, n: int) -> sparse.csr_array:
    made = sparse.csr_array((np.ones(len(pairs), dtype=bool), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    made.sum_duplicates()
    made.sort_indices()
    return made


def _turned(matrix: sparse.csr_array) -> sparse.csr_array:
    made = sparse.csr_array(matrix.T)
    made.sort_indices()
    return made


def _row(matrix: sparse.csr_array, row: int) -> np.ndarray:
    return matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]].astype(np.int64)
