"""The paper's findings as data, and what a run says about each: confirmed, not confirmed or undecided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from normrag_core.evaluation.runs import RunResult
from normrag_core.evaluation.statistics import Comparison, compare, holm

Claim = Literal["raises", "flat", "no gain"]
Verdict = Literal["confirmed", "not confirmed", "undecided"]
MARGIN = 0.05
"""Differences smaller than this are called flat: about one rank-10 hit in twenty questions."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement of the paper. pairs: (configuration, the one it is compared with). metrics: names without K."""

    text: str
    claim: Claim
    pairs: tuple[tuple[str, str], ...]
    metrics: tuple[str, ...]


FINDINGS = (
    Finding("structure raises AP and MRR", "raises", (("structured-rrf", "vanilla-rrf"),), ("AP", "MRR")),
    Finding("RRF raises AP and MRR", "raises", (("vanilla-rrf", "vanilla-bm25-dense"),), ("AP", "MRR")),
    Finding("recall stays flat", "flat", (("structured-rrf", "vanilla-rrf"), ("vanilla-rrf", "vanilla-dense")), ("R",)),
    Finding(
        "smoothing lifts recall slightly",
        "raises",
        (("structured-smoothed", "structured-rrf"), ("chunked-smoothed", "chunked-rrf")),
        ("R",),
    ),
    Finding("expansion does not help", "no gain", (("chunked-expanded", "chunked-smoothed"),), ("R", "AP", "MRR")),
    Finding(
        "structured + chunks is the best compromise: as good in AP and MRR as whole clauses",
        "no gain",
        (("structured-rrf", "chunked-rrf"),),
        ("AP", "MRR"),
    ),
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding with the comparisons that decide it."""

    finding: Finding
    verdict: Verdict
    comparisons: tuple[Comparison, ...]


def judge(result: RunResult, k: int, findings: Sequence[Finding] = FINDINGS) -> list[Judged]:
    """Verdicts on the findings whose configurations are in the run; all their comparisons are corrected together."""
    names = {c.name for c in result.configurations}
    usable = [f for f in findings if all(n in names for pair in f.pairs for n in pair)]
    rows: list[list[Comparison]] = []
    for finding in usable:
        rows.append([])
        for metric in finding.metrics:
            label = f"{metric}@{k}"
            rows[-1] += compare(result.values(label), label, finding.pairs)
    corrected = iter(holm([c.p for row in rows for c in row]))
    total = sum(map(len, rows))
    judged = []
    for finding, row in zip(usable, rows, strict=True):
        fixed = tuple(replace(c, p_holm=next(corrected), family=total) for c in row)
        judged.append(Judged(finding, _verdict(finding.claim, fixed), fixed))
    return judged


def _verdict(claim: Claim, comparisons: Sequence[Comparison]) -> Verdict:
    """What the comparisons say about a claim.

    raises: confirmed when every one is significantly better; not confirmed when one is significantly worse, or when no
    interval reaches above 0. flat: confirmed when every interval lies within the margin; not confirmed when one differs
    significantly. no gain: confirmed when none is significantly better and every interval ends below the margin or the
    difference is significantly worse; not confirmed when one is significantly better.
    """
    better = [c.significant and c.difference.mean > 0 for c in comparisons]
    worse = [c.significant and c.difference.mean < 0 for c in comparisons]
    above = [c.difference.high > 0 for c in comparisons]
    below = [c.difference.high < MARGIN for c in comparisons]
    within = [c.difference.high < MARGIN and c.difference.low > -MARGIN for c in comparisons]
    if claim == "raises":
        return "confirmed" if all(better) else "not confirmed" if any(worse) or not any(above) else "undecided"
    if claim == "flat":
        return "not confirmed" if any(better) or any(worse) else "confirmed" if all(within) else "undecided"
    if any(better):
        return "not confirmed"
    return "confirmed" if all(w or b for w, b in zip(worse, below, strict=True)) else "undecided"
