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

_TONE = {"same": ("=", "muted"), "up": ("▲", "good"), "down": ("▼", "bad"), "new": ("new", "info"), "lost": ("lost", "warn")}


def show(trace: Trace) -> None:
    presets = state.presets()
    view = state.view()
    others = [n for n, p in presets.items() if p.config != view.config]
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
    counts = {kind: sum(c.kind == kind for c in changes) for kind in _TONE}
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
        f"<tr><td>{words.SETTING[n].label}</td><td>{escape.html(words.value(n, a))}</td><td>{escape.html(words.value(n, b))}</td></tr>"
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
        if side == 0:
            sign, tone = _TONE["lost"] if change.kind == "lost" else ("", "muted")
            moved = f"there {change.elsewhere}" if change.kind == "lost" and change.elsewhere else ""
        else:
            sign, tone = _TONE[change.kind]
            moved = (
                f"was {change.elsewhere if change.kind == 'new' else other}"
                if change.elsewhere or change.kind in ("up", "down")
                else ""
            )
        badge = theme.badge(f"{sign} {moved}".strip(), tone) if sign or moved else ""
        unit = corpus.by_id[change.unit]
        rows.append(f'<li><span class="nr-rank nr-num">{mine}</span><div>{reader.link(corpus, unit)} {badge}</div></li>')
    return f'<div class="nr-tiny">{escape.html(title)}</div><ol class="nr-sides">{"".join(rows)}</ol>'


def _use(name: str) -> None:
    preset = state.presets()[name]
    own = preset.origin == "yours"
    view = state.view()
    state.set_view(
        view.with_(preset=view.preset if own else name, own=name if own else "", config=preset.config, opened="", at="")
    )
