"""What every page file calls first: makes sure that it runs inside `app.py`.

The trap: until `st.navigation` was called once in the life of a server, Streamlit takes a folder named "pages" for the older
kind of multipage app. So a link to a page (`/search?q=...`) opened first after a start runs that page's file alone, without look
and navigation, and later links do not. Calling `st.navigation` here ends that for the whole server; the rerun goes through
`app.py`.
"""

from __future__ import annotations

import streamlit as st


def entered() -> None:
    """`app.py` says that this session runs inside it."""
    st.session_state["shell"] = True


def required(page_file: str) -> None:
    """Starts over through `app.py` where a page's file was run alone. page_file: its __file__."""
    if "shell" not in st.session_state:
        # The page must not be the default one: that has no name in the URL, and the link names this page.
        st.navigation([st.Page(lambda: None, title="NormRAG", url_path="start", default=True), st.Page(page_file)], position="hidden")
        st.rerun()
