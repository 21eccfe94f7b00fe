"""Metrics as data: each carries its name, formula and source, which pages, reports and documentation show.

G: the goals of a question (witnesses or relevant clauses). Every goal counts once, at the first rank that satisfies it, so a
result is relevant when it satisfies a goal that no earlier result satisfied. R_K: the first K results. All functions are
vectorised over questions; a configuration's figure is the mean over the questions for which the metric is defined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from normrag_core.evaluation.outcome import Outcome

READING_WORDS = 3000


@dataclass(frozen=True, slots=True)
class Metric:
    """name: "R" of "R@10". each: (outcome, K) → (q,) float64 in [0, 1], nan where the metric says nothing about a question.

    lower: whether a lower value is the better one.
    """

    name: str
    title: str
    formula: str
    description: str
    source: str
    each: Callable[[Outcome, int], np.ndarray]
    default: bool = True
    unit: str = "results"
    lower: bool = False

    def label(self, k: int) -> str:
        """ "R@10"; "R@3000w" where K counts words."""
        return f"R@{k}w" if self.unit == "words" else f"{self.name}@{k}"


def _recall(o: Outcome, k: int) -> np.ndarray:
    return _divide((o.ranks <= k).sum(axis=1), o.goals)


def _recall_words(o: Outcome, k: int) -> np.ndarray:
    return _divide((o.words <= k).sum(axis=1), o.goals)


def _precision_sum(o: Outcome, k: int) -> np.ndarray:
    """Σ_{i ≤ K} P@i · (goals first satisfied at i). Two goals in one result share its rank and its precision."""
    ranks = np.where(o.ranks <= k, o.ranks, np.inf)
    ordered = np.sort(ranks, axis=1)
    new = np.ones_like(ordered, dtype=bool)
    new[:, 1:] = ordered[:, 1:] > ordered[:, :-1]
    relevant = np.cumsum(new & np.isfinite(ordered), axis=1)
    return np.where(np.isfinite(ordered), relevant / ordered, 0.0).sum(axis=1)


def _ap(o: Outcome, k: int) -> np.ndarray:
    return _divide(_precision_sum(o, k), o.goals)


def _ap_min(o: Outcome, k: int) -> np.ndarray:
    # Several goals in one result can outnumber K: hence the cap.
    return np.minimum(_divide(_precision_sum(o, k), np.minimum(o.goals, k)), 1.0)


def _ap_found(o: Outcome, k: int) -> np.ndarray:
    found = (o.ranks <= k).sum(axis=1)
    return np.where(o.goals > 0, _precision_sum(o, k) / np.maximum(found, 1), np.nan)


def _mrr(o: Outcome, k: int) -> np.ndarray:
    best = np.where(np.isnan(o.ranks), np.inf, o.ranks).min(axis=1, initial=np.inf)
    return np.where(o.goals > 0, np.where(best <= k, 1.0 / best, 0.0), np.nan)


def _ndcg(o: Outcome, k: int) -> np.ndarray:
    gain = np.where(o.ranks <= k, 1.0 / np.log2(1.0 + o.ranks), 0.0).sum(axis=1)
    ideal = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(1.0 + np.arange(1, k + 1)))])
    # One result may satisfy two goals at once, which the ideal list of one goal a result cannot: hence the cap.
    return np.minimum(_divide(gain, ideal[np.minimum(o.goals, k)]), 1.0)


def _hit(o: Outcome, k: int) -> np.ndarray:
    return np.where(o.goals > 0, (o.ranks <= k).any(axis=1), np.nan)


def _both(o: Outcome, k: int) -> np.ndarray:
    return np.where(o.citation, ((o.ranks <= k) | np.isnan(o.ranks)).all(axis=1), np.nan)


def _target_only(o: Outcome, k: int) -> np.ndarray:
    last = o.ranks[np.arange(len(o.ranks)), np.maximum(o.goals - 1, 0)] if o.ranks.size else np.zeros(0)
    return np.where(o.citation, last <= k, np.nan)


def _wrong(o: Outcome, k: int) -> np.ndarray:
    return np.where(np.isnan(o.wrong).all(axis=1), np.nan, (o.wrong <= k).sum(axis=1) / k)


PAPER = "arXiv 2604.09868"
METRICS: dict[str, Metric] = {
    m.name: m
    for m in (
        Metric("R", "recall", "|G ∩ R_K| / |G|", "share of the goals that the first K results satisfy", PAPER, _recall),
        Metric(
            "AP",
            "average precision",
            "1/r · Σ_{k≤K} P@k · rel(k), r = |G|",
            "precision at every rank that satisfies a new goal, averaged over all goals",
            f"{PAPER}; r as in trec_eval map_cut",
            _ap,
        ),
        Metric(
            "MRR",
            "reciprocal rank",
            "1 / first relevant rank, 0 beyond K",
            "how far up the first useful result stands",
            f"{PAPER}; Voorhees, TREC-8 (1999)",
            _mrr,
        ),
        Metric(
            "nDCG",
            "normalised discounted cumulative gain",
            "Σ 1/log₂(1+rank) over its ideal value",
            "goals found, each discounted by the logarithm of its rank",
            "Järvelin and Kekäläinen (2002), doi:10.1145/582415.582418",
            _ndcg,
        ),
        Metric(
            "hit",
            "hit rate",
            "1 if |G ∩ R_K| > 0",
            "share of questions with any goal in the first K",
            "ir_measures Success",
            _hit,
        ),
        Metric(
            "Both",
            "both clauses of a citation question",
            "1 if G ⊆ R_K",
            "citation questions only: asked and cited clause are both in the first K",
            "ours",
            _both,
        ),
        Metric(
            "target-only",
            "cited clause of a citation question",
            "1 if cited clause ∈ R_K",
            "citation questions only: the cited clause is in the first K, whether or not the asked one is",
            "ours",
            _target_only,
        ),
        Metric(
            "AP(min)",
            "average precision, r = min(|G|, K)",
            "1/r · Σ_{k≤K} P@k · rel(k), r = min(|G|, K)",
            "another reading of the paper's r: a perfect top K scores 1 even when |G| > K",
            PAPER,
            _ap_min,
            default=False,
        ),
        Metric(
            "AP(found)",
            "average precision, r = goals found",
            "1/r · Σ_{k≤K} P@k · rel(k), r = |G ∩ R_K|",
            "another reading of the paper's r: what was not found does not count against it",
            PAPER,
            _ap_found,
            default=False,
        ),
        Metric(
            "wrong",
            "share judged wrong",
            "|results of R_K judged wrong| / K",
            "share of the first K results that somebody marked as wrong; only questions with such marks; lower is better",
            "ours",
            _wrong,
            lower=True,
        ),
        Metric(
            "R_words",
            "recall by words read",
            "|G ∩ results within W words| / |G|",
            "results are read in order until the next would exceed W words: long clauses cost what they cost the reader",
            "ours",
            _recall_words,
            unit="words",
        ),
    )
}
_WORDS_LABEL = re.compile(r"^R@(\d+)w$")


def labels(ks: Sequence[int], extra: Iterable[str] = ()) -> list[str]:
    """The figures of a run by label: the default metrics at every K, those named in `extra` too, and R at 3,000 words read."""
    chosen = [m for m in METRICS.values() if (m.default or m.name in set(extra)) and m.unit == "results"]
    return [m.label(k) for m in chosen for k in ks] + [METRICS["R_words"].label(READING_WORDS)]


def parse_label(label: str) -> tuple[Metric, int]:
    """(metric, K) of "AP@10" or "R@3000w"; ValueError says what is known."""
    words = _WORDS_LABEL.match(label)
    if words:
        return METRICS["R_words"], int(words[1])
    name, _, k = label.rpartition("@")
    if name not in METRICS or not k.isdigit() or int(k) < 1:
        known = ", ".join(f"{m}@K" for m in METRICS if m != "R_words")
        raise ValueError(f"metric: expected one of {known} or R@<words>w; found {label!r}")
    return METRICS[name], int(k)


def per_question(outcome: Outcome, label: str) -> np.ndarray:
    """(q,) float64: the metric's value for every question; nan where it says nothing about one."""
    metric, k = parse_label(label)
    return metric.each(outcome, k)


def mean(values: np.ndarray) -> float | None:
    """Mean over the questions that have a value; None where none has."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else None


def measure(outcome: Outcome, wanted: Iterable[str]) -> dict[str, float]:
    """Label → mean over the questions; labels that no question defines are left out."""
    figures = {label: mean(per_question(outcome, label)) for label in wanted}
    return {label: value for label, value in figures.items() if value is not None}


def _divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    return np.where(denominator > 0, numerator / np.maximum(denominator, 1e-12), np.nan)
