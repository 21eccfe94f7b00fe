"""Who cites whom as a heat map, for when a drawing would be a hairball; a click on a cell lists its citations."""

from __future__ import annotations

from collections import Counter

import numpy as np
import streamlit as st

from normrag_core.graph import views
from pages import _escape as escape
from pages import _graph_state as kept
from pages import _graph_tables as tables
from pages import _paint as paint
from pages import _state as state
from pages import _theme as theme

WIDE = 560  # pixels for the cells of a row: what is left beside names and legend at laptop size


def section() -> None:
    corpus = state.corpus()
    kept.widget(
        "selectbox",
        "Between",
        "graph_inside",
        ["", *[d.key for d in corpus.documents]],
        format_func=lambda k: "Between all standards" if not k else f"Inside {escape.plain(corpus.by_key[k].label)}",
        label_visibility="collapsed",
    )
    inside = st.session_state.graph_inside or None
    labels, counts = views.matrix(kept.table(), kept.filters(), inside)
    filled = int((counts > 0).sum())
    st.html(
        f'<div class="nr-small" data-testid="graph-sentence">Who cites whom: {int(counts.sum()):,} resolved citations in '
        f"{filled:,} of {len(labels) ** 2:,} cells. A row cites a column; the diagonal is inside one "
        f"{'standard' if inside is None else 'clause'}. Click a cell for its citations.</div>"
    )
    if not filled:
        st.html('<div class="nr-empty"><b>Nothing to draw</b>No citation between these leads to a loaded clause.</div>')
        return
    chosen = _heat_map(_names(labels), counts)
    if chosen is not None:
        tables.pair(kept.table(), inside, *chosen)


def _names(labels: list[str]) -> list[str]:
    """Names for the axes: without the edition where one edition is loaded, short, and no two alike."""
    bare = [paint.without_edition(label) for label in labels]
    alike = Counter(bare)
    short = [escape.plain(b if alike[b] == 1 else label) for b, label in zip(bare, labels, strict=True)]
    short = [s if len(s) <= 34 else s[:33] + "…" for s in short]
    alike = Counter(short)
    return [s if alike[s] == 1 else f"{s} ({i})" for i, s in enumerate(short, 1)]


def _heat_map(names: list[str], counts: np.ndarray) -> tuple[int, int] | None:
    """The picture; (row, column) of the cell clicked."""
    import altair as alt  # here and in the tables, for the other pictures need not wait for them
    import pandas as pd

    rows, columns = np.nonzero(counts)
    cells = pd.DataFrame(
        {"citing": [names[i] for i in rows], "cited": [names[i] for i in columns], "citations": counts[rows, columns]}
    )
    size = max(11, min(30, WIDE // len(names)))
    pick = alt.selection_point(fields=["citing", "cited"], name="cell")
    dark = st.context.theme.type == "dark"
    scale = alt.Scale(type="log", range=["#1d3a5c", "#9ccbff"] if dark else ["#cfe1f5", "#0b3f7a"])
    axis = {"labelColor": theme.colour("text"), "titleColor": theme.colour("soft"), "labelFontSize": min(12, size + 1)}
    line = {
        "gridColor": theme.colour("line"),
        "grid": True,
        "bandPosition": 0,
        "domain": False,
        "ticks": False,
        "labelOverlap": False,
    }
    chart = (
        alt.Chart(cells)
        .mark_rect(stroke=theme.colour("card"), strokeWidth=1, cornerRadius=2, cursor="pointer")
        .encode(
            x=alt.X(
                "cited:N",
                title="cited →",
                scale=alt.Scale(domain=names),
                axis=alt.Axis(orient="top", labelAngle=-60, labelLimit=150, titleAnchor="start", **axis, **line),
            ),
            y=alt.Y(
                "citing:N",
                title="citing ↓",
                scale=alt.Scale(domain=names),
                axis=alt.Axis(labelLimit=200, titleAnchor="start", **axis, **line),
            ),
            color=alt.Color(
                "citations:Q",
                scale=scale,
                title="citations",
                legend=alt.Legend(gradientLength=140, labelColor=axis["labelColor"]),
            ),
            opacity=alt.condition(pick, alt.value(1), alt.value(0.35)),
            tooltip=["citing", "cited", "citations"],
        )
        .properties(width=alt.Step(size), height=alt.Step(size))
        .add_params(pick)
    )
    event = st.altair_chart(chart, key="graph_matrix", on_select="rerun", width="content")
    chosen = (event.selection or {}).get("cell") if event else None
    where = {name: i for i, name in enumerate(names)}
    if not chosen or {chosen[0].get("citing"), chosen[0].get("cited")} - where.keys():
        return None
    return where[chosen[0]["citing"]], where[chosen[0]["cited"]]
