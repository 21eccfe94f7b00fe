"""The end of a session of shared mode: what it had is let go of when its browser has left and cannot come back any more.

The trap: Streamlit keeps a session whose connection broke for a while, so that the browser may come back. It looks whether that
while is over only when another session leaves, and then drops the session without closing it. On a quiet server uploads would
stay in memory for hours.
"""

from __future__ import annotations

import asyncio
import threading

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages._library import Library

_EARLIER = 1.0  # Seconds before Streamlit's own time: afterwards it denies that it has the session.


class Connection:
    """A connection of a session's browser. seconds: how long after its break the session may be taken up again."""

    def __init__(self, session: str, library: Library, seconds: float) -> None:
        self._session, self._library, self._seconds = session, library, seconds
        self.followed = False  # By another connection of the same session.

    def broke(self) -> None:
        """Streamlit calls this on its event loop."""
        asyncio.get_running_loop().call_later(max(self._seconds - _EARLIER, 0), self._end)

    def _end(self) -> None:
        if self.followed or not runtime.exists() or runtime.get_instance().is_active_session(self._session):
            return
        runtime.get_instance().close_session(self._session)
        threading.Thread(target=self._library.end, name="end", daemon=True).start()


def watch(library: Library) -> None:
    """Every run of a page says whose library this session uses."""
    if runtime.exists():
        connection = _connection(library)
        before: Connection | None = st.session_state.get("connection")
        if before is not connection:
            if before is not None:
                before.followed = True
            st.session_state["connection"] = connection


@st.cache_resource(scope="session", on_release=Connection.broke, show_spinner=False)
def _connection(_library: Library) -> Connection:
    """Cached as long as the connection lives: Streamlit releases it when it breaks."""
    context = get_script_run_ctx()
    assert context is not None  # A page is running.
    return Connection(context.session_id, _library, st.get_option("server.disconnectedSessionTTL"))
