"""Grids, folds that keep documents whole, and the nested choice."""

from __future__ import annotations

import numpy as np
import pytest

from normrag_core.config import ConfigError, RetrieverConfig
from normrag_core.evaluation.sweeps import Sweep, choose, grid, make_folds


def test_grid_leaves_out_what_excludes_itself() -> None:
    configs = grid(RetrieverConfig(), {"chunking": ["vanilla", "structured"], "alpha": [0.5, 1.0], "rrf_k": [10, 60]})
    assert len(configs) == 6
    assert all(c.alpha == 1.0 for c in configs if c.chunking == "vanilla")
    assert grid(RetrieverConfig(), {"alpha": [1.0, 1.0]}) == [RetrieverConfig()]
    with pytest.raises(ConfigError, match="found speed"):
        grid(RetrieverConfig(), {"speed": [1]})
    with pytest.raises(ConfigError, match="expected 0 to 1; found 2"):
        grid(RetrieverConfig(), {"alpha": [2.0]})


def test_folds_keep_documents_whole_and_even() -> None:
    groups = ["a"] * 10 + ["b"] * 6 + ["c"] * 5 + ["d"] * 5 + ["e"] * 4 + ["f"] * 3
    folds = make_folds(groups, 3)
    assert {len(set(folds[[g == name for g in groups]])) for name in "abcdef"} == {1}
    assert sorted(np.bincount(folds)) == [10, 10, 13]
    assert np.array_equal(folds, make_folds(groups, 3))
    assert make_folds(["a", "a", "b"], 5).max() == 1


def test_choice_is_made_without_the_questions_it_is_judged_on() -> None:
    # Setting 1 is best only on document "a", which is all that it can do: on the others setting 0 is.
    configs = (RetrieverConfig(rrf_k=1), RetrieverConfig(rrf_k=2))
    values = np.array([[0, 0, 0, 1, 1, 0], [1, 1, 1, 0, 0, 0]], dtype=float)
    groups = ("a", "a", "a", "b", "b", "c")
    found = choose(Sweep(configs, {"R@10": values}, groups, 0.0), {"R@10": 1.0}, n_folds=2)
    assert found.best is configs[1]
    assert found.apparent == 0.5
    # Without "a", setting 0 is chosen and fails on it; without "b" and "c", setting 1 is chosen and fails on them.
    assert found.held_out["R@10"].tolist() == [0, 0, 0, 0, 0, 0]
    assert {c.rrf_k for c in found.by_fold} == {1, 2}
    with pytest.raises(ValueError, match="found 1"):
        choose(Sweep(configs, {"R@10": values[:, :2]}, ("a", "a"), 0.0), {"R@10": 1.0})


def test_heat_map_takes_the_best_of_the_other_settings() -> None:
    configs = tuple(grid(RetrieverConfig(), {"alpha": [0.5, 1.0], "rrf_k": [10, 60], "seeds": [1, 2]}))
    values = np.arange(8, dtype=float)[:, None]
    rows, columns, cells = Sweep(configs, {"R@10": values}, ("a",), 0.0).table("R@10", "alpha", "rrf_k")
    assert (rows, columns) == ([0.5, 1.0], [10, 60])
    assert cells.tolist() == [[1, 3], [5, 7]]
