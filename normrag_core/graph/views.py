"""What a picture of the graph shows: nodes and edges of one view, small enough to read, with a sentence about them.

A selection that would be too large is never cut silently: units that are not shown are folded into their nearest shown
ancestor and their citations with them (`CitationTable.lift`), and the sentence gives the count.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from normrag_core.config import RELATIONS, Relation
from normrag_core.graph import positions
from normrag_core.graph.table import STATES, CitationTable
from normrag_core.model import Chunk, InfoUnit
from normrag_core.trace import Trace

NEIGHBOURS_SHOWN = 30
FOREIGN_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Node:
    """A unit (id: unit id) or a standard that is not loaded (id: "?" + document id).

    document: label of the document it belongs to. depth: 0 for a document. folded: units shown through this node, itself
    included. children: whether it can be opened. degree: citations to and from it in this view. x, y: pixels.
    """

    id: str
    label: str
    title: str
    document: str
    kind: str
    depth: int
    page: int = 0
    folded: int = 1
    children: bool = False
    opened: bool = False
    informative: bool = False
    degree: int = 0
    rank: int | None = None
    role: str = ""
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class Edge:
    """relation: "parent" (from the parent to the child), "sibling" or "cites". count: citations it stands for. state: worst."""

    source: str
    target: str
    relation: str
    count: int = 1
    state: str = "resolved"


@dataclass(frozen=True, slots=True)
class View:
    """One picture. shown, total: what the sentence counts."""

    name: str
    sentence: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    shown: int
    total: int


@dataclass(frozen=True, slots=True)
class Filters:
    """What takes part. Empty collections mean "all"; text must occur in a unit's number or title (or below it)."""

    documents: Collection[str] = ()
    states: Collection[str] = STATES
    force: str = "all"
    min_degree: int = 0
    text: str = ""
    relations: Collection[Relation] = field(default=RELATIONS)


def documents_view(table: CitationTable, filters: Filters = Filters(), opened: Collection[str] = ()) -> View:
    """Which standard cites which. opened: unit ids whose children are shown in place; others are folded into them."""
    corpus = table.corpus
    chosen = _chosen(table, filters)
    visible = chosen & (table.parent < 0)
    open_ids = [table.index[i] for i in opened if i in table.index]
    for i in sorted(open_ids, key=lambda k: table.depth[k]):
        if visible[i]:
            visible |= chosen & (table.parent == i)
    lifted = table.lift(visible)
    keep = _kept_citations(table, filters, chosen)
    source = lifted[table.source[keep]]
    loaded = table.target[keep] >= 0
    target = np.where(loaded, lifted[np.maximum(table.target[keep], 0)], -1)
    edges = _edges(table, source, target, table.state[keep])
    foreign: dict[str, int] = {}
    pairs: dict[tuple[str, str], int] = {}
    lost = np.flatnonzero(keep)[target < 0]
    for c in lost.tolist():
        citation = corpus.citations[c]
        at = lifted[table.source[c]]
        if citation.document and citation.state == "not-loaded" and at >= 0:
            name = "?" + citation.document
            foreign[name] = foreign.get(name, 0) + 1
            pairs[corpus.units[at].id, name] = pairs.get((corpus.units[at].id, name), 0) + 1
    kept_foreign = sorted(foreign, key=lambda n: (-foreign[n], n))[:FOREIGN_SHOWN]
    edges += [Edge(s, t, "cites", n, "not-loaded") for (s, t), n in pairs.items() if t in set(kept_foreign)]
    edges += [
        Edge(corpus.units[table.parent[i]].id, corpus.units[i].id, "parent")
        for i in np.flatnonzero(visible & (table.parent >= 0)).tolist()
    ]
    folded = np.bincount(lifted[lifted >= 0], minlength=len(lifted))
    nodes = [
        _node(table, i, folded=int(folded[i]), opened=corpus.units[i].id in set(opened))
        for i in np.flatnonzero(visible).tolist()
    ]
    nodes += [Node(n, n[1:], "not loaded", n[1:], "foreign", 0) for n in kept_foreign]
    nodes, edges = _min_degree(nodes, edges, filters.min_degree)
    nodes = positions.nested(nodes, edges, {corpus.units[i].id: _parent_id(table, i) for i in np.flatnonzero(visible).tolist()})
    units = sum(n.folded for n in nodes if n.kind != "foreign")
    rest = len(foreign) - len(kept_foreign)
    sentence = (
        f"Which standard cites which: {_count(len([n for n in nodes if n.kind == 'document']), 'standard')} loaded, "
        f"{units:,} of {len(corpus.units):,} units shown or folded into them. "
        f"Hollow: {len(kept_foreign)} of {len(foreign)} standards cited but not loaded"
        + (" (the most cited)." if rest else ".")
    )
    return View("documents", sentence, tuple(nodes), tuple(edges), len(nodes), len(corpus.units) + len(foreign))


def hierarchy_view(
    table: CitationTable, document: str, opened: Collection[str] | None = None, filters: Filters = Filters()
) -> View:
    """The clause tree of one document. opened: ids whose children are shown; None opens the first level."""
    corpus = table.corpus
    units = [table.index[u.id] for u in corpus.units_of(document)]
    root = table.index[f"{document}#"]
    opened = {corpus.units[root].id} if opened is None else {corpus.units[root].id, *opened}
    chosen = _chosen(table, replace(filters, documents=(document,)))
    visible = np.zeros(len(table.parent), dtype=bool)
    visible[root] = True
    for i in sorted(units, key=lambda k: table.depth[k]):
        up = table.parent[i]
        if up >= 0 and visible[up] and corpus.units[up].id in opened and (chosen[i] or filters.text == ""):
            visible[i] = True
    if filters.text:
        for i in np.flatnonzero(chosen & (table.document == table.document[root])).tolist():
            while i >= 0:
                visible[i] = True
                i = table.parent[i]
    lifted = table.lift(visible)
    folded = np.bincount(lifted[units], minlength=len(lifted))
    shown = np.flatnonzero(visible).tolist()
    shown_ids = {corpus.units[i].id for i in shown}
    nodes = [
        _node(
            table,
            i,
            folded=int(folded[i]),
            opened=any(c.id in shown_ids for c in corpus.children(corpus.units[i])),
        )
        for i in shown
    ]
    edges = [Edge(corpus.units[table.parent[i]].id, corpus.units[i].id, "parent") for i in shown if table.parent[i] >= 0]
    nodes = positions.tree(nodes, edges)
    sentence = (
        f"The clause tree of {corpus.by_key[document].label}: {len(nodes):,} of {len(units):,} units shown; "
        "the others are folded into the node above them."
    )
    return View("hierarchy", sentence, tuple(nodes), tuple(edges), len(nodes), len(units))


def neighbourhood_view(table: CitationTable, unit: str, hops: int = 1, filters: Filters = Filters()) -> View:
    """One unit with its parents, children, siblings, citing and cited units to `hops` hops."""
    corpus = table.corpus
    start = table.index[unit]
    chosen = _chosen(table, filters)
    keep = _kept_citations(table, filters, np.ones_like(chosen)) & (table.target >= 0)
    source, target = table.source[keep], table.target[keep]
    found: dict[int, tuple[int, str]] = {start: (0, "")}
    frontier, left_out = [start], 0
    for hop in range(1, hops + 1):
        fresh: list[int] = []
        for at in frontier:
            for relation, near in _near(table, at, source, target, filters.relations):
                new = [n for n in near if n not in found and (chosen[n] or not filters.text)]
                left_out += max(0, len(new) - NEIGHBOURS_SHOWN)
                for n in new[:NEIGHBOURS_SHOWN]:
                    found[n] = (hop, relation if hop == 1 else found[at][1])
                    fresh.append(n)
        frontier = fresh
    inside = np.zeros(len(table.parent), dtype=bool)
    inside[list(found)] = True
    both = inside[source] & inside[target] & (source != target)
    edges = _edges(table, source[both], target[both], table.state[keep][both])
    edges += [
        Edge(corpus.units[table.parent[i]].id, corpus.units[i].id, "parent")
        for i in sorted(found)
        if table.parent[i] in found and {"parent", "child"} & set(filters.relations)
    ]
    edges += [Edge(unit, corpus.units[i].id, "sibling") for i, (hop, r) in found.items() if hop == 1 and r == "sibling"]
    nodes = [replace(_node(table, i), role=relation or "centre") for i, (_, relation) in found.items()]
    nodes = positions.sectors(nodes, {corpus.units[i].id: hop for i, (hop, _) in found.items()})
    label = corpus.units[start]
    sentence = (
        f"What is around {corpus.by_key[label.document].label} {label.heading}: {_count(len(nodes) - 1, 'unit')} within "
        f"{_count(hops, 'hop')}" + (f"; {left_out:,} more not drawn, see the table." if left_out else ".")
    )
    return View("neighbourhood", sentence, tuple(nodes), tuple(edges), len(nodes), len(nodes) + left_out)


def result_view(table: CitationTable, trace: Trace, chunks: Sequence[Chunk]) -> View:
    """The results of a question with the edges between them; with expansion, from which seed each neighbour came."""
    corpus = table.corpus
    nodes: dict[str, Node] = {}
    for result in trace.results:
        if result.chunk.unit in table.index and result.chunk.unit not in nodes:
            node = _node(table, table.index[result.chunk.unit])
            nodes[node.id] = replace(node, rank=result.rank, role=result.role or "result")
    edges: dict[tuple[str, str, str], Edge] = {}
    for result in trace.results:
        for via in result.via:
            seed = chunks[via.seed].unit
            if seed not in nodes and seed in table.index:
                nodes[seed] = replace(_node(table, table.index[seed]), role="seed")
            if seed != result.chunk.unit:
                edges[seed, result.chunk.unit, via.relation] = Edge(seed, result.chunk.unit, via.relation, via.hops)
    if not edges:
        inside = np.zeros(len(table.parent), dtype=bool)
        inside[[table.index[i] for i in nodes]] = True
        both = inside[table.source] & (table.target >= 0) & inside[table.target] & (table.source != table.target)
        for edge in _edges(table, table.source[both], table.target[both], table.state[both]):
            edges[edge.source, edge.target, "cites"] = edge
        for i in nodes:
            up = _parent_id(table, table.index[i])
            if up in nodes:
                edges[up, i, "parent"] = Edge(up, i, "parent")
    reached = sum(n.role == "neighbour" for n in nodes.values())
    placed = positions.columns(list(nodes.values()))
    sentence = f"{_count(len(trace.results), 'result')} for “{trace.question}” in {_count(len(nodes), 'clause')}; " + (
        f"{reached} were reached from the seeds over the graph."
        if trace.config.expansion
        else "expansion is off, so the edges only show how the results hang together."
    )
    return View("result", sentence, tuple(placed), tuple(edges.values()), len(nodes), len(corpus.units))


def matrix(table: CitationTable, filters: Filters = Filters(), document: str | None = None) -> tuple[list[str], np.ndarray]:
    """Who cites whom, resolved citations only: row labels and counts (n, n) int64, row cites column.

    Between documents, or between the top-level units of one document.
    """
    corpus = table.corpus
    chosen = _chosen(table, replace(filters, text=""))
    keep = _kept_citations(table, filters, chosen) & (table.target >= 0)
    if document is None:
        visible = (table.parent < 0) & chosen
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


def _near(
    table: CitationTable, at: int, source: np.ndarray, target: np.ndarray, relations: Collection[str]
) -> list[tuple[str, list[int]]]:
    up = int(table.parent[at])
    near = {
        "parent": [up] if up >= 0 else [],
        "child": np.flatnonzero(table.parent == at).tolist(),
        "sibling": [i for i in np.flatnonzero(table.parent == up).tolist() if i != at] if up >= 0 else [],
        "cites": list(dict.fromkeys(target[source == at].tolist())),
        "cited-by": list(dict.fromkeys(source[target == at].tolist())),
    }
    order = ("parent", "cites", "cited-by", "child", "sibling")
    return [(r, near[r]) for r in order if r in relations]


def _chosen(table: CitationTable, filters: Filters) -> np.ndarray:
    units = table.corpus.units
    chosen = np.ones(len(units), dtype=bool)
    if filters.documents:
        keys = set(filters.documents)
        chosen &= np.array([u.document in keys for u in units], dtype=bool)
    if filters.text:
        words = filters.text.lower().split()
        hit = np.array([_mentions(u, words) for u in units], dtype=bool)
        for i in np.argsort(-table.depth, kind="stable"):
            if hit[i] and table.parent[i] >= 0:
                hit[table.parent[i]] = True
        chosen &= hit
    return chosen


def _mentions(unit: InfoUnit, words: list[str]) -> bool:
    text = f"{unit.code} {unit.title}".lower()
    return all(w in text for w in words)


def _kept_citations(table: CitationTable, filters: Filters, chosen: np.ndarray) -> np.ndarray:
    keep = chosen[table.source] & np.isin(table.state, [STATES.index(s) for s in filters.states])
    inside = np.append(chosen, True)
    keep &= inside[table.target]
    if filters.force == "normative":
        keep &= ~table.informative
    elif filters.force == "informative":
        keep &= table.informative
    return keep


def _edges(table: CitationTable, source: np.ndarray, target: np.ndarray, state: np.ndarray) -> list[Edge]:
    """One edge a pair of distinct shown units, with the number of citations and the worst state among them."""
    keep = (source >= 0) & (target >= 0) & (source != target)
    if not keep.any():
        return []
    pairs, place = np.unique(np.stack([source[keep], target[keep]], axis=1), axis=0, return_inverse=True)
    place = place.reshape(-1)
    counts = np.bincount(place)
    worst = np.zeros(len(pairs), dtype=np.int64)
    np.maximum.at(worst, place, state[keep])
    units = table.corpus.units
    return [
        Edge(units[s].id, units[t].id, "cites", int(n), STATES[w])
        for (s, t), n, w in zip(pairs.tolist(), counts, worst, strict=True)
    ]


def _node(table: CitationTable, i: int, folded: int = 1, opened: bool = False) -> Node:
    unit = table.corpus.units[i]
    document = table.corpus.by_key[unit.document]
    root = unit.parent is None
    return Node(
        id=unit.id,
        label=document.label if root else (unit.code or unit.title),
        title=document.title if root else unit.title,
        document=document.label,
        kind=unit.kind,
        depth=int(table.depth[i]),
        page=unit.page,
        folded=folded,
        children=bool(table.corpus.children(unit)),
        opened=opened,
        informative=unit.informative,
    )


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


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" + ("" if n == 1 else "s")
