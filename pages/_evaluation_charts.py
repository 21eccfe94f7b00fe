"""Charts of a run: the paper's three figures, each module's share, recall by question type, first rank, heat map of a sweep."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from normrag_core.evaluation.runs import RunResult
from normrag_core.evaluation.statistics import Comparison, bootstrap
from normrag_core.evaluation.sweeps import Sweep

LABEL = 150
"""Pixels of a label at most: a chart on a narrow screen must keep room for itself."""
GREY = "#8a94a3"
# Middle tones, to be seen on white and on black, and told apart by people with colour vision deficiency.
PALETTE = ("#2f8fd8", "#e08a00", "#12a37a", "#c86aa0", "#e0602a", "#8a7be0")


def figure(result: RunResult, metric: str) -> alt.LayerChart:
    """One of the paper's figures: a metric by configuration and K, with 95 % intervals."""
    rows = [
        {"configuration": c.name, "K": f"K = {k}", "value": i.mean, "low": i.low, "high": i.high}
        for c in result.configurations
        for k in result.ks
        if (i := c.intervals.get(f"{metric}@{k}")) is not None
    ]
    ks = [f"K = {k}" for k in result.ks]
    return _dots(pd.DataFrame(rows), "configuration", [c.name for c in result.configurations], "K", ks, metric)


def steps(comparisons: Sequence[Comparison], names: Sequence[str]) -> alt.LayerChart:
    """What each module adds, with intervals around it; a line at no difference."""
    rows = [
        {
            "module": f"+ {name}",
            "value": c.difference.mean,
            "low": c.difference.low,
            "high": c.difference.high,
            "verdict": "significant" if c.significant else "not significant",
        }
        for name, c in zip(names, comparisons, strict=True)
    ]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        y=alt.Y("module:N", sort=[f"+ {n}" for n in names], title=None, axis=alt.Axis(labelLimit=LABEL)),
        color=alt.Color(
            "verdict:N",
            scale=alt.Scale(domain=["significant", "not significant"], range=[PALETTE[0], GREY]),
            legend=alt.Legend(orient="top", title=None),
        ),
        tooltip=["module", "verdict", *(alt.Tooltip(f"{f}:Q", format="+.3f") for f in ("value", "low", "high"))],
    )
    title = f"difference in {comparisons[0].metric}, 95 % interval"
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(strokeDash=[4, 4], color=GREY).encode(x="zero:Q")
    points = base.mark_point(filled=True, size=80).encode(x="value:Q")
    return (zero + bars + points).properties(height=60 + 34 * len(rows))


def by_type(result: RunResult, label: str, names: list[str]) -> alt.LayerChart:
    """One metric by question type for some configurations."""
    values = result.values(label)
    kinds = np.array([kind or "untyped" for _, kind, *_ in result.questions])
    order = [f"{kind} ({int((kinds == kind).sum())})" for kind in sorted(set(kinds))]
    rows = []
    for name in names:
        for kind, shown in zip(sorted(set(kinds)), order, strict=True):
            interval = bootstrap(values[name][kinds == kind])
            if interval is not None:
                rows.append(
                    {"type": shown, "configuration": name, "value": interval.mean, "low": interval.low, "high": interval.high}
                )
    return _dots(pd.DataFrame(rows), "type", order, "configuration", names, label)


def first_ranks(result: RunResult, names: list[str]) -> alt.Chart:
    """Distribution of the first relevant rank."""
    bands = ["1", "2–3", "4–10", "11–50", "later", "not found"]
    rows = []
    for name in names:
        questions = result.configuration(name).questions
        firsts = [min((r for r in q.ranks if r is not None), default=0) for q in questions]
        edges = [sum(1 for f in firsts if low <= f <= high) for low, high in ((1, 1), (2, 3), (4, 10), (11, 50), (51, 10**9))]
        counts = [*edges, firsts.count(0)]
        rows += [{"rank": b, "configuration": name, "questions": c} for b, c in zip(bands, counts, strict=True)]
    return (
        alt.Chart(pd.DataFrame(rows))
        .mark_bar()
        .encode(
            x=alt.X("rank:N", sort=bands, title="first relevant rank", axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("configuration:N", sort=names),
            y=alt.Y("questions:Q"),
            color=_coloured("configuration", names),
            tooltip=["configuration", "rank", "questions"],
        )
        .properties(height=260)
    )


def heat_map(found: Sweep, label: str, rows: str, columns: str) -> alt.LayerChart:
    """Best mean of a metric for each pair of values of two settings."""
    row_values, column_values, cells = found.table(label, rows, columns)
    data = [
        {"row": str(r), "column": str(c), "mean": float(cells[i, j])}
        for i, r in enumerate(row_values)
        for j, c in enumerate(column_values)
        if not np.isnan(cells[i, j])
    ]
    base = alt.Chart(pd.DataFrame(data)).encode(
        x=alt.X("column:N", sort=[str(c) for c in column_values], title=columns, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("row:N", sort=[str(r) for r in row_values], title=rows),
        tooltip=[alt.Tooltip("row:N", title=rows), alt.Tooltip("column:N", title=columns), alt.Tooltip("mean:Q", format=".3f")],
    )
    shade = alt.condition(alt.datum.mean > float(np.nanmean(cells)), alt.value("white"), alt.value("black"))
    boxes = base.mark_rect().encode(color=alt.Color("mean:Q", title=label, scale=alt.Scale(scheme="blues", zero=False)))
    return (boxes + base.mark_text().encode(text=alt.Text("mean:Q", format=".3f"), color=shade)).properties(
        height=60 + 40 * len(row_values)
    )


def _coloured(field: str, values: list[str]) -> alt.Color:
    """The palette in the order of the values; too few colours repeat."""
    scale = alt.Scale(domain=values, range=[PALETTE[i % len(PALETTE)] for i in range(len(values))])
    return alt.Color(f"{field}:N", sort=values, scale=scale, legend=alt.Legend(orient="top", title=None, columns=3))


def _dots(data: pd.DataFrame, rows: str, order: list[str], colour: str, colours: list[str], title: str) -> alt.LayerChart:
    base = alt.Chart(data).encode(
        y=alt.Y(f"{rows}:N", sort=order, title=None, axis=alt.Axis(labelLimit=LABEL)),
        yOffset=alt.YOffset(f"{colour}:N", sort=colours),
        color=_coloured(colour, colours),
        tooltip=[rows, colour, *(alt.Tooltip(f"{f}:Q", format=".3f") for f in ("value", "low", "high"))],
    )
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5)), x2="high:Q"
    )
    return (bars + base.mark_point(filled=True, size=60).encode(x="value:Q")).properties(height=40 + 34 * len(order))
