"""Dialogs that stay open until the user closes them.

The trap: a run of the page that does not call a dialog's function closes it, and pages run anew by themselves when documents
or vectors have been made. So a dialog says that it is open, and what is nobody's click waits (`redraw`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages import _faults as faults

_OPEN = "dialog_open"


def began() -> None:
    """`app.py` says that a run of a whole page begins: with it every dialog is closed that is not called again."""
    st.session_state[_OPEN] = False


def dialog(title: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """`st.dialog` for what must not vanish under the user's hand."""

    def decorate(body: Callable[..., None]) -> Callable[..., None]:
        @st.dialog(title, on_dismiss="rerun")  # The run brings what was held back meanwhile.
        def shown(*args: Any) -> None:
            st.session_state[_OPEN] = True
            with faults.told():
                body(*args)

        return shown

    return decorate


def redraw() -> None:
    """Runs the page anew because something was made in the background; while a dialog is open, nothing."""
    if not st.session_state.get(_OPEN):
        st.rerun()
