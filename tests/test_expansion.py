"""Expansion scores by hand."""

from __future__ import annotations

import numpy as np
import pytest

from normrag_core.expansion import best_seed_scores, paper_terms, reach
from normrag_core.graph import Adjacency
from normrag_core.trace import Via

# 0 ─ children 1, 2; 2 ─ child 3; 1 cites 3.
PARENT = np.array([-1, 0, 0, 2])
GRAPH = Adjacency.of(PARENT, PARENT, [(1, 3)])
TREE = ("parent", "child", "cites", "cited-by")


def test_reach_by_hops_and_relations() -> None:
    one, _ = reach(GRAPH, [1], 1, TREE)
    assert one == {0: [Via(1, "parent", 1)], 3: [Via(1, "cites", 1)]}
    two, _ = reach(GRAPH, [1], 2, TREE)
    assert two[2] == [Via(1, "parent", 2)]  # the relation of the first hop
    assert reach(GRAPH, [1], 1, ("cites",))[0] == {3: [Via(1, "cites", 1)]}


def test_a_seed_may_reach_another_seed_but_not_itself() -> None:
    found, _ = reach(GRAPH, [1, 3], 2, TREE)
    assert found[3] == [Via(1, "cites", 1)]
    assert [v.seed for v in found[1]] == [3]
    assert {v.seed for v in found[0]} == {1, 3}


def test_reach_stops_at_its_limit_with_the_first_seed_served_first() -> None:
    found, cut = reach(GRAPH, [1, 0], 1, TREE, limit=2)
    assert cut
    assert set(found) == {0, 3}


def test_reach_keeps_to_the_allowed() -> None:
    allowed = np.array([True, True, True, False])
    assert set(reach(GRAPH, [1], 1, TREE, allowed)[0]) == {0}


def test_paper_formula_by_hand() -> None:
    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8], [0.8, 0.6]], dtype=np.float32)
    # Seeds 1 and 2 with cosines 0.5 and 0.9. deg: 0 has two children, 3 has a parent and a citing node.
    terms = paper_terms(lambda i: vectors[i], np.array([0.5, 0.9]), np.array([1, 2]), np.array([0, 3]), GRAPH.degree)
    assert GRAPH.degree.tolist() == [2, 2, 2, 2]
    expected = [[0.5 * 0 / 2, 0.9 * 0.6 / 2], [0.5 * 0.6 / 2, 0.9 * (0.48 + 0.48) / 2]]
    np.testing.assert_allclose(terms, expected, atol=1e-7)


def test_best_seed_by_hand() -> None:
    reached = {0: [Via(1, "parent", 1), Via(2, "parent", 1)], 2: [Via(1, "sibling", 1)]}
    scores = best_seed_scores([0, 1, 2], reached, {1: 0.03, 2: 0.02}, 0.5)
    # 0: only ½ of the better seed; 1: its own; 2: its own and ½ of the seed that reaches it.
    assert scores == pytest.approx([0.015, 0.03, 0.035])
