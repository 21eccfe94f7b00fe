"""Grids of settings, and a choice among them that does not flatter itself.

The best of a hundred settings looks better than it is on the questions that chose it. So the figure reported is that of nested
cross-validation: each fold's questions are answered by the setting that was best on the *other* folds, and a document's
questions stay in one fold, since neighbouring questions share their difficulty.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from normrag_core.config import ConfigError, RetrieverConfig
from normrag_core.evaluation import metrics
from normrag_core.evaluation.outcome import Outcome, first_ranks
from normrag_core.evaluation.questions import Question
from normrag_core.evaluation.runs import Cancelled, Matcher, Progress, Searcher
from normrag_core.evaluation.statistics import SEED, Interval, bootstrap

FOLDS = 5


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a grid gave. values: metric label → (n_settings, n_questions) float64. groups: each question's document."""

    configs: tuple[RetrieverConfig, ...]
    values: dict[str, np.ndarray]
    groups: tuple[str, ...]
    seconds: float

    def means(self, label: str) -> np.ndarray:
        """(n_settings,) mean over the questions."""
        return np.nanmean(self.values[label], axis=1)

    def table(self, label: str, rows: str, columns: str) -> tuple[list[Any], list[Any], np.ndarray]:
        """Heat map: (row values, column values, best mean (rows, columns) over the other settings; nan where none)."""
        row_values = sorted({getattr(c, rows) for c in self.configs})
        column_values = sorted({getattr(c, columns) for c in self.configs})
        cells = np.full((len(row_values), len(column_values)), np.nan)
        for config, mean in zip(self.configs, self.means(label), strict=True):
            at = row_values.index(getattr(config, rows)), column_values.index(getattr(config, columns))
            cells[at] = np.nanmax([cells[at], mean]) if not np.isnan(cells[at]) else mean
        return row_values, column_values, cells


@dataclass(frozen=True, slots=True)
class Choice:
    """Outcome of nested cross-validation.

    best: the setting to use, chosen on all questions; apparent: its mean on them, which flatters. by_fold: the setting chosen
    without each fold. held_out: metric label → (n_questions,) values, each question answered by a setting chosen without it.
    """

    best: RetrieverConfig
    apparent: float
    by_fold: tuple[RetrieverConfig, ...]
    folds: np.ndarray
    held_out: dict[str, np.ndarray]

    def interval(self, label: str) -> Interval | None:
        """Honest mean of a metric with its bootstrap interval."""
        return bootstrap(self.held_out[label])


def grid(base: RetrieverConfig, axes: Mapping[str, Sequence[Any]]) -> list[RetrieverConfig]:
    """Every combination of the axes' values over the base, each once. Combinations that exclude each other are left out.

    ConfigError where a name is unknown or no combination is valid.
    """
    if unknown := [name for name in axes if name not in RetrieverConfig.__slots__]:
        raise ConfigError(f"sweep: expected names of settings; found {', '.join(unknown)}")
    made: dict[RetrieverConfig, None] = {}
    refused = ""
    for values in product(*axes.values()):
        try:
            made[base.with_(**dict(zip(axes, values, strict=True)))] = None
        except ConfigError as error:
            refused = str(error)
    if not made:
        raise ConfigError(f"sweep: expected a valid combination; found none ({refused})")
    return list(made)


def sweep(
    retriever: Searcher,
    questions: Sequence[Question],
    configs: Sequence[RetrieverConfig],
    labels: Sequence[str] = ("R@10", "AP@10", "MRR@10"),
    *,
    matcher: Matcher | None = None,
    progress: Progress | None = None,
    cancel: Callable[[], bool] | None = None,
) -> Sweep:
    """Every question under every setting. Nothing is embedded that an earlier search embedded.

    Question by question and not setting by setting: what the retriever keeps of one question serves all settings.
    """
    begun = time.perf_counter()
    matcher = matcher or Matcher(retriever, questions)
    matched = [matcher.matches(c) for c in configs]
    ranks: list[list[list[int | None]]] = [[] for _ in configs]
    total = len(questions) * len(configs)
    for number, question in enumerate(questions):
        if cancel is not None and cancel():
            raise Cancelled(f"stopped after {number * len(configs)} of {total} searches")
        for i, config in enumerate(configs):
            order = retriever.search(question.question, config).final.order
            ranks[i].append(first_ranks(order, matched[i].hits[number], len(matched[i].words)))
        if progress is not None:
            progress((number + 1) * len(configs), total, question.id)
    citation = [q.cites for q in questions]
    outcomes = [Outcome.of(r, citation=citation) for r in ranks]
    values = {label: np.stack([metrics.per_question(o, label) for o in outcomes]) for label in labels}
    return Sweep(tuple(configs), values, tuple(q.group for q in questions), time.perf_counter() - begun)


def make_folds(groups: Sequence[Hashable], n: int = FOLDS, seed: int = SEED) -> np.ndarray:
    """(q,) fold number of each question: groups whole, folds of about equal size. Largest group first into the emptiest fold.

    Fewer folds where there are fewer groups. Groups of equal size are taken in an order drawn with the seed.
    """
    sizes = Counter(groups)
    names = sorted(sizes, key=str)
    drawn = np.random.default_rng(seed).permutation(len(names))
    order = sorted(range(len(names)), key=lambda i: (-sizes[names[i]], drawn[i]))
    filled = [0] * min(n, len(names))
    fold_of = {}
    for i in order:
        emptiest = filled.index(min(filled))
        fold_of[names[i]] = emptiest
        filled[emptiest] += sizes[names[i]]
    return np.array([fold_of[g] for g in groups], dtype=np.int64)


def choose(result: Sweep, objective: Mapping[str, float], n_folds: int = FOLDS, seed: int = SEED) -> Choice:
    """The best setting by a weighted sum of metrics, and its honest figures. objective: metric label → weight.

    Ties go to the earlier setting. ValueError with fewer than two groups: then nothing can be held out.
    """
    folds = make_folds(result.groups, n_folds, seed)
    if folds.max() < 1:
        raise ValueError(f"cross-validation: expected questions about at least 2 documents; found {len(set(result.groups))}")
    score = sum((weight * result.values[label] for label, weight in objective.items()), np.zeros_like(_any(result.values)))
    held_out = {label: np.full(len(folds), np.nan) for label in result.values}
    by_fold = []
    for fold in range(int(folds.max()) + 1):
        inside = folds == fold
        chosen = int(np.argmax(np.nanmean(score[:, ~inside], axis=1)))
        by_fold.append(result.configs[chosen])
        for label, values in result.values.items():
            held_out[label][inside] = values[chosen, inside]
    overall = np.nanmean(score, axis=1)
    best = int(np.argmax(overall))
    return Choice(result.configs[best], float(overall[best]), tuple(by_fold), folds, held_out)


def _any(values: Mapping[str, np.ndarray]) -> np.ndarray:
    return next(iter(values.values()))
