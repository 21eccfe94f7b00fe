"""Where the nodes of a view stand: computed beforehand and seeded, so that a picture never moves on its own.

Every function takes nodes and returns them with x and y in pixels. Opening a node never moves the ones already shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from math import cos, pi, radians, sin
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from normrag_core.graph.views import Edge, Node

SEED = 7
ROUNDS = 120
SPACING = 150.0
CLEAR = 105.0
WIDE, HIGH = 135.0, 74.0  # pixels a node in a picture of the usual shape
SCREEN = np.array([1.7, 1.0])  # the shape of a frame
RING = 150.0
COLUMN = 370.0
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
    """Top-level nodes by the steps of citation between them; the children of an opened node on a ring around it.

    parent: node id → id of the node above it, "" at the top. The top level's places depend on the top level alone.
    """
    top = [n.id for n in nodes if not parent.get(n.id)]
    above = {n.id: parent.get(n.id, "") for n in nodes}

    def summit(node: str) -> str:
        while above.get(node):
            node = above[node]
        return node

    links = {(summit(e.source), summit(e.target)) for e in edges}
    at = _packed(top, {(min(pair), max(pair)) for pair in links if pair[0] != pair[1]})
    around(at, nodes, above)
    return [replace(n, x=round(at[n.id][0], 1), y=round(at[n.id][1], 1)) for n in nodes if n.id in at]


def around(at: dict[str, tuple[float, float]], nodes: list[Node], above: Mapping[str, str]) -> None:
    """Puts every node that has one above it on a ring around that one; a ring inside a ring is narrower.

    at: node id → place, of the nodes without one above them; filled in.
    """
    rings: dict[str, list[Node]] = {}
    for node in nodes:
        if above.get(node.id):
            rings.setdefault(above[node.id], []).append(node)
    waiting = [(i, 0) for i in at if i in rings]
    for middle, level in waiting:
        ring = rings[middle]
        radius = max(RING / (1 + level), len(ring) * 26 / (2 * pi))
        for k, child in enumerate(ring):
            angle = 2 * pi * k / len(ring) - pi / 2
            at[child.id] = (at[middle][0] + radius * cos(angle), at[middle][1] + radius * sin(angle))
            if child.id in rings:
                waiting.append((child.id, level + 1))


def _packed(names: list[str], links: Collection[tuple[str, str]]) -> dict[str, tuple[float, float]]:
    """Each connected part laid out by itself; the largest first, the others beside and below it in the shape of a screen."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not names:
        return {}
    names = sorted(names)
    place = {name: i for i, name in enumerate(names)}
    pairs = np.array([(place[s], place[t]) for s, t in sorted(links)], dtype=np.int64).reshape(-1, 2)
    ones = np.ones(len(pairs))
    graph = coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(len(names),) * 2).tocsr()
    _, label = connected_components(graph, directed=False)
    parts = sorted((np.flatnonzero(label == c) for c in range(label.max() + 1)), key=lambda p: (-len(p), int(p[0])))
    spread = [_spread(graph[part][:, part]) for part in parts]
    low = [s.min(axis=0) for s in spread]
    sizes = [tuple((s.max(axis=0) - lowest + SPACING).tolist()) for s, lowest in zip(spread, low, strict=True)]
    corners = min(
        (_shelves(sizes, sizes[0][0] * (1 + tenth / 10)) for tenth in range(21)),
        key=lambda made: max((made + sizes).max(axis=0) / SCREEN),
    )
    at: dict[str, tuple[float, float]] = {}
    for part, places, lowest, corner in zip(parts, spread, low, corners, strict=True):
        moved = places - lowest + corner
        at |= {names[i]: (float(x), float(y)) for i, (x, y) in zip(part.tolist(), moved.tolist(), strict=True)}
    return at


def _shelves(sizes: list[tuple[float, float]], wide: float) -> np.ndarray:
    """(parts, 2) upper left corners: shelves beside the first part as long as they fit in its height, then below it."""
    corners = [(0.0, 0.0)]
    x = left = sizes[0][0]
    y = row = 0.0
    for w, h in sizes[1:]:
        if x > left and x + w > wide:
            x, y, row = left, y + row, 0.0
        if left and (x + w > wide or y + h > sizes[0][1]):
            left, x, y, row = 0.0, 0.0, max(y + row, sizes[0][1]), 0.0
        corners.append((x, y))
        x, row = x + w, max(row, h)
    return np.array(corners)


def _spread(links: csr_array) -> np.ndarray:
    """(n, 2) places of one connected part, no two nearer than a label needs.

    Stress majorization (Gansner, Koren and North 2004): distances in the picture follow the number of steps between two nodes,
    near ones weighing most. links: (n, n), either direction.
    """
    from scipy.sparse.csgraph import shortest_path

    n = links.shape[0]
    if n == 1:
        return np.zeros((1, 2))
    steps = shortest_path(links, directed=False, unweighted=True)
    weight = 1.0 / np.maximum(steps, 1.0) ** 2
    np.fill_diagonal(weight, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    solve = np.linalg.inv(laplacian + 1.0 / n)  # the constant shift that the Laplacian leaves open is fixed to nought
    pulled = weight * steps
    raw = np.random.default_rng(SEED).normal(size=(n, 2))
    rounds = max(10, min(ROUNDS, 10_000_000 // n**2))
    for _ in range(rounds):
        away = raw[:, None, :] - raw[None, :, :]
        ratio = pulled / np.maximum(np.hypot(away[..., 0], away[..., 1]), 1e-9)
        raw = solve @ (ratio.sum(axis=1)[:, None] * raw - ratio @ raw)
    raw = raw - raw.mean(axis=0)
    raw = raw @ np.linalg.svd(raw, full_matrices=False)[2].T  # longest way across
    place = np.stack([_evened(raw[:, 0]) * WIDE, _evened(raw[:, 1]) * HIGH], axis=1) * n**0.5
    for _ in range(rounds):
        away = place[:, None, :] - place[None, :, :]
        away[..., 1] *= 1.8  # labels are wider than high
        distance = np.hypot(away[..., 0], away[..., 1]) + np.eye(n) * 1e9
        push = np.clip(CLEAR - distance, 0, None) / 2
        if not push.any():
            break
        place += ((away / np.maximum(distance, 1e-6)[..., None]) * push[..., None]).sum(axis=1) * 0.6
    return place


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


def sectors(nodes: list[Node], hops: Mapping[str, int], above: Mapping[str, str]) -> list[Node]:
    """The centre in the middle, each relation in its own direction, each hop further out. Roles name the relation.

    hops: node id → distance. above: node id → the opened node around which it stands.
    """
    groups: dict[tuple[int, str], list[Node]] = {}
    for node in nodes:
        if node.id not in above:
            groups.setdefault((hops[node.id], node.role), []).append(node)
    at: dict[str, tuple[float, float]] = {}
    inner = dict.fromkeys(SECTORS, 0.0)  # where the last ring of each relation stands
    for (hop, role), members in sorted(groups.items(), key=lambda g: g[0][0]):
        if hop == 0:
            at |= dict.fromkeys((n.id for n in members), (0.0, 0.0))
            continue
        middle, width = SECTORS[role]
        radius, rest = max(250.0 * hop, inner[role] + 130.0), list(members)
        while rest:
            room = max(1, int(radius * radians(width) / 58.0))
            ring, rest = rest[:room], rest[room:]
            for k, node in enumerate(ring):
                share = 0.0 if len(ring) == 1 else k / (len(ring) - 1) - 0.5
                angle = radians(middle + width * share)
                at[node.id] = (1.5 * radius * cos(angle), radius * sin(angle))
            inner[role] = radius
            radius += 85.0
    around(at, nodes, above)
    return [replace(n, x=round(at[n.id][0], 1), y=round(at[n.id][1], 1)) for n in nodes]


def columns(nodes: list[Node]) -> list[Node]:
    """Results from top to bottom by rank; those reached by expansion in a second column."""
    ordered = sorted(nodes, key=lambda n: (n.rank is None, n.rank or 0, n.id))
    rows = {"left": 0, "right": 0}
    placed = []
    for node in ordered:
        side = "right" if node.role == "neighbour" else "left"
        placed.append(replace(node, x=1.5 * COLUMN if side == "right" else 0.0, y=rows[side] * 1.4 * ROW))
        rows[side] += 1
    return placed
