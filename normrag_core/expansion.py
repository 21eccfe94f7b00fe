"""Module 7, expander and graph re-ranker: neighbours of the first results join them, and both are ranked again.

The paper's formula and one saner variant (ours). The set stays small whatever the corpus: it grows breadth first from the
best seed and stops at `LIMIT`, so that a hub cannot draw the corpus in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from normrag_core.config import Relation
from normrag_core.graph.adjacency import Adjacency
from normrag_core.trace import Via

LIMIT = 1000


def reach(
    adjacency: Adjacency,
    seeds: Sequence[int],
    hops: int,
    relations: Sequence[Relation],
    allowed: np.ndarray | None = None,
    limit: int = LIMIT,
) -> tuple[dict[int, list[Via]], bool]:
    """Chunk → how seeds reach it (by a shortest way from each), best seed first; and whether the limit cut it short.

    A seed does not reach itself, but it may reach another seed. allowed: (n,) bool, nodes that may be entered.
    """
    found: dict[int, list[Via]] = {}
    around: dict[int, frozenset[int]] = {}  # Seeds lie close together, so they pass through the same nodes.
    cut = False

    def next_to(node: int, by: Sequence[Relation]) -> frozenset[int]:
        everyone = np.concatenate([adjacency.neighbours(node, r) for r in by])
        return frozenset((everyone if allowed is None else everyone[allowed[everyone]]).tolist())

    seen: list[set[int]] = [{s} for s in seeds]
    fronts: list[list[tuple[int, Relation]]] = [[] for _ in seeds]
    for hop in range(1, hops + 1):
        for i, seed in enumerate(seeds):
            steps: list[tuple[frozenset[int], Relation]] = []
            if hop == 1:
                steps = [(next_to(seed, (relation,)), relation) for relation in relations]
            for node, relation in fronts[i]:
                if node not in around:
                    around[node] = next_to(node, relations)
                steps.append((around[node], relation))
            front: list[tuple[int, Relation]] = []
            for neighbours, relation in steps:
                for node in sorted(neighbours - seen[i]):
                    if node not in found:
                        if len(found) == limit:
                            cut = True
                            continue
                        found[node] = []
                    seen[i].add(node)
                    found[node].append(Via(seed, relation, hop))
                    front.append((node, relation))
            fronts[i] = front
    return found, cut


def paper_terms(
    rows: Callable[[np.ndarray], np.ndarray], similarity: np.ndarray, seeds: np.ndarray, nodes: np.ndarray, degree: np.ndarray
) -> np.ndarray:
    """(nodes, seeds) float64: sim(s,q) · sim(v,s) / deg(v); the row sums are the paper's S(v) = Σ_s of them.

    rows: chunk indices → their vectors in use, L2-normalised. similarity: (seeds,) cosine of each seed with the question.
    nodes: seeds and neighbours. degree: (n_chunks,) as `Adjacency.degree`; it punishes hubs.
    """
    between = (rows(nodes) @ rows(seeds).T).astype(np.float64)
    return between * similarity[None, :] / degree[nodes][:, None]


def best_seed(vias: Sequence[Via], fused: dict[int, float]) -> int:
    """The seed with the highest fused score among those that reach a chunk; the one named first where equal."""
    return max((v.seed for v in vias), key=lambda s: fused[s])


def best_seed_scores(nodes: Sequence[int], reached: dict[int, list[Via]], fused: dict[int, float], weight: float) -> np.ndarray:
    """(nodes,) float64: own fused score, if any, plus weight · fused score of the best seed that reaches the chunk (ours).

    fused: chunk → score of the ranking before expansion; seeds are in it.
    """
    return np.array(
        [fused.get(v, 0.0) + (weight * fused[best_seed(reached[v], fused)] if v in reached else 0.0) for v in nodes]
    )
