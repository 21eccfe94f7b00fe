"""Views, tables and exports of the citation graph over two small standards worked out by hand."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree

import networkx as nx
import numpy as np
import pytest

from normrag_core.config import RetrieverConfig
from normrag_core.graph import Graph, analysis, export, selection, views
from normrag_core.graph.centrality import betweenness, pagerank
from normrag_core.graph.table import CitationTable
from normrag_core.model import Chunk, Citation, Corpus, Document, InfoUnit
from normrag_core.trace import Result, Stage, Trace, Via

EVIL = "<script>alert(1)</script>"


def unit(
    document: str, key: str, parent: str | None, title: str = "", kind: str = "clause", informative: bool = False
) -> InfoUnit:
    return InfoUnit(f"{document}#{key}", document, key, key, title or f"Title {key}", kind, parent, 3, informative=informative)


def cite(source: str, target: str | None, document: str, code: str, state: str = "resolved", **more: object) -> Citation:
    return Citation(source, 3, 0, 8, f"clause {code}", "See it.", document, code, target=target, state=state, **more)


@pytest.fixture
def corpus() -> Corpus:
    """A V1 (4 > 4.1, 4.2; 5; 6) and B V1 (1; 2): A 4.1 → A 4.2, A 4.2 → A 5, A 5 → A 4.1, A 4.1 → B 1 twice, B 2 → A 4."""
    a, b = "A V1", "B V1"
    units = (
        unit(a, "", None, "Doc A", "document"),
        unit(a, "4", ""),
        unit(a, "4.1", "4", EVIL),
        unit(a, "4.2", "4", informative=True),
        unit(a, "5", ""),
        unit(a, "6", ""),
        unit(b, "", None, "Doc B", "document"),
        unit(b, "1", ""),
        unit(b, "2", ""),
    )
    citations = (
        cite("A V1#4.1", "A V1#4.2", "A", "4.2"),
        cite("A V1#4.2", "A V1#5", "A", "5", informative=True),
        cite("A V1#5", "A V1#4.1", "A", "4.1"),
        cite("A V1#4.1", "B V1#1", "B", "1"),
        cite("A V1#4.1", "B V1#1", "B", "1"),
        cite("B V1#2", "A V1#4", "A", "4"),
        cite("B V1#2", None, "C", "9", "not-loaded"),
        cite("A V1#5", None, "B", "7.7", "missing-clause"),
        cite("A V1#5", None, "B", "1", "version-mismatch", edition="V9"),
    )
    documents = (
        Document(a, "A", "V1", "2020-01", "Doc A", 5, "a.pdf"),
        Document(b, "B", "V1", "2020-01", "Doc B", 5, "b.pdf"),
    )
    return Corpus(documents, units, citations)


@pytest.fixture
def table(corpus: Corpus) -> CitationTable:
    return CitationTable.of(corpus)


def edges(view: views.View, relation: str = "cites") -> dict[tuple[str, str], tuple[int, str]]:
    return {(e.source, e.target): (e.count, e.state) for e in view.edges if e.relation == relation}


def test_documents_fold_their_citations_into_one_edge_a_pair(table: CitationTable) -> None:
    view = views.documents_view(table)
    assert edges(view) == {
        ("A V1#", "B V1#"): (2, "resolved"),
        ("B V1#", "A V1#"): (1, "resolved"),
        ("B V1#", "?C"): (1, "not-loaded"),
    }
    assert {n.id: n.folded for n in view.nodes} == {"A V1#": 6, "B V1#": 3, "?C": 1}
    assert "9 of 9 units" in view.sentence


def test_opening_a_document_moves_nothing_and_splits_its_edges(table: CitationTable) -> None:
    closed = views.documents_view(table)
    opened = views.documents_view(table, opened=["A V1#"])
    places = {n.id: (n.x, n.y) for n in opened.nodes}
    assert all(places[n.id] == (n.x, n.y) for n in closed.nodes)
    assert edges(opened) == {
        ("A V1#4", "A V1#5"): (1, "resolved"),
        ("A V1#5", "A V1#4"): (1, "resolved"),
        ("A V1#4", "B V1#"): (2, "resolved"),
        ("B V1#", "A V1#4"): (1, "resolved"),
        ("B V1#", "?C"): (1, "not-loaded"),
    }
    assert {n.id: n.folded for n in opened.nodes if n.id.startswith("A")} == {"A V1#": 1, "A V1#4": 3, "A V1#5": 1, "A V1#6": 1}


def test_filters(table: CitationTable) -> None:
    only = views.documents_view(table, views.Filters(documents=["B V1"]))
    assert edges(only) == {("B V1#", "?C"): (1, "not-loaded")}
    assert edges(views.documents_view(table, views.Filters(states=["resolved"]))).keys() == {
        ("A V1#", "B V1#"),
        ("B V1#", "A V1#"),
    }
    informative = views.documents_view(table, views.Filters(force="informative"), opened=["A V1#"])
    assert edges(informative) == {("A V1#4", "A V1#5"): (1, "resolved")}
    assert {n.id for n in views.documents_view(table, views.Filters(min_degree=3)).nodes} == {"A V1#", "B V1#"}


def test_hierarchy_is_collapsed_and_counts_what_it_folds(table: CitationTable) -> None:
    first = views.hierarchy_view(table, "A V1")
    assert [n.id for n in first.nodes] == ["A V1#", "A V1#4", "A V1#5", "A V1#6"]
    assert {n.id: (n.folded, n.children, n.opened) for n in first.nodes}["A V1#4"] == (3, True, False)
    second = views.hierarchy_view(table, "A V1", opened=["A V1#4"])
    assert (second.shown, second.total) == (6, 6)
    found = views.hierarchy_view(table, "A V1", filters=views.Filters(text="4.2"))
    assert [n.id for n in found.nodes] == ["A V1#", "A V1#4", "A V1#4.2"]


def test_neighbourhood_names_the_relation_of_each_neighbour(table: CitationTable) -> None:
    view = views.neighbourhood_view(table, "A V1#4.1")
    assert {n.id: n.role for n in view.nodes} == {
        "A V1#4.1": "centre",
        "A V1#4": "parent",
        "A V1#4.2": "cites",
        "B V1#1": "cites",
        "A V1#5": "cited-by",
    }
    assert edges(view)["A V1#4.1", "B V1#1"] == (2, "resolved")
    wider = views.neighbourhood_view(table, "B V1#1", hops=2, filters=views.Filters(relations=("cited-by",)))
    assert {n.id for n in wider.nodes} == {"B V1#1", "A V1#4.1", "A V1#5"}
    centre = next(n for n in view.nodes if n.role == "centre")
    assert (centre.x, centre.y) == (0, 0)


def crowd(documents: int, clauses: int) -> CitationTable:
    """Every clause x of every document D 0 .. cites T 1, once; T 1 also cites Z, which is not loaded."""
    made, units, citations = [Document("T", "T", "", "", "Target", 1, "t.pdf")], [], []
    units += [unit("T", "", None, kind="document"), unit("T", "1", ""), unit("T", "2", "")]
    for d in range(documents):
        key = f"D {d:02}"
        made.append(Document(key, key, "", "", "Citing", 1, "d.pdf"))
        units += [unit(key, "", None, kind="document"), unit(key, "1", "")]
        units += [unit(key, f"1.{i}", "1") for i in range(clauses)]
        citations += [cite(f"{key}#1.{i}", "T#1", "T", "1") for i in range(clauses)]
    citations += [cite("T#1", None, "Z", "", "not-loaded")] * 2
    return CitationTable.of(Corpus(tuple(made), tuple(units), tuple(citations)))


def test_a_crowd_is_folded_into_top_level_clauses_and_opens_in_place() -> None:
    table = crowd(documents=10, clauses=5)
    view = views.neighbourhood_view(table, "T#1")
    folded = {n.id: (n.folded, n.children, n.role) for n in view.nodes if n.id.startswith("D")}
    assert folded == {f"D {d:02}#1": (6, True, "cited-by") for d in range(10)}
    assert edges(view)["D 03#1", "T#1"] == (5, "resolved")
    assert "2 of 52 units within 1 hop shown, 50 folded" in view.sentence
    opened = views.neighbourhood_view(table, "T#1", opened=["D 03#1"])
    assert {n.id for n in opened.nodes} - {n.id for n in view.nodes} == {f"D 03#1.{i}" for i in range(5)}
    places = {n.id: (n.x, n.y) for n in opened.nodes}
    assert all(places[n.id] == (n.x, n.y) for n in view.nodes)
    assert edges(opened)["D 03#1.4", "T#1"] == (1, "resolved")


def test_a_larger_crowd_is_folded_into_documents() -> None:
    table = crowd(documents=40, clauses=1)
    view = views.neighbourhood_view(table, "T#1")
    assert {n.id for n in view.nodes if n.role == "cited-by"} == {f"D {d:02}#" for d in range(40)}
    opened = views.neighbourhood_view(table, "T#1", opened=["D 07#", "D 07#1"])
    assert {n.id for n in opened.nodes} - {n.id for n in view.nodes} == {"D 07#1", "D 07#1.0"}


def test_what_a_unit_cites_and_is_not_there_is_hollow() -> None:
    view = views.neighbourhood_view(crowd(1, 1), "T#1")
    assert [(n.id, n.role) for n in view.nodes if n.kind == "foreign"] == [("?Z", "cites")]
    assert edges(view)["T#1", "?Z"] == (2, "not-loaded")
    assert "Hollow: 1 cited, but not there" in view.sentence
    loaded = views.neighbourhood_view(crowd(1, 1), "T#1", filters=views.Filters(states=["resolved"]))
    assert [n for n in loaded.nodes if n.kind == "foreign"] == []


def test_filters_of_a_neighbourhood() -> None:
    table = crowd(documents=3, clauses=2)
    only = views.neighbourhood_view(table, "T#1", filters=views.Filters(documents=["D 01"]))
    assert {n.id for n in only.nodes if n.kind != "foreign"} == {"T#1", "D 01#1.0", "D 01#1.1"}
    busy = views.neighbourhood_view(table, "T#1", filters=views.Filters(min_degree=1))
    assert "T#2" not in {n.id for n in busy.nodes}  # nobody cites it


def test_too_many_lines_are_thinned_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "EDGES_DRAWN", 2)
    lines = [views.Edge("a", "b", "cites", 1), views.Edge("b", "c", "cites", 9), views.Edge("c", "d", "cites", 5)]
    drawn, words = selection.strongest([*lines, views.Edge("a", "x", "parent")])
    assert [(e.source, e.relation) for e in drawn] == [("b", "cites"), ("c", "cites"), ("a", "parent")]
    assert "the 2 strongest of 3" in words
    assert selection.strongest(lines, centre="a")[1] == ""


def test_places_leave_room_and_do_not_depend_on_the_order() -> None:
    table = crowd(documents=12, clauses=1)
    view = views.documents_view(table)
    again = views.documents_view(CitationTable.of(table.corpus))
    assert [(n.id, n.x, n.y) for n in view.nodes] == [(n.id, n.x, n.y) for n in again.nodes]
    at = np.array([(n.x, n.y * 1.8) for n in view.nodes])
    apart = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    assert apart[np.triu_indices(len(at), 1)].min() > 60


def test_climbing_is_right_in_any_order_of_units() -> None:
    """Children may stand before their parents."""
    units = (unit("A", "1.1.1", "1.1"), unit("A", "1.1", "1"), unit("A", "1", ""), unit("A", "", None, kind="document"))
    table = CitationTable.of(Corpus((Document("A", "A", "", "", "A", 1, "a.pdf"),), units, ()))
    assert table.depth.tolist() == [3, 2, 1, 0]
    assert table.lift(np.array([False, False, True, False])).tolist() == [2, 2, 2, -1]
    assert table.with_above(np.array([False, True, False, False])).tolist() == [False, True, True, True]
    assert table.with_below(np.array([False, True, False, False])).tolist() == [True, True, False, False]


def test_worst_state_of_what_is_folded(table: CitationTable) -> None:
    assert table.worst(["A V1#", "B V1#", "B V1#1"]) == {"A V1#": "missing-clause", "B V1#": "not-loaded"}


def test_result_view_shows_how_expansion_travelled(table: CitationTable) -> None:
    chunks = [Chunk(str(i), "A V1", u, "unit", "x") for i, u in enumerate(("A V1#4.1", "A V1#4.2", "A V1#6"))]
    results = (
        Result(1, 0, chunks[0], 1.0, {}, "seed"),
        Result(2, 1, chunks[1], 0.5, {}, "neighbour", (Via(0, "cites", 1),)),
    )
    stage = Stage("expansion", np.array([0, 1]), np.array([1.0, 0.5]))
    view = views.result_view(table, Trace("why", RetrieverConfig(expansion=True), results, (stage,)), chunks)
    assert {n.id: (n.role, n.rank) for n in view.nodes} == {"A V1#4.1": ("seed", 1), "A V1#4.2": ("neighbour", 2)}
    assert edges(view) == {("A V1#4.1", "A V1#4.2"): (1, "resolved")}


def test_matrix_counts_resolved_citations(table: CitationTable) -> None:
    labels, counts = views.matrix(table)
    assert labels == ["A V1", "B V1"]
    assert counts.tolist() == [[3, 2], [1, 0]]
    labels, counts = views.matrix(table, document="A V1")
    assert labels == ["4 Title 4", "5 Title 5", "6 Title 6"]
    assert counts.tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_most_cited(table: CitationTable) -> None:
    rows = {r.id: (r.incoming, r.sources, r.documents, r.outgoing) for r in analysis.cited_units(table)}
    assert rows["B V1#1"] == (2, 1, 1, 0)
    assert rows["A V1#4.1"] == (1, 1, 1, 3)
    assert analysis.cited_units(table)[0].id == "B V1#1"
    documents = {r.id: (r.incoming, r.sources, r.documents, r.outgoing) for r in analysis.cited_documents(table)}
    assert documents == {"B V1": (2, 1, 1, 1), "A V1": (1, 1, 1, 2)}


def test_unreferenced_and_cycles(table: CitationTable) -> None:
    assert [u.id for u in analysis.unreferenced(table)] == ["A V1#6", "B V1#2"]
    assert analysis.cycles(table, "document") == [("A V1", "B V1")]
    assert analysis.cycles(table, "unit") == [("A V1#4.1", "A V1#4.2", "A V1#5")]


def test_broken_references_say_why(corpus: Corpus) -> None:
    assert [(b.state, b.reason) for b in analysis.broken_references(corpus)] == [
        ("not-loaded", "C is not loaded"),
        ("missing-clause", "B has no clause 7.7"),
        ("version-mismatch", "cites V9; loaded: V1"),
    ]
    assert [(m.id, m.citations, m.citing) for m in analysis.missing_documents(corpus)] == [("C", 1, ("B V1",))]


@pytest.mark.parametrize("seed", range(5))
def test_centralities_equal_networkx(seed: int) -> None:
    graph = nx.gnp_random_graph(60, 0.05, seed=seed, directed=True)
    links = nx.to_scipy_sparse_array(graph, weight=None, format="csr")
    assert pagerank(links) == pytest.approx(list(nx.pagerank(graph, tol=1e-11).values()), abs=1e-7)
    assert betweenness(links) == pytest.approx(list(nx.betweenness_centrality(graph, normalized=False).values()))


def test_importance_of_units(table: CitationTable) -> None:
    """4.2 → 5 → 4.1 → 4.2 is a circle and 4.1 → B 1: all of B 1's paths run through 4.1, those of B 2 end at A 4."""
    score = analysis.centrality(table, "betweenness")
    assert score[table.index["A V1#4.1"]] == 1.0
    assert score[table.index["B V1#1"]] == 0.0
    assert analysis.centrality(table, "in-degree")[table.index["B V1#1"]] == 1.0
    with pytest.raises(ValueError, match="expected in-degree, pagerank or betweenness; found 'fame'"):
        analysis.centrality(table, "fame")


@pytest.mark.parametrize("form", ["graphml", "gexf", "json"])
def test_exports_read_back(table: CitationTable, form: str) -> None:
    """What an independent reader finds in the file is what stands in the corpus, hostile title and all."""
    graph = Graph.of(table.corpus)
    if form == "graphml":
        read = nx.read_graphml(io.BytesIO(export.to_graphml(graph)), force_multigraph=True)
    elif form == "gexf":
        read = nx.read_gexf(io.BytesIO(export.to_gexf(graph)))
    else:
        read = nx.node_link_graph(json.loads(export.to_json(graph)), edges="links")
    assert read.is_directed()
    assert read.is_multigraph()
    assert set(read) == {u.id for u in table.corpus.units} | {"?C 9", "?B 7.7", "?B 1"}
    assert read.nodes["A V1#4.1"]["title"] == EVIL
    assert (read.nodes["A V1#4.2"]["page"], read.nodes["A V1#4.2"]["informative"]) == (3, True)
    cites = [(s, t) for s, t, d in read.edges(data=True) if d["kind"] == "cites"]
    assert sorted(cites) == sorted((c.source, c.target or f"?{c.document} {c.code}") for c in table.corpus.citations)
    assert cites.count(("A V1#4.1", "B V1#1")) == 2
    assert {(s, t) for s, t, d in read.edges(data=True) if d["kind"] == "parent"} >= {
        ("A V1#4", "A V1#4.1"),
        ("B V1#", "B V1#1"),
    }


def test_csv_has_the_sentences(corpus: Corpus) -> None:
    rows = list(csv.DictReader(io.StringIO(export.citations_csv(corpus), newline="")))
    assert len(rows) == 9
    assert (rows[7]["document"], rows[7]["clause"], rows[7]["sentence"]) == ("A V1", "5", "See it.")
    assert (rows[7]["cited document"], rows[7]["cited clause"], rows[7]["state"]) == ("B", "7.7", "missing-clause")


def test_svg_draws_every_node_and_edge(table: CitationTable) -> None:
    view = views.documents_view(table)
    drawing = ElementTree.fromstring(export.to_svg(view, {}, {}))
    assert len(drawing.findall("{*}circle")) == 3
    assert len(drawing.findall("{*}line")) == 3
    assert [t.text for t in drawing.findall("{*}text")] == [n.label for n in view.nodes]


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx"])
def test_no_cell_is_a_formula(cell: str) -> None:
    assert export.safe_cell(cell) == "'" + cell
    assert export.safe_cell(-1) == -1


def test_stand_alone_page_asks_nobody_and_runs_nothing_of_a_document(table: CitationTable) -> None:
    view = views.neighbourhood_view(table, "A V1#4.1")
    page = export.to_html(view, {}, {})
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=\"(?:https?:)?//", page)
    assert "Content-Security-Policy" in page
    assert EVIL not in page
    assert EVIL not in export.to_svg(view, {}, {})
