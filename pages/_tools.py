"""The tools above the results of the Search page: answer, movement, comparison, "why not?", history and export.

None is open at first; only the one that is chosen computes anything.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from normrag_core.trace import Trace
from pages import _answer as answer
from pages import _compare as compare
from pages import _export as export
from pages import _history as history
from pages import _moves as moves
from pages import _why_not as why_not

TOOLS: dict[str, tuple[str, Callable[[Trace], None]]] = {
    "answer": (":material/short_text: Answer", answer.show),
    "moves": (":material/show_chart: Movement", moves.show),
    "compare": (":material/compare_arrows: Compare", compare.show),
    "why_not": (":material/help_center: Why not?", why_not.show),
    "history": (":material/history: History", history.show),
    "export": (":material/download: Export", export.show),
}


def show(trace: Trace) -> None:
    """The row of tools, and the chosen one below it."""
    history.remember()
    st.session_state["w_search_tool"] = st.session_state.get("search_tool")
    with st.container(key="search_tools"):
        chosen = st.segmented_control(
            "Tools",
            list(TOOLS),
            key="w_search_tool",
            format_func=lambda t: TOOLS[t][0],
            label_visibility="collapsed",
            on_change=lambda: st.session_state.update(search_tool=st.session_state["w_search_tool"]),
        )
        if chosen is not None:
            with st.container(border=True, key=f"tool_{chosen}"):
                TOOLS[chosen][1](trace)
