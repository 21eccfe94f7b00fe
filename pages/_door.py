"""Who may come in: in local mode only this machine's browser at this machine's own names, and nobody is asked who we are."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st
from streamlit import net_util

from pages import _escape as escape
from pages import _state as state

_HERE = frozenset(("127.0.0.1", "localhost", "::1"))


def ask_nobody() -> None:
    """Keeps Streamlit from looking up this machine's addresses.

    The trap: a WebSocket whose origin it does not know makes it ask checkip.amazonaws.com, lest the origin be our own address.
    Without an answer it refuses such a socket, which is what we want: pages of our own have the origin that they are served at.
    """
    net_util.get_external_ip = _unknown
    net_util.get_internal_ip = _unknown


def _unknown() -> None:
    return None


def refusal() -> str:
    """Why this session must not be served; "" when it may. Local mode has no users, so it serves one machine."""
    if state.mode() == "shared":
        return ""
    return state.too_wide() or foreign(st.context.headers.get("Host", ""))


def foreign(host: str) -> str:
    """Why a local page asked for under this host is refused; "" where it is this machine's own name, or none is told.

    A site of somebody else may let its own name lead to 127.0.0.1 (DNS rebinding): its pages would then read ours.
    """
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        name = host
    if not host or name.rstrip(".") in _HERE:
        return ""
    return (
        f"NormRAG was asked for as {escape.markdown(name)}, but in local mode it answers to 127.0.0.1 and localhost only, "
        "lest another site read your documents under a name of its own. Open it there, or set NORMRAG_SHARED=1 and put it "
        "behind a login."
    )
