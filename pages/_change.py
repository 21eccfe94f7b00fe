"""What the setting changed last did to the results: who rose, who fell, what is new, what is gone, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from normrag_core.config import RetrieverConfig
from normrag_core.model import Corpus
from normrag_core.movement import Change, compare
from normrag_core.trace import Trace
from pages import _escape as escape
from pages import _reader as reader
from pages import _state as state
from pages import _words as words
from pages._view import View

_MOST = 6  # Settings named, clauses named that are gone.


@dataclass(frozen=True)
class Changed:
    """before: the view of the search before. changes: by unit, in the new order, then what is gone."""

    before: View
    changes: Mapping[str, Change]


def since(trace: Trace) -> Changed | None:
    """What moved since the settings before; None where this is the first search for the question."""
    earlier = state.search_before()
    if earlier is None:
        return None
    view, old = earlier
    if state.without_vectors(old) != state.without_vectors(trace):
        return None  # Vectors that came or are still being made move more than the setting did.
    known = st.session_state.get("search_changed")
    if known is None or known[0] is not old or known[1] is not trace:
        chunks = state.retriever().chunks
        found = compare(old, chunks(old.config), trace, chunks(trace.config))
        known = (old, trace, Changed(view, {c.unit: c for c in found}))
        st.session_state["search_changed"] = known
    changed: Changed = known[2]
    return changed


def show(trace: Trace, corpus: Corpus) -> None:
    """One line above the results."""
    changed = since(trace)
    if changed is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="changed"):
        st.html(_line(changed, trace.config, corpus))
        st.button(
            "Undo",
            key="change_back",
            icon=":material/undo:",
            type="tertiary",
            on_click=_back,
            args=(changed.before,),
            help="Back to the settings before; press again to go forth",
        )


def sign(change: Change | None) -> str:
    """How a result moved, as HTML for its card."""
    if change is None or change.kind in ("same", "lost"):
        return ""
    if change.kind == "new":
        was = f"was at {change.elsewhere}" if change.elsewhere else "was no candidate"
        return f'<small class="nr-up" title="Not among the results under the settings before: {was}">new</small>'
    assert change.before is not None
    assert change.after is not None
    arrow, css = ("▲", "nr-up") if change.kind == "up" else ("▼", "nr-down")
    steps = abs(change.before - change.after)
    return f'<small class="{css}" title="Was {change.before} under the settings before">{arrow}{steps}</small>'


def _line(changed: Changed, config: RetrieverConfig, corpus: Corpus) -> str:
    kinds = [c.kind for c in changed.changes.values()]
    said = [
        f'<span class="{css}">{arrow} {kinds.count(kind)} {word}</span>'
        for kind, word, arrow, css in (("up", "up", "▲", "nr-up"), ("down", "down", "▼", "nr-down"))
        if kind in kinds
    ]
    said += [f"<span>{kinds.count('new')} new</span>"] if "new" in kinds else []
    gone = [c for c in changed.changes.values() if c.kind == "lost"]
    said += [f"<span>{len(gone)} gone</span>"] if gone else []
    links = "".join(_gone(c, corpus) for c in gone[:_MOST])
    return (
        f'<div class="nr-row nr-small nr-num" data-testid="changed" aria-live="polite"><span><b>'
        f"{_settings(changed.before.config, config)}</b></span>{''.join(said) or '<span>the same order</span>'}{links}</div>"
    )


def _settings(before: RetrieverConfig, after: RetrieverConfig) -> str:
    """ "α 0.6 → 0.4", as HTML."""
    diff = before.diff(after)
    named = [
        f"{words.SETTING[n].label} {escape.html(words.value(n, a))} → {escape.html(words.value(n, b))}"
        for n, (a, b) in diff.items()
    ]
    return f"{len(named)} settings changed" if len(named) > _MOST else ", ".join(named)


def _gone(change: Change, corpus: Corpus) -> str:
    unit = corpus.by_id[change.unit]
    now = f", now {change.elsewhere}" if change.elsewhere else ""
    return (
        f'<a class="nr-chip" {reader.address(unit.id)} data-nr="read" data-value="{escape.html(unit.id)}" '
        f'title="No longer among the results: was {change.before}{now}">'
        f"{escape.html(unit.heading or corpus.by_key[unit.document].title)} <s>{change.before}</s></a>"
    )


def _back(before: View) -> None:
    state.set_view(state.view().with_(preset=before.preset, own=before.own, config=before.config))
