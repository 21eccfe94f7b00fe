"""Smoothed vectors by hand, and the closed form against the materialised matrix."""

from __future__ import annotations

import numpy as np
import pytest

from normrag_core.config import RELATIONS
from normrag_core.dense import cosines
from normrag_core.graph import Adjacency
from normrag_core.smoothing import neighbour_means, neighbourhood, smooth, smoothed_cosines, smoothed_rows

# A parent (0) with three children (1, 2, 3), and a lone node (4); 1 cites 2, its sibling, and 3 cites 4.
PARENT = np.array([-1, 0, 0, 0, -1])
TREE = Adjacency.of(PARENT, PARENT, [(1, 2), (3, 4)])
E = np.array([[1, 0], [0, 1], [0.6, 0.8], [0, 1], [-1, 0]], dtype=np.float32)


def random_graph(seed: int, n: int = 60) -> tuple[np.ndarray, Adjacency]:
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(n, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    parent = np.array([-1 if i % 20 == 0 else int(random.integers(i - i % 20, i)) for i in range(n)])
    return vectors, Adjacency.of(parent, parent, random.integers(0, n, (90, 2)).tolist())


def test_means_by_hand() -> None:
    means = neighbour_means(E, TREE, RELATIONS)
    assert means.counts.tolist() == [3, 3, 3, 4, 1]
    np.testing.assert_allclose(means.means[0], [0.2, 2.8 / 3], atol=1e-6)  # children 1, 2, 3
    np.testing.assert_allclose(means.means[1], [1.6 / 3, 1.8 / 3], atol=1e-6)  # parent, siblings 2 (once, though cited), 3
    np.testing.assert_allclose(means.means[3], [0.6 / 4, 1.8 / 4], atol=1e-6)  # parent, siblings 1, 2, cited 4
    np.testing.assert_allclose(means.means[4], [0, 1], atol=1e-6)  # cited by 3


def test_one_step_by_hand() -> None:
    # Node 4 at α = 0.5: ½·(−1, 0) + ½·(0, 1), normalised.
    made = smooth(E, TREE, 0.5, RELATIONS)
    np.testing.assert_allclose(made[4], [-(0.5**0.5), 0.5**0.5], atol=1e-6)


def test_relations_can_be_switched_off() -> None:
    means = neighbour_means(E, TREE, ("cites",))
    assert means.counts.tolist() == [0, 1, 0, 1, 0]
    np.testing.assert_allclose(means.means[1], E[2])


def test_all_means_come_from_the_old_vectors() -> None:
    once = smooth(E, TREE, 0.6, RELATIONS)
    assert np.array_equal(smooth(E, TREE, 0.6, RELATIONS, iterations=2), smooth(once, TREE, 0.6, RELATIONS))


def test_a_node_without_neighbours_keeps_its_vector() -> None:
    np.testing.assert_allclose(smooth(E, TREE, 0.3, ("cites",))[0], E[0], atol=1e-7)


def test_alpha_1_gives_the_very_matrix() -> None:
    assert smooth(E, TREE, 1.0, RELATIONS, iterations=3) is E


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.5, 0.8, 0.99])
@pytest.mark.parametrize("relations", [RELATIONS, ("parent", "child"), ("sibling",), ("cites", "cited-by", "sibling")])
def test_closed_form_equals_the_matrix(alpha: float, relations: tuple) -> None:
    vectors, adjacency = random_graph(3)
    query = vectors[7] * 0.5 + vectors[11] * 0.5
    query /= np.linalg.norm(query)
    means = neighbour_means(vectors, adjacency, relations)
    rows = np.array([0, 5, 7, 31, 59])
    closed = smoothed_cosines(means, cosines(vectors, query, rows), cosines(means.means, query, rows), rows, alpha)
    matrix = smooth(vectors, adjacency, alpha, relations)
    np.testing.assert_allclose(closed, cosines(matrix, query, rows), atol=1e-6)
    np.testing.assert_allclose(smoothed_rows(vectors, means, rows, alpha), matrix[rows], atol=1e-6)


@pytest.mark.parametrize("relations", [RELATIONS, ("sibling", "cites"), ("child", "cited-by")])
def test_implicit_siblings_give_the_mean_over_the_set(relations: tuple) -> None:
    vectors, adjacency = random_graph(5)
    means = neighbour_means(vectors, adjacency, relations)
    for node in range(len(vectors)):
        around = list(neighbourhood(adjacency, node, relations))
        assert means.counts[node] == len(around)
        expected = vectors[around].mean(axis=0) if around else vectors[node]
        np.testing.assert_allclose(means.means[node], expected, atol=1e-6)


def test_vectors_that_cancel_out_are_like_nothing() -> None:
    pair = Adjacency.of(np.array([-1, 0]), np.array([-1, -1]), [])
    opposite = np.array([[1, 0], [-1, 0]], dtype=np.float32)
    means = neighbour_means(opposite, pair, ("parent", "child"))
    rows = np.arange(2)
    query = np.array([1, 0], dtype=np.float32)
    found = smoothed_cosines(means, cosines(opposite, query), cosines(means.means, query), rows, 0.5)
    assert found.tolist() == [0.0, 0.0]


def test_blocks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, adjacency = random_graph(9)
    whole = neighbour_means(vectors, adjacency, RELATIONS).means
    monkeypatch.setattr("normrag_core.smoothing.BLOCK", 7)
    assert np.array_equal(neighbour_means(vectors, adjacency, RELATIONS).means, whole)


def test_a_wrong_number_of_vectors_is_refused() -> None:
    with pytest.raises(ValueError, match="expected one vector for each of 5 chunks; found 4"):
        neighbour_means(E[:4], TREE, RELATIONS)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("relations", [RELATIONS, ("sibling",), ("cites", "cited-by")])
def test_half_precision_keeps_the_closed_form(monkeypatch: pytest.MonkeyPatch, alpha: float, relations: tuple) -> None:
    # Exact for the vectors and means as they are held, and near what float32 gives.
    wide, adjacency = random_graph(4)
    half = wide.astype(np.float16)
    monkeypatch.setattr("normrag_core.smoothing.NARROW_BLOCK", 7)
    means = neighbour_means(half, adjacency, relations)
    assert means.means.dtype == np.float16
    query = wide[9]
    rows = np.array([0, 3, 21, 59])
    closed = smoothed_cosines(means, cosines(half, query, rows), cosines(means.means, query, rows), rows, alpha)
    np.testing.assert_allclose(closed, smoothed_rows(half, means, rows, alpha) @ query, atol=1e-6)
    np.testing.assert_allclose(closed, cosines(smooth(wide, adjacency, alpha, relations), query, rows), atol=2e-3)
    assert means.counts.tolist() == neighbour_means(wide, adjacency, relations).counts.tolist()


def test_cosines_of_half_precision_are_those_of_the_same_numbers_in_float32() -> None:
    rows = np.random.default_rng(0).standard_normal((1300, 8)).astype(np.float16)  # more than two blocks
    rows[0] = [0, -0.0, 6e-8, -6e-8, 6e-5, 1, -1, 60_000]  # zero, the smallest numbers, the least normal one, a large one
    query = np.linspace(-1, 1, 8, dtype=np.float32)
    expected = cosines(rows.astype(np.float32), query)
    np.testing.assert_allclose(cosines(rows, query), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(cosines(rows, query, np.array([1, 1299])), expected[[1, 1299]], rtol=1e-6, atol=1e-6)
    tiny = np.array([[6e-8, -6e-5]], dtype=np.float16)
    np.testing.assert_allclose(cosines(tiny, np.array([1, 0], dtype=np.float32)), [5.9604645e-08], rtol=1e-6)
