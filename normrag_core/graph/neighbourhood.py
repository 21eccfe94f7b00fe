"""The picture around one unit: who is next to it, and to those, to a number of steps.

Where one relation reaches more units than can be read, they are folded into the top-level clauses or the standards they stand
in, as in the other pictures; opening such a node shows them around it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise

import numpy as np

from normrag_core.config import Relation
from normrag_core.graph import positions
from normrag_core.graph.adjacency import Adjacency
from normrag_core.graph.picture import Edge, Node, View, counted, foreign_node, unit_node
from normrag_core.graph.selection import ALL, Filters, busy, chosen, cite_edges, kept, strongest
from normrag_core.graph.table import CitationTable

# A unit that is next to the centre in two ways counts as the first of these.
ORDER: tuple[Relation, ...] = ("parent", "cites", "cited-by", "child", "sibling")
MOST = {"child": 60}  # units of one relation and distance that are shown singly, where it is not OTHERS
OTHERS = 30
FOREIGN_SHOWN = 20


def neighbourhood_view(
    table: CitationTable, unit: str, hops: int = 1, filters: Filters = ALL, opened: Collection[str] = ()
) -> View:
    """One unit with its parents, children, siblings, citing and cited units to `hops` hops.

    What it cites and is not there is hollow. opened: ids of folded nodes whose units are shown.
    """
    corpus, start = table.corpus, table.index[unit]
    keep = kept(table, filters, np.ones(len(table.parent), dtype=bool))
    allowed = chosen(table, filters) & busy(table, keep, filters.min_degree)
    found = keep & (table.target >= 0)
    source, target = table.source[found], table.target[found]
    near = Adjacency.of(table.parent, table.parent, np.stack([source, target], axis=1))
    reached, role, hop = _walk(near, start, hops, [r for r in ORDER if r in filters.relations], allowed)
    stands, above = _folded(table, start, reached, role, hop, table.mask(list(opened)))

    nodes, level = _nodes(table, start, reached, stands, above, role, hop)
    shows = {table.index[n.id] for n in nodes}
    at = np.full(len(table.parent), -1, dtype=np.int64)
    at[list(shows)] = list(shows)
    at[reached] = stands
    foreign, edges = _nowhere(table, start, keep) if "cites" in filters.relations else ([], [])
    edges += cite_edges(table, at[source], at[target], table.state[found])
    if {"parent", "child"} & set(filters.relations):
        edges += [
            Edge(corpus.units[table.parent[i]].id, corpus.units[i].id, "parent") for i in shows if table.parent[i] in shows
        ]
    edges += [Edge(unit, n.id, "sibling") for n in nodes if n.role == "sibling" and level[n.id] == 1]
    edges, rest = strongest(edges, unit)
    ids = {corpus.units[i].id: corpus.units[up].id for i, up in above.items() if i in shows}
    nodes = positions.sectors([*nodes, *foreign], level | {n.id: 1 for n in foreign}, ids)
    folded = int((stands != reached).sum())
    centre = corpus.units[start]
    sentence = (
        f"What is around {f'{corpus.by_key[centre.document].label} {centre.heading}'.strip()}: "
        f"{len(reached) - folded:,} of {counted(len(reached), 'unit')} within {counted(hops, 'hop')} shown"
        + (f", {folded:,} folded into the clause or standard they stand in." if folded else ".")
        + (f" Hollow: {len(foreign)} cited, but not there." if foreign else "")
        + rest
    )
    return View("neighbourhood", sentence, tuple(nodes), tuple(edges), len(reached) - folded + 1, len(reached) + 1)


def _walk(
    near: Adjacency, start: int, hops: int, relations: list[Relation], allowed: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Units within some hops of the start, itself left out: (m,) indices, the relation (place in ORDER) by which the way to
    each left the start, and the number of hops; the nearest first. All steps of one relation and hop are one look-up."""
    seen = ~allowed
    seen[start] = True
    frontier, came = np.array([start]), np.array([-1])
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for hop in range(1, hops + 1):
        fresh: list[tuple[np.ndarray, np.ndarray]] = []
        for relation in relations:
            rows, to = _steps(near, frontier, relation)
            keep = ~seen[to]
            to, first = np.unique(to[keep], return_index=True)
            way = came[rows[keep][first]]
            seen[to] = True
            fresh.append((to, np.where(way < 0, ORDER.index(relation), way)))
        frontier, came = (np.concatenate(part) for part in zip(*fresh, strict=True)) if fresh else (frontier[:0], came[:0])
        found.append((frontier, came, np.full(len(frontier), hop)))
    reached, role, hop_of = (np.concatenate(part) for part in zip(*found, strict=True))
    return reached, role, hop_of


def _steps(near: Adjacency, nodes: np.ndarray, relation: Relation) -> tuple[np.ndarray, np.ndarray]:
    """(place in `nodes`, unit next to it) of every step; a group of siblings is entered once, by its first member."""
    place = np.arange(len(nodes))
    if relation == "sibling":
        place = place[near.group[nodes] >= 0]
        groups, first = np.unique(near.group[nodes[place]], return_index=True)
        place, matrix, rows = place[first], near.members, groups
    else:
        matrix, rows = near.explicit(relation), nodes
    picked = matrix[rows]
    return np.repeat(place, np.diff(picked.indptr)), picked.indices.astype(np.int64)


def _folded(
    table: CitationTable, start: int, reached: np.ndarray, role: np.ndarray, hop: np.ndarray, opened: np.ndarray
) -> tuple[np.ndarray, dict[int, int]]:
    """(m,) the unit that each reached one is shown as, and unit → the opened unit around which it is drawn."""
    root, top = table.lift(table.depth == 0), table.lift(table.depth <= 1)
    stands = reached.copy()
    above: dict[int, int] = {}
    for r, h in sorted(set(zip(role.tolist(), hop.tolist(), strict=True))):
        mine = np.flatnonzero((role == r) & (hop == h))
        if len(mine) <= MOST.get(ORDER[r], OTHERS):
            continue
        units = reached[mine]
        levels = [top[units]] if len(np.unique(top[units])) <= OTHERS else [root[units], top[units]]
        shown = units
        for level in reversed(levels):
            shown = np.where(opened[level], shown, level)
        stands[mine] = shown
        for outer, inner in pairwise([*levels, units]):
            inside = opened[outer] & (inner != outer) & (outer != start)
            above |= dict(zip(inner[inside].tolist(), outer[inside].tolist(), strict=True))
    return stands, above


def _nodes(
    table: CitationTable,
    start: int,
    reached: np.ndarray,
    stands: np.ndarray,
    above: dict[int, int],
    role: np.ndarray,
    hop: np.ndarray,
) -> tuple[list[Node], dict[str, int]]:
    """Nodes without places, and node id → hops. A node that units are folded into has the role and hop of the first of them."""
    held = np.bincount(stands, minlength=len(table.parent))
    of = {start: ("centre", 0)}
    for unit, r, h in zip(stands.tolist(), role.tolist(), hop.tolist(), strict=True):
        line = [unit]
        while line[-1] in above:  # an opened node stays where it was, though nothing is folded into it any more
            line.append(above[line[-1]])
        for one in reversed(line):
            of.setdefault(one, (ORDER[r], h))
    single = set(reached[stands == reached].tolist()) | {start}
    unfolded = set(above.values())
    nodes = []
    for unit, (relation, _) in of.items():
        more = int(held[unit]) - (unit in single and unit != start)
        made = unit_node(table, unit, folded=1 + more, opened=unit in unfolded, role=relation)
        nodes.append(replace(made, children=more > 0 or unit in unfolded))
    return nodes, {table.corpus.units[unit].id: h for unit, (_, h) in of.items()}


def _nowhere(table: CitationTable, start: int, keep: np.ndarray) -> tuple[list[Node], list[Edge]]:
    """Hollow nodes for what the start cites and is not there, the most cited first, with their edges."""
    unit = table.corpus.units[start]
    count: Counter[tuple[str, str]] = Counter()
    for c in np.flatnonzero(keep & (table.source == start) & (table.target < 0)).tolist():
        citation = table.corpus.citations[c]
        count[" ".join(filter(None, (citation.document, citation.code))), citation.state] += 1
    most = sorted(count.items(), key=lambda item: (-item[1], item[0]))[:FOREIGN_SHOWN]
    nodes = [foreign_node(name, role="cites") for name in dict.fromkeys(name for (name, _), _ in most)]
    return nodes, [Edge(unit.id, f"?{name}", "cites", n, state) for (name, state), n in most]
