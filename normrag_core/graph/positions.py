"""Where the nodes of a view stand: computed beforehand and seeded, so that a picture never moves on its own.

Every function takes nodes and returns them with x and y in pixels. Opening a node never moves the ones already shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import cos, pi, radians, sin
from typing import TYPE_CHECKING

import networkx as nx

if TYPE_CHECKING:
    from normrag_core.graph.views import Edge, Node

SEED = 7
SPACING = 230.0
RING = 150.0
COLUMN = 330.0
ROW = 34.0
# Where a relation lies around the centre: middle of its sector and its width, in degrees (0 = right, 90 = down)
SECTORS: dict[str, tuple[float, float]] = {
    "cites": (0.0, 80.0),
    "child": (90.0, 80.0),
    "cited-by": (180.0, 80.0),
    "parent": (-90.0, 30.0),
    "sibling": (-45.0, 40.0),
}


def nested(nodes: list[Node], edges: list[Edge], parent: Mapping[str, str]) -> list[Node]:
    """Top-level nodes by a spring layout of their citations; the children of an opened node on a ring around it.

    parent: node id → id of the node above it, "" at the top. The top level's places depend on the top level alone.
    """
    at: dict[str, tuple[float, float]] = {}
    top = [n.id for n in nodes if not parent.get(n.id)]
    above = {n.id: parent.get(n.id, "") for n in nodes}

    def summit(node: str) -> str:
        while above.get(node):
            node = above[node]
        return node

    graph = nx.Graph()
    graph.add_nodes_from(top)
    for edge in edges:
        s, t = summit(edge.source), summit(edge.target)
        if s != t:
            weight = graph.get_edge_data(s, t, {"weight": 0})["weight"]
            graph.add_edge(s, t, weight=weight + edge.count**0.5)
    if top:
        scale = SPACING * max(1.0, len(top) ** 0.5)
        for name, (x, y) in nx.spring_layout(graph, seed=SEED, scale=scale, k=2.2 / len(top) ** 0.5, iterations=120).items():
            at[name] = (float(x) * 1.35, float(y))
    children: dict[str, list[str]] = {}
    for node in nodes:
        if above[node.id]:
            children.setdefault(above[node.id], []).append(node.id)
    depth = {n.id: n.depth for n in nodes}
    for node in sorted(nodes, key=lambda n: n.depth):
        ring = children.get(node.id, [])
        if node.id not in at or not ring:
            continue
        radius = max(RING / (1 + depth[node.id]), len(ring) * 26 / (2 * pi))
        for k, child in enumerate(ring):
            angle = 2 * pi * k / len(ring) - pi / 2
            at[child] = (at[node.id][0] + radius * cos(angle), at[node.id][1] + radius * sin(angle))
    return [replace(n, x=round(at[n.id][0], 1), y=round(at[n.id][1], 1)) for n in nodes if n.id in at]


def tree(nodes: list[Node], edges: list[Edge]) -> list[Node]:
    """Depth to the right, printed order downwards; a parent stands level with its first child."""
    children: dict[str, list[str]] = {}
    for edge in edges:
        children.setdefault(edge.source, []).append(edge.target)
    y: dict[str, float] = {}
    row = 0

    below = {c for cs in children.values() for c in cs}
    for root in (n.id for n in nodes if n.id not in below):
        stack = [root]
        while stack:
            node = stack.pop()
            y[node] = row * ROW
            if node in children:
                stack.extend(reversed(children[node]))
            if node not in children:
                row += 1
    return [replace(n, x=n.depth * COLUMN, y=y[n.id]) for n in nodes]


def sectors(nodes: list[Node], hops: Mapping[str, int]) -> list[Node]:
    """The centre in the middle, each relation in its own direction, each hop further out. Roles name the relation."""
    groups: dict[tuple[str, int], list[Node]] = {}
    for node in nodes:
        groups.setdefault((node.role, hops[node.id]), []).append(node)
    placed = []
    for (role, hop), members in groups.items():
        if hop == 0:
            placed += [replace(n, x=0.0, y=0.0) for n in members]
            continue
        middle, width = SECTORS.get(role, (0.0, 360.0))
        radius = max(240.0 * hop, len(members) * 46.0 / radians(width))
        for k, node in enumerate(members):
            share = 0.0 if len(members) == 1 else k / (len(members) - 1) - 0.5
            angle = radians(middle + width * share)
            placed.append(replace(node, x=round(1.4 * radius * cos(angle), 1), y=round(radius * sin(angle), 1)))
    return placed


def columns(nodes: list[Node]) -> list[Node]:
    """Results from top to bottom by rank; those reached by expansion in a second column."""
    ordered = sorted(nodes, key=lambda n: (n.rank is None, n.rank or 0, n.id))
    rows = {"left": 0, "right": 0}
    placed = []
    for node in ordered:
        side = "right" if node.role == "neighbour" else "left"
        placed.append(replace(node, x=1.6 * COLUMN if side == "right" else 0.0, y=rows[side] * 2 * ROW))
        rows[side] += 1
    return placed
