"""The questions of this session with their settings, to go back to."""

from __future__ import annotations

import streamlit as st

from normrag_core.trace import Trace
from pages import _escape as escape
from pages import _state as state
from pages import _words as words
from pages._view import View

MOST = 50


def remember() -> None:
    """Notes the view in use, once for each question and settings; the latest last."""
    view = state.view()
    if not view.question:
        return
    plain = view.closed()
    past: list[View] = st.session_state.setdefault("search_history", [])
    if not past or past[-1] != plain:
        past[:] = [*(v for v in past if v != plain), plain][-MOST:]


def show(_: Trace) -> None:
    past: list[View] = st.session_state.get("search_history", [])
    st.html('<div class="nr-tiny">Asked in this session, latest first; press one to go back to it with its settings</div>')
    with st.container(key="history", gap="small"):
        for n, view in enumerate(reversed(past)):
            st.button(
                f"{escape.markdown(view.question)}  \n:small[{escape.markdown(settings(view))}]",
                key=f"history_{n}",
                type="tertiary",
                icon=":material/radio_button_checked:" if n == 0 else ":material/history:",
                on_click=state.set_view,
                args=(view,),
            )


def settings(view: View) -> str:
    """The settings in words: the preset and what differs from it."""
    preset = state.presets().get(view.own) or state.presets()[view.preset]
    changed = view.config.diff(preset.config)
    parts = [preset.name, *(f"{words.SETTING[n].label} {words.value(n, mine)}" for n, (mine, _) in changed.items())]
    parts += [f"{len(view.documents)} documents"] if view.documents else []
    return " · ".join(parts)
