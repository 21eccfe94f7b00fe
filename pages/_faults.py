"""A workspace that cannot be used (full disk, read-only folder, a later version's) is told in words, wherever it is met.

The trap: Streamlit shows the type of an exception that a page or a click's function raises, not its message, for the message
may hold what is confidential. Ours says which folder and what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from normrag_core.storage.errors import WorkspaceError
from pages import _escape as escape


@contextmanager
def told() -> Iterator[None]:
    """Shows what the workspace refused. Also a decorator of what a click calls: the words then stand above the page."""
    try:
        yield
    except WorkspaceError as error:
        st.error(f"Not done. {escape.markdown(str(error))}", icon=":material/error:")
