"""Verdicts on the paper's findings, from comparisons made by hand."""

from __future__ import annotations

import pytest

from normrag_core.evaluation.findings import FINDINGS, _verdict
from normrag_core.evaluation.statistics import Comparison, Interval


def comparison(mean: float, low: float, high: float, p: float) -> Comparison:
    return Comparison("a", "b", "R@10", Interval(mean, low, high), p, p, 9, 9, 100, 1)


BETTER = comparison(0.1, 0.04, 0.16, 0.001)
SLIGHTLY = comparison(0.01, -0.01, 0.03, 0.4)
WIDE = comparison(0.02, -0.06, 0.10, 0.5)
WORSE = comparison(-0.1, -0.16, -0.04, 0.001)
NONE = comparison(0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("claim", "comparisons", "verdict"),
    [
        ("raises", [BETTER, BETTER], "confirmed"),
        ("raises", [BETTER, SLIGHTLY], "undecided"),
        ("raises", [BETTER, WORSE], "not confirmed"),
        ("raises", [NONE], "not confirmed"),
        ("flat", [SLIGHTLY, NONE], "confirmed"),
        ("flat", [WIDE], "undecided"),
        ("flat", [SLIGHTLY, BETTER], "not confirmed"),
        ("no gain", [WORSE, SLIGHTLY], "confirmed"),
        ("no gain", [WIDE], "undecided"),
        ("no gain", [BETTER], "not confirmed"),
    ],
)
def test_verdicts(claim: str, comparisons: list[Comparison], verdict: str) -> None:
    assert _verdict(claim, comparisons) == verdict  # type: ignore[arg-type]


def test_findings_name_presets() -> None:
    from normrag_core.config import PRESETS

    assert {n for f in FINDINGS for pair in f.pairs for n in pair} <= set(PRESETS)
