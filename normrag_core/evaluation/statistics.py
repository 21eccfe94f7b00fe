"""Is a difference more than luck? Paired randomisation test with Holm's correction, bootstrap intervals, and words for both.

Questions are the unit of resampling. Everything is seeded: the same results give the same sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

SEED = 20260409
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its bootstrap interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, slots=True)
class Comparison:
    """`a` against `b` in one metric over the n questions that both answered. difference: mean of a − mean of b, with interval.

    p: two-sided, of the randomisation test; p_holm: corrected for all comparisons made together. wins, losses: questions on
    which `a` is better or worse. lower: whether a lower value is the better one.
    """

    a: str
    b: str
    metric: str
    difference: Interval
    p: float
    p_holm: float
    wins: int
    losses: int
    n: int
    family: int
    lower: bool = False

    @property
    def significant(self) -> bool:
        return self.p_holm < LEVEL

    @property
    def sentence(self) -> str:
        """The comparison in words, never a bare difference."""
        d = self.difference
        figures = f"{d.mean:+.3f}, 95 % interval {d.low:+.3f} to {d.high:+.3f}, {_p(self.p_holm)}"
        if self.family > 1:
            figures += f" after Holm's correction for {self.family} comparisons"
        counts = f"better on {self.wins}, worse on {self.losses} of {self.n} questions"
        if self.significant:
            verdict = "better" if (d.mean > 0) is not self.lower else "worse"
            return f"{self.a} is significantly {verdict} than {self.b} in {self.metric} ({figures}; {counts})."
        if self.wins == self.losses == 0:
            return f"{self.a} and {self.b} do the same in {self.metric} on all {self.n} questions."
        return f"Between {self.a} and {self.b} no significant difference in {self.metric} was found ({figures}; {counts})."


def bootstrap(values: np.ndarray, *, samples: int = 2000, level: float = LEVEL, seed: int = SEED) -> Interval | None:
    """Percentile bootstrap of the mean. values: (q,) float64; nan rows are left out; None where nothing is left."""
    values = values[~np.isnan(values)]
    if not values.size:
        return None
    low, high = np.quantile(values[_resamples(values.size, samples, seed)].mean(axis=1), [level / 2, 1 - level / 2])
    return Interval(float(values.mean()), float(low), float(high))


def bootstrap_table(
    values: np.ndarray, *, samples: int = 2000, level: float = LEVEL, seed: int = SEED
) -> list[Interval | None]:
    """`bootstrap` of every column of (q, m) values at once; columns with the same defined rows share their resamples."""
    out: list[Interval | None] = [None] * values.shape[1]
    groups: dict[bytes, list[int]] = {}
    for column in range(values.shape[1]):
        groups.setdefault((~np.isnan(values[:, column])).tobytes(), []).append(column)
    for mask, columns in groups.items():
        rows = np.frombuffer(mask, dtype=bool)
        n = int(rows.sum())
        if not n:
            continue
        chosen = values[rows][:, columns]
        drawn = _resamples(n, samples, seed)
        counts = np.zeros((samples, n))
        np.add.at(counts, (np.repeat(np.arange(samples), n), drawn.ravel()), 1.0)
        lows, highs = np.quantile(counts @ chosen / n, [level / 2, 1 - level / 2], axis=0)
        for i, column in enumerate(columns):
            out[column] = Interval(float(chosen[:, i].mean()), float(lows[i]), float(highs[i]))
    return out


def randomisation_test(differences: np.ndarray, *, samples: int = 10_000, seed: int = SEED) -> float:
    """Two-sided p of the paired randomisation (sign-flip) test of a mean difference of 0. differences: (q,) float64.

    All 2^q sign patterns when there are at most `samples` of them (zeros do not matter and are dropped first), else that many
    random patterns, counting the observed one among them (Phipson and Smyth 2010), so that p is never 0.
    """
    d = differences[~np.isnan(differences)]
    d = d[d != 0]
    if not d.size:
        return 1.0
    observed = abs(d.sum()) - 1e-9
    if d.size < 60 and 2**d.size <= samples:
        patterns = (np.arange(2**d.size)[:, None] >> np.arange(d.size)) & 1
        return float((np.abs((1 - 2 * patterns) @ d) >= observed).mean())
    signs = np.random.default_rng(seed).integers(0, 2, (samples, d.size), dtype=np.int8) * 2.0 - 1.0
    return float((1 + (np.abs(signs @ d) >= observed).sum()) / (samples + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979): adjusted p-values in the order given."""
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(p_values))
    running = 0.0
    for step, index in enumerate(order):
        running = max(running, (len(p_values) - step) * p_values[index])
        adjusted[index] = min(1.0, running)
    return adjusted.tolist()


def compare(
    values: Mapping[str, np.ndarray],
    metric: str,
    pairs: Sequence[tuple[str, str]] | None = None,
    *,
    lower: bool = False,
    seed: int = SEED,
) -> list[Comparison]:
    """Comparisons of configurations in one metric, corrected together. values: name → (q,) float64 over the same questions.

    pairs: (a, b) names; all pairs when None. lower: whether a lower value is the better one.
    """
    wanted = list(pairs) if pairs is not None else list(combinations(values, 2))
    rows = []
    for a, b in wanted:
        d = values[a] - values[b]
        d = d[~np.isnan(d)]
        difference = bootstrap(d, seed=seed) or Interval(0.0, 0.0, 0.0)
        rows.append((a, b, d, difference, randomisation_test(d, seed=seed)))
    corrected = holm([r[4] for r in rows])
    return [
        Comparison(
            a,
            b,
            metric,
            difference,
            p,
            p_holm,
            _above(-d if lower else d),
            _above(d if lower else -d),
            len(d),
            len(rows),
            lower,
        )
        for (a, b, d, difference, p), p_holm in zip(rows, corrected, strict=True)
    ]


def _above(differences: np.ndarray) -> int:
    return int((differences > 1e-12).sum())


def _resamples(n: int, samples: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, n, (samples, n))


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
