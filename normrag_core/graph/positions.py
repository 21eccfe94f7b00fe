"""Where the nodes of a view stand: computed beforehand and seeded, so that a picture never moves on its own.

Every function takes nodes and returns them with x and y in pixels. Opening a node never moves the ones already shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import cos, pi, radians, sin
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

if TYPE_CHECKING:
    from normrag_core.graph.views import Edge, Node

SEED = 7
SPACING = 150.0
CLEAR = 105.0
WIDE, HIGH = 135.0, 74.0  # pixels a node in a picture of the usual shape
RING = 150.0
COLUMN = 340.0
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
            graph.add_edge(s, t)
    at = _packed(graph)
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


def _packed(graph: nx.Graph) -> dict[str, tuple[float, float]]:
    """Each connected part laid out by itself; the largest first, the others beside and below it in the shape of a screen."""
    parts = sorted((sorted(c) for c in nx.connected_components(graph)), key=lambda c: (-len(c), c[0]))
    at: dict[str, tuple[float, float]] = {}
    if not parts:
        return at
    spread = [_spread(graph.subgraph(part), len(part)) for part in parts]
    boxes = [[(min(p[i] for p in s.values()), max(p[i] for p in s.values())) for i in (0, 1)] for s in spread]
    sizes = [(x[1] - x[0] + SPACING, y[1] - y[0] + SPACING) for x, y in boxes]
    wide = max(1.25 * sizes[0][0], (1.8 * sum(w * h for w, h in sizes)) ** 0.5)
    # Shelves beside the first part as long as they fit in its height, then below it.
    x = left = sizes[0][0]
    y = row = 0.0
    for number, (places, box, (w, h)) in enumerate(zip(spread, boxes, sizes, strict=True)):
        corner = (0.0, 0.0)
        if number:
            if x > left and x + w > wide:
                x, y, row = left, y + row, 0.0
            if left and y + h > sizes[0][1]:
                left, x, y, row = 0.0, 0.0, max(y, sizes[0][1]), 0.0
            corner = (x, y)
            x, row = x + w, max(row, h)
        at |= {n: (corner[0] + p[0] - box[0][0], corner[1] + p[1] - box[1][0]) for n, p in places.items()}
    return at


def _spread(part: nx.Graph, n: int) -> dict[str, tuple[float, float]]:
    """One connected part: springs, then pushed apart until no two nodes are nearer than a label needs."""
    if n == 1:
        return dict.fromkeys(part, (0.0, 0.0))
    names = sorted(part)
    ordered = nx.Graph()
    ordered.add_nodes_from(names)
    ordered.add_edges_from(sorted(tuple(sorted(e)) for e in part.edges))
    layout = nx.kamada_kawai_layout(ordered) if n <= 30 else nx.spring_layout(ordered, seed=SEED, iterations=100, k=4 / n**0.5)
    raw = np.array([layout[name] for name in names])
    raw = (raw - raw.mean(axis=0)) @ np.linalg.svd(raw - raw.mean(axis=0), full_matrices=False)[2].T  # longest way across
    place = np.stack([_evened(raw[:, 0]) * WIDE, _evened(raw[:, 1]) * HIGH], axis=1) * n**0.5
    for _ in range(120):
        away = place[:, None, :] - place[None, :, :]
        away[..., 1] *= 1.8  # labels are wider than high
        distance = np.hypot(away[..., 0], away[..., 1]) + np.eye(n) * 1e9
        push = np.clip(CLEAR - distance, 0, None) / 2
        if not push.any():
            break
        place += ((away / np.maximum(distance, 1e-6)[..., None]) * push[..., None]).sum(axis=1) * 0.6
    return {name: (float(x), float(y)) for name, (x, y) in zip(names, place, strict=True)}


def _evened(values: np.ndarray) -> np.ndarray:
    """Values in [0, 1], half by size and half by order: the picture stays what it is, but its crowded middle opens up."""
    low, high = values.min(), values.max()
    if high - low < 1e-9:
        return np.zeros_like(values)
    order = np.argsort(np.argsort(values, kind="stable"))
    return (values - low) / (high - low) / 2 + order / (len(values) - 1) / 2


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
        radius, rest = 250.0 * hop, list(members)
        while rest:
            room = max(1, int(radius * radians(width) / 58.0))
            ring, rest = rest[:room], rest[room:]
            for k, node in enumerate(ring):
                share = 0.0 if len(ring) == 1 else k / (len(ring) - 1) - 0.5
                angle = radians(middle + width * share)
                placed.append(replace(node, x=round(1.5 * radius * cos(angle), 1), y=round(radius * sin(angle), 1)))
            radius += 85.0
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
