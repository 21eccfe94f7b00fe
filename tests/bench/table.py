"""Rows of the benchmark report and the ways to time something."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any


class Skipped(Exception):  # noqa: N818 (nothing went wrong: the machine lacks what the section measures with)
    """A section cannot be measured here; the message says what is not there."""


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement. ours, peer: with units. ratio: as the target is stated. met: None where there is no target.

    limit: what holds the figure back, in a sentence; the report prints it where the target was missed.
    """

    what: str
    ours: str
    peer: str = ""
    ratio: str = ""
    target: str = ""
    met: bool | None = None
    limit: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the report. note: what was measured, on what. remarks: what the rows mean and do not mean, below the table."""

    title: str
    note: str
    rows: tuple[Row, ...]
    remarks: tuple[str, ...] = ()

    def to_object(self) -> dict[str, Any]:
        """Plain data, for the way from a process of its own."""
        return asdict(self)

    @classmethod
    def of(cls, data: dict[str, Any]) -> Section:
        return cls(data["title"], data["note"], tuple(Row(**r) for r in data["rows"]), tuple(data["remarks"]))


def markdown(section: Section) -> str:
    """The section as Markdown."""
    verdict = {True: "met", False: "**missed**", None: ""}
    lines = [f"## {section.title}", "", section.note, ""]
    if section.rows:
        lines += ["| what | NormRAG | peer | ratio | target | |", "|---|---|---|---|---|---|"]
    lines += [f"| {r.what} | {r.ours} | {r.peer} | {r.ratio} | {r.target} | {verdict[r.met]} |" for r in section.rows]
    lines += [f"{'' if i else chr(10)}- {text}" for i, text in enumerate(section.remarks)]
    return "\n".join(lines) + "\n"


def summary(sections: Sequence[Section]) -> str:
    """How many targets were met, and a table of those that were not with what limits each."""
    aimed = [(s, r) for s in sections for r in s.rows if r.met is not None]
    missed = [(s, r) for s, r in aimed if not r.met]
    lines = ["## Targets", "", f"{len(aimed) - len(missed)} of {len(aimed)} targets met."]
    if missed:
        lines += ["", "| missed | measured | target | what limits it |", "|---|---|---|---|"]
        lines += [f"| {s.title}: {r.what} | {r.ratio or r.ours} | {r.target} | {r.limit or 'not known'} |" for s, r in missed]
    return "\n".join(lines) + "\n"


def peer(package: str) -> str:
    """Name and version of a peer."""
    return f"{package} {version(package)}"


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def median_ms(works: Sequence[Callable[[], object]]) -> float:
    """Median wall time of the calls, in milliseconds."""
    return 1000 * statistics.median(seconds(work) for work in works)


def best_ms(work: Callable[[], object], times: int = 5) -> float:
    """Shortest wall time of a few calls, in milliseconds."""
    return 1000 * min(seconds(work) for _ in range(times))


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which a share of the values lies (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """b of the fit time = a · size^b (least squares in logarithms)."""
    import numpy as np

    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


LINEAR = 1.15
"""A fitted exponent up to here counts as linear: caches that overflow and noise lift it over 1."""


def growth_row(what: str, sizes: Sequence[float], times: Sequence[float], limit: str = "") -> Row:
    """Seconds at each size with the fitted exponent; the target is linear."""
    b = exponent(sizes, times)
    shown = ", ".join(f"{1000 * t:.1f} ms" if t < 1 else f"{t:.1f} s" for t in times)
    return Row(what, shown, ratio=f"size^{b:.2f}", target="at most linear", met=b <= LINEAR, limit=limit)
