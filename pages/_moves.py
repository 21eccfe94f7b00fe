"""How the first results moved from stage to stage, as a bump chart."""

from __future__ import annotations

from typing import Any

import streamlit as st

from normrag_core.movement import steps
from normrag_core.trace import Trace
from pages import _escape as escape
from pages import _inspect as inspect
from pages import _state as state
from pages import _theme as theme


def show(trace: Trace) -> None:
    if len(trace.stages) < 2:
        st.html('<div class="nr-small">Only one stage ran under these settings, so nothing moved.</div>')
        return
    rows = records(trace)
    st.altair_chart(_chart(rows, [theme.STAGE[s.name].label for s in trace.stages]), width="stretch", key="moves_chart")
    st.html(
        '<div class="nr-tiny">Each line is one of the first results; up is better, on a logarithmic scale. A line begins '
        "where the stage first ranked the chunk. The inspected result, else the first, stands out.</div>"
    )


def records(trace: Trace) -> list[dict[str, Any]]:
    """One row a result and stage that ranked it, ready for a chart."""
    corpus = state.corpus()
    named = {r.rank: r for r in trace.results}
    lit = next((r.rank for r in trace.results if r.chunk.id == inspect.opened()), 1)
    last = trace.stages[-1].name
    return [
        {
            "result": s.result,
            "stage": theme.STAGE[s.stage].label,
            "rank": s.rank,
            "clause": escape.plain(f"{corpus.by_key[named[s.result].chunk.document].label} · {named[s.result].chunk.title}"),
            "label": escape.plain(f"{s.result}  {_short(corpus.by_id[named[s.result].chunk.unit].heading)}")
            if s.stage == last
            else "",
            "lit": s.result == lit,
        }
        for s in steps(trace)
        if s.rank is not None
    ]


def _short(text: str) -> str:
    return text if len(text) <= 26 else text[:25].rstrip() + "…"


def _chart(rows: list[dict[str, Any]], stages: list[str]) -> Any:
    import altair as alt

    worst = max(r["rank"] for r in rows)
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("stage:N", sort=stages, title=None, scale=alt.Scale(padding=0.6), axis=alt.Axis(labelAngle=0, domain=False)),
        y=alt.Y(
            "rank:Q",
            scale=alt.Scale(type="log", base=10, domain=[0.9, max(worst, 10) * 1.15], reverse=True),
            axis=alt.Axis(
                title="rank", values=[v for v in (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 5000) if v <= worst * 1.2]
            ),
        ),
        color=alt.condition("datum.lit", alt.value(theme.colour("accent")), alt.value(theme.colour("soft"))),
        opacity=alt.condition("datum.lit", alt.value(1.0), alt.value(0.55)),
        tooltip=[alt.Tooltip("clause:N"), alt.Tooltip("stage:N"), alt.Tooltip("rank:Q")],
    )
    lines = base.mark_line(interpolate="monotone").encode(
        detail="result:N", size=alt.condition("datum.lit", alt.value(3), alt.value(1.5))
    )
    points = base.mark_circle(size=70)
    ends = base.mark_text(align="left", dx=10, fontSize=11).encode(
        text="label:N", color=alt.value(theme.colour("text")), opacity=alt.value(0.9)
    )
    return (lines + points + ends).properties(height=460)
