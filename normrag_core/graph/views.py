"""What a picture of the graph shows: nodes and edges of one view, small enough to read, with a sentence about them.

A selection that would be too large is never cut silently: units that are not shown are folded into their nearest shown
ancestor and their citations with them (`CitationTable.lift`), and the sentence gives the count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from normrag_core.graph import positions
from normrag_core.graph.neighbourhood import neighbourhood_view
from normrag_core.graph.picture import Edge, Node, View, counted, foreign_node, unit_node
from normrag_core.graph.selection import ALL, Filters, busy, chosen, cite_edges, kept, strongest
from normrag_core.graph.table import CitationTable
from normrag_core.model import Chunk
from normrag_core.trace import Trace

__all__ = [
    "Edge",
    "Filters",
    "Node",
    "View",
    "documents_view",
    "hierarchy_view",
    "matrix",
    "neighbourhood_view",
    "result_view",
]

FOREIGN_SHOWN = 40


def documents_view(table: CitationTable, filters: Filters = ALL, opened: Collection[str] = ()) -> View:
    """Which standard cites which. opened: unit ids whose children are shown in place; others are folded into them."""
    corpus, opened = table.corpus, set(opened)
    units = corpus.units
    taking_part = chosen(table, filters)
    visible = taking_part & (table.parent < 0)
    for i in sorted(table.places([*opened]).tolist(), key=lambda k: table.depth[k]):
        if visible[i]:
            visible |= taking_part & (table.parent == i)
    lifted = table.lift(visible)
    keep = kept(table, filters, taking_part)
    source = lifted[table.source[keep]]
    loaded = table.target[keep] >= 0
    edges = cite_edges(table, source, np.where(loaded, lifted[table.target[keep]], -1), table.state[keep])
    pairs: Counter[tuple[str, str]] = Counter()
    for c, at in zip(np.flatnonzero(keep)[~loaded].tolist(), source[~loaded].tolist(), strict=True):
        citation = corpus.citations[c]
        if citation.document and citation.state == "not-loaded" and at >= 0:
            pairs[units[at].id, "?" + citation.document] += 1
    foreign: Counter[str] = Counter()
    for (_, name), n in pairs.items():
        foreign[name] += n
    kept_foreign = sorted(foreign, key=lambda n: (-foreign[n], n))[:FOREIGN_SHOWN]
    edges += [Edge(s, t, "cites", n, "not-loaded") for (s, t), n in pairs.items() if t in set(kept_foreign)]
    shown = np.flatnonzero(visible).tolist()
    parents = {units[i].id: _parent_id(table, i) for i in shown}
    edges += [Edge(up, i, "parent") for i, up in parents.items() if up]
    folded = np.bincount(lifted[lifted >= 0], minlength=len(lifted))
    nodes = [unit_node(table, i, folded=int(folded[i]), opened=units[i].id in opened) for i in shown]
    nodes += [foreign_node(n[1:]) for n in kept_foreign]
    nodes, edges = _min_degree(nodes, edges, filters.min_degree)
    nodes = positions.nested(nodes, edges, parents)
    edges, rest = strongest(edges)
    sentence = (
        f"Which standard cites which: {counted(sum(n.kind == 'document' for n in nodes), 'standard')} loaded, "
        f"{sum(n.folded for n in nodes if n.kind != 'foreign'):,} of {len(units):,} units shown or folded into them. "
        f"Hollow: {sum(n.kind == 'foreign' for n in nodes)} of {len(foreign)} standards cited but not loaded"
        + (" (the most cited)." if len(foreign) > len(kept_foreign) else ".")
        + rest
    )
    return View("documents", sentence, tuple(nodes), tuple(edges), len(nodes), len(units) + len(foreign))


def hierarchy_view(table: CitationTable, document: str, opened: Collection[str] | None = None, filters: Filters = ALL) -> View:
    """The clause tree of one document. opened: ids whose children are shown; None opens the first level."""
    corpus = table.corpus
    units = table.places([u.id for u in corpus.units_of(document)])
    root = table.index[f"{document}#"]
    taking_part = chosen(table, replace(filters, documents=(document,)))
    if filters.min_degree:
        taking_part &= busy(table, kept(table, filters, np.ones_like(taking_part)), filters.min_degree)
    open_units = table.mask([corpus.units[root].id, *(opened or ())])
    visible = np.zeros(len(table.parent), dtype=bool)
    visible[root] = True
    for i in units[np.argsort(table.depth[units], kind="stable")].tolist():
        up = table.parent[i]
        if up >= 0 and visible[up] and (open_units[up] or filters.text) and taking_part[i]:
            visible[i] = True
    lifted = table.lift(visible)
    folded = np.bincount(lifted[units], minlength=len(lifted))
    shown = np.flatnonzero(visible).tolist()
    parents = {corpus.units[i].id: _parent_id(table, i) for i in shown}
    unfolded = set(parents.values())
    nodes = [unit_node(table, i, folded=int(folded[i]), opened=corpus.units[i].id in unfolded) for i in shown]
    edges = [Edge(up, i, "parent") for i, up in parents.items() if up]
    nodes = positions.tree(nodes, edges)
    sentence = (
        f"The clause tree of {corpus.by_key[document].label}: {len(nodes):,} of {len(units):,} units shown; "
        "the others are folded into the node above them."
    )
    return View("hierarchy", sentence, tuple(nodes), tuple(edges), len(nodes), len(units))


def result_view(table: CitationTable, trace: Trace, chunks: Sequence[Chunk], filters: Filters = ALL) -> View:
    """The results of a question with the edges between them; with expansion, from which seed each neighbour came."""
    corpus = table.corpus
    nodes: dict[str, Node] = {}
    for result in trace.results:
        if result.chunk.unit in table.index and result.chunk.unit not in nodes:
            node = unit_node(table, table.index[result.chunk.unit])
            nodes[node.id] = replace(node, rank=result.rank, role=result.role or "result")
    edges: dict[tuple[str, str, str], Edge] = {}
    for result in trace.results:
        for via in result.via:
            seed = chunks[via.seed].unit
            if seed not in nodes and seed in table.index:
                nodes[seed] = unit_node(table, table.index[seed], role="seed")
            if seed != result.chunk.unit:
                edges[seed, result.chunk.unit, via.relation] = Edge(seed, result.chunk.unit, via.relation, via.hops)
    if not edges:
        inside = table.mask(list(nodes))
        both = inside[table.source] & (table.target >= 0) & inside[table.target] & (table.source != table.target)
        for edge in cite_edges(table, table.source[both], table.target[both], table.state[both]):
            edges[edge.source, edge.target, "cites"] = edge
        for i in nodes:
            up = _parent_id(table, table.index[i])
            if up in nodes:
                edges[up, i, "parent"] = Edge(up, i, "parent")
    reached = sum(n.role == "neighbour" for n in nodes.values())
    placed = positions.columns(list(nodes.values()))
    sentence = f"{counted(len(trace.results), 'result')} for “{trace.question}” in {counted(len(nodes), 'clause')}; " + (
        f"{reached} {'was' if reached == 1 else 'were'} reached from the seeds over the graph."
        if trace.config.expansion
        else "expansion is off, so the edges only show how the results hang together."
    )
    drawn = [e for e in edges.values() if e.relation in filters.relations]
    return View("result", sentence, tuple(placed), tuple(drawn), len(nodes), len(corpus.units))


def matrix(table: CitationTable, filters: Filters = ALL, document: str | None = None) -> tuple[list[str], np.ndarray]:
    """Who cites whom, resolved citations only: row labels and counts (n, n) int64, row cites column.

    Between documents, or between the top-level units of one document.
    """
    corpus = table.corpus
    taking_part = chosen(table, replace(filters, text=""))
    keep = kept(table, filters, taking_part) & (table.target >= 0)
    if document is None:
        visible = (table.parent < 0) & taking_part
    else:
        visible = table.parent == table.index[f"{document}#"]
    lifted = table.lift(visible)
    rows = np.flatnonzero(visible)
    place = np.full(len(visible) + 1, -1)
    place[rows] = np.arange(len(rows))
    source, target = place[lifted[table.source[keep]]], place[lifted[table.target[keep]]]
    inside = (source >= 0) & (target >= 0)
    counts = np.zeros((len(rows), len(rows)), dtype=np.int64)
    np.add.at(counts, (source[inside], target[inside]), 1)
    labels = [corpus.by_key[corpus.units[i].document].label if document is None else corpus.units[i].heading for i in rows]
    return labels, counts


def _min_degree(nodes: list[Node], edges: list[Edge], least: int) -> tuple[list[Node], list[Edge]]:
    degree: dict[str, int] = {}
    for edge in edges:
        if edge.relation == "cites":
            degree[edge.source] = degree.get(edge.source, 0) + edge.count
            degree[edge.target] = degree.get(edge.target, 0) + edge.count
    kept = [replace(n, degree=degree.get(n.id, 0)) for n in nodes if degree.get(n.id, 0) >= least or n.depth > 0]
    ids = {n.id for n in kept}
    return kept, [e for e in edges if e.source in ids and e.target in ids]


def _parent_id(table: CitationTable, i: int) -> str:
    return table.corpus.units[table.parent[i]].id if table.parent[i] >= 0 else ""
