"""The same question under two configurations: what moved, what is new, what was lost."""

from __future__ import annotations

import streamlit as st

from normrag_core.movement import Change, compare
from normrag_core.trace import Trace
from pages import _escape as escape
from pages import _reader as reader
from pages import _state as state
from pages import _theme as theme
from pages import _words as words
from pages._components import clicks

_KINDS = ("same", "up", "down", "new", "lost")


def show(trace: Trace) -> None:
    presets = state.presets()
    view = state.view()
    others = [n for n, p in presets.items() if p.config != view.config]
    # First what compares best: the preset that was changed, then those over the same chunks, whose vectors are there already.
    others.sort(key=lambda n: (n not in (view.own, view.preset), presets[n].config.chunking != view.config.chunking))
    kept = st.session_state.get("search_compared")
    st.session_state["w_compared"] = kept if kept in others else others[0]
    name = st.selectbox(
        "Compare with",
        others,
        key="w_compared",
        format_func=lambda n: f"{escape.plain(n)} · {escape.plain(presets[n].description)}",
        on_change=lambda: st.session_state.update(search_compared=st.session_state["w_compared"]),
        help="The same question under another preset, or settings that you pinned. Results are matched by their clause.",
    )
    retriever = state.retriever()
    other = state.library().search(trace.question, presets[name].config.with_(top_k=view.config.top_k), trace.documents)
    changes = compare(trace, retriever.chunks(trace.config), other, retriever.chunks(other.config))
    counts = {kind: sum(c.kind == kind for c in changes) for kind in _KINDS}
    moved = f"{counts['up'] + counts['down']} moved, {counts['new']} new, {counts['lost']} lost, {counts['same']} in place"
    with st.container(key="compared"):
        clicked = clicks("compared")
        if clicked and clicked[0] == "go" and clicked[1] in state.corpus().by_id:
            state.open_unit(clicked[1])
        st.html(f'<div class="nr-row nr-small" data-testid="compare-summary"><b>{moved}</b></div>')
        for note in other.notes:
            st.html(f'<div class="nr-note">{escape.html(name)}: {escape.html(note)}.</div>')
        left, right = st.columns(2)
        with left:
            st.html(_side("These settings", sorted((c for c in changes if c.before), key=lambda c: c.before or 0), 0))
        with right:
            st.html(_side(name, [c for c in changes if c.after], 1))
    diff = trace.config.diff(other.config)
    rows = "".join(
        f"<tr><td>{words.SETTING[n].label}</td><td>{escape.html(words.value(n, a))}</td>"
        f"<td>{escape.html(words.value(n, b))}</td></tr>"
        for n, (a, b) in diff.items()
    )
    st.html(
        f'<table class="nr-table nr-figures"><tr><th>setting</th><th>these</th><th>{escape.html(name)}</th></tr>{rows}</table>'
    )
    st.button(
        f"Use {escape.markdown(name)}",
        key="compare_use",
        on_click=lambda: _use(name),
        help="Makes the other configuration the one in use",
    )


def _side(title: str, changes: list[Change], side: int) -> str:
    """One list. side: 0 for the settings in use, 1 for the others."""
    corpus = state.corpus()
    rows = []
    for change in changes:
        mine, other = (change.before, change.after) if side == 0 else (change.after, change.before)
        kind = change.kind if side == 1 or change.kind == "lost" else ""
        badge = theme.badge(*_said(kind, change, other)) if kind and kind != "same" else ""
        unit = corpus.by_id[change.unit]
        rows.append(f'<div><span class="nr-rank nr-num">{mine}</span><div>{reader.link(corpus, unit)} {badge}</div></div>')
    return f'<div class="nr-tiny">{escape.html(title)}</div><div class="nr-sides">{"".join(rows)}</div>'


def _said(kind: str, change: Change, other: int | None) -> tuple[str, str]:
    """(words, tone) of a badge."""
    if kind == "lost":
        return f"lost{f', there at {change.elsewhere}' if change.elsewhere else ''}", "warn"
    if kind == "new":
        return f"new{f', was at {change.elsewhere}' if change.elsewhere else ''}", "info"
    return (f"▲ was {other}", "good") if kind == "up" else (f"▼ was {other}", "bad")


def _use(name: str) -> None:
    preset = state.presets()[name]
    own = preset.origin == "yours"
    view = state.view()
    state.set_view(
        view.with_(preset=view.preset if own else name, own=name if own else "", config=preset.config, opened="", at="")
    )
