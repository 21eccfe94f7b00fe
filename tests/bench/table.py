"""Rows of the benchmark report and the ways to time something."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement. ours, peer: with units. ratio: as the target is stated. met: None where there is no target."""

    what: str
    ours: str
    peer: str = ""
    ratio: str = ""
    target: str = ""
    met: bool | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the report with what was measured on."""

    title: str
    note: str
    rows: tuple[Row, ...]


def markdown(section: Section) -> str:
    """The section as Markdown."""
    verdict = {True: "met", False: "**missed**", None: ""}
    lines = [
        f"## {section.title}",
        "",
        section.note,
        "",
        "| what | NormRAG | peer | ratio | target | |",
        "|---|---|---|---|---|---|",
    ]
    lines += [f"| {r.what} | {r.ours} | {r.peer} | {r.ratio} | {r.target} | {verdict[r.met]} |" for r in section.rows]
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
