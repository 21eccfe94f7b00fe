"""Who is next to whom, over units and over chunks."""

from __future__ import annotations

import numpy as np
import pytest
from toys import corpus

from normrag_core.chunking import make_chunks
from normrag_core.graph import Adjacency, Graph, chunk_adjacency
from normrag_core.smoothing import neighbour_means

A, B = "EN 999 001 V1.1.1", "TS 999 002 V1.2.1"


def keys(graph: Graph, unit: str, relation: str) -> list[str]:
    return [u.id for u in graph.neighbours(unit, relation)]  # type: ignore[arg-type]


def test_relations_of_units() -> None:
    graph = Graph.of(corpus())
    assert keys(graph, f"{A}#4.1", "parent") == [f"{A}#4"]
    assert keys(graph, f"{A}#4", "child") == [f"{A}#4.1", f"{A}#4.2"]
    assert keys(graph, f"{A}#4", "sibling") == [f"{A}#1", f"{A}#5"]
    assert keys(graph, f"{A}#4.2", "cites") == [f"{B}#", f"{B}#2"]
    assert keys(graph, f"{B}#2", "cited-by") == [f"{A}#4.2"]
    assert keys(graph, f"{A}#", "sibling") == keys(graph, f"{A}#", "parent") == []


def test_degree_counts_distinct_neighbours_without_siblings_and_is_at_least_1() -> None:
    graph = Graph.of(corpus())
    degree = {u.id: int(d) for u, d in zip(graph.units, graph.degree, strict=True)}
    assert degree[f"{A}#4.2"] == 3  # parent, two cited
    assert degree[f"{A}#5"] == 3  # parent, one child, one citing
    assert degree[f"{B}#"] == 3  # two children, one citing
    assert degree[f"{A}#1"] == 1


def test_a_neighbour_by_two_relations_and_repeated_citations_count_once() -> None:
    parent = np.array([-1, 0, 0])
    loop_and_repeats = [(1, 0), (1, 0), (0, 1), (2, 2)]
    made = Adjacency.of(parent, parent, loop_and_repeats)
    assert made.degree.tolist() == [2, 1, 1]
    assert made.neighbours(2, "cites").tolist() == []
    assert made.neighbours(1, "cites").tolist() == [0]


def test_sibling_matrix_holds_every_pair() -> None:
    graph = Graph.of(corpus())
    matrix = graph.matrix("sibling")
    for i in range(len(graph.units)):
        row = matrix.indices[matrix.indptr[i] : matrix.indptr[i + 1]]
        assert sorted(row) == graph.adjacency.neighbours(i, "sibling").tolist()


def test_networkx_view() -> None:
    view = Graph.of(corpus()).to_networkx()
    assert view.number_of_nodes() == 11
    assert sorted(d["kind"] for _, _, d in view.edges(data=True)) == ["cites"] * 3 + ["parent"] * 9
    assert view.has_edge(f"{A}#4", f"{A}#4.1")


def test_a_split_unit_is_a_head_with_its_parts_as_children() -> None:
    made = corpus()
    graph = Graph.of(made)
    chunks = make_chunks(made, "structured+chunks", 40)
    at = {c.id: i for i, c in enumerate(chunks)}
    over = chunk_adjacency(graph.adjacency, graph.index, chunks)

    def names(chunk: str, relation: str) -> list[str]:
        return [chunks[i].id for i in over.neighbours(at[chunk], relation)]  # type: ignore[arg-type]

    head = f"{A}#5"
    parts = [f"{A}#5/{n}" for n in (1, 2, 3)]
    assert names(head, "child") == [*parts, f"{A}#5.1"]
    assert names(parts[0], "parent") == [head]
    assert names(parts[1], "sibling") == [parts[0], parts[2]]
    assert names(f"{A}#5.1", "sibling") == []  # parts are no siblings of sub-clauses
    assert names(f"{A}#4.1", "cites") == [head]  # edges between units join their heads
    assert names(parts[0], "cited-by") == []
    assert over.degree[at[parts[0]]] == 1
    assert over.degree[at[head]] == 6  # parent, three parts, a sub-clause, a citing clause


def test_windows_have_no_edges() -> None:
    made = corpus()
    graph = Graph.of(made)
    over = chunk_adjacency(graph.adjacency, graph.index, make_chunks(made, "vanilla", 40))
    assert all(over.neighbours(i, r).size == 0 for i in range(len(over)) for r in ("parent", "sibling", "cites"))


def test_a_clause_with_many_sub_clauses_stays_small() -> None:
    n = 20_001
    parent = np.array([-1] + [0] * (n - 1))
    made = Adjacency.of(parent, parent, [])
    assert made.members.nnz == n - 1  # and not the square of it
    means = neighbour_means(np.ones((n, 4), dtype=np.float32), made, ("sibling",))
    assert means.counts.tolist() == [0] + [n - 2] * (n - 1)


def test_unknown_relation_is_refused() -> None:
    with pytest.raises(ValueError, match="expected parent, child, cites or cited-by; found 'uncle'"):
        Graph.of(corpus()).adjacency.explicit("uncle")  # type: ignore[arg-type]
