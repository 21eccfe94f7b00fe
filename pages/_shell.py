"""Makes sure that a page runs inside `app.py`. `_state` asks for it, so pages need not.

The trap: until `st.navigation` was called once in the life of a server, Streamlit takes a folder named "pages" for the older
kind of multipage app. So a link to a page (`/search?q=...`) opened first after a start runs that page's file alone, without
look and navigation, and later links do not. Calling `st.navigation` here ends that for the whole server; the rerun goes through
`app.py`.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

PAGES = Path(__file__).resolve().parent


def entered() -> None:
    """`app.py` says that this session runs inside it."""
    st.session_state["shell"] = True


def required() -> None:
    """Starts over through `app.py` where a page's file was run alone."""
    if "shell" in st.session_state:
        return
    # No page of ours may be the default one here: that has no name in the URL, and the link names a page.
    start = st.Page(lambda: None, title="NormRAG", url_path="start", default=True)
    st.navigation([start, *(st.Page(file) for file in sorted(PAGES.glob("[a-z]*.py")))], position="hidden")
    st.rerun()
