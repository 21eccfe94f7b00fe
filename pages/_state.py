"""What all pages share: the standards loaded, the retriever, the settings and the question. The only owner of session state.

For a page:

    from pages import _state as state

    state.library()      the Library of this person: documents, workspace, running jobs (`pages/_library.py`)
    state.opened()       waits until its documents are read; `app.py` does so for all pages but Search, which paints first
    state.corpus()       Corpus loaded now: immutable, a new object after every change of documents
    state.graph()        Graph of that corpus, made once
    state.retriever()    Retriever over that corpus: `.search(question, config, documents)` -> Trace
    state.view()         the View: question, preset, config, documents searched, what is opened (`pages/_view.py`)
    state.config()       short for view().config
    state.set_view(v)    replaces the View; `sync_url()` then puts it into the address
    state.search()       Trace of the view's question with its settings; None without a question. Remembered, so that several
                         pages may ask for it
    state.search_before()  what the question had before its settings were changed
    state.presets()      built-in presets and the user's own, name -> Preset
    state.open_unit(id)  goes to the Read page at this unit; state.opened_unit() there tells which (URL `?unit=`)
    state.page_exists("read")   pages that do not exist are not listed and nothing should link to them
    state.mode()         "local" or "shared"

Two modes. Local (the default): one person, one workspace on disk (`NORMRAG_WORKSPACE`), one Library for all tabs of the
process. Shared (`NORMRAG_SHARED=1`): each browser session has a Library in memory of its own, which goes when the session
goes (`pages/_sessions.py`); nothing of it is reachable from another session. The standards in the folder `NORMRAG_CORPUS`, if
named, are read once and shown to all, read-only.

Rules for pages. Session keys of a page start with the page's name ("read_..."). A value that must survive a page change does
not live in a widget: widgets forget when they are not shown. Keep it in the View or under such a key and assign the widget's
key from it before the widget is made; the widget's on_change writes it back.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs

import streamlit as st

from normrag_core.config import PRESETS, Preset, RetrieverConfig
from normrag_core.graph import Graph
from normrag_core.model import Corpus, InfoUnit
from normrag_core.retriever import Retriever
from normrag_core.trace import Trace
from pages import _library
from pages import _sessions as sessions
from pages import _shell as shell
from pages._library import Library
from pages._view import View, from_query, to_query

Mode = Literal["local", "shared"]
ROOT = Path(__file__).resolve().parent.parent
PAGES = Path(__file__).resolve().parent
NOT_READY = "vectors not ready"  # As the retriever remarks it.


def mode() -> Mode:
    """ "shared" when NORMRAG_SHARED=1, else "local"."""
    return "shared" if os.environ.get("NORMRAG_SHARED", "") == "1" else "local"


def library() -> Library:
    """The documents of this person and what is being made from them."""
    shell.required()
    if mode() == "local":
        return _local_library()
    if "library" not in st.session_state:
        st.session_state["library"] = _library.in_memory()
    found: Library = st.session_state["library"]
    sessions.watch(found)
    return found


@st.cache_resource(show_spinner=False)
def _local_library() -> Library:
    return _library.on_disk()


def opened() -> None:
    """Waits until the documents are read. What a page has drawn before can be used meanwhile."""
    mine = library()
    try:
        with nullcontext() if mine.ready else st.spinner("Opening the workspace"):
            mine.wait()
    except OSError:
        _local_library.clear()  # The next run tries again: the remedy may have been applied.
        raise


def too_wide() -> str:
    """Why the app must not be served as it was started; "" when it may. Local mode has no users, so it serves one machine."""
    address = st.get_option("server.address")
    if mode() == "shared" or address in ("127.0.0.1", "localhost", "::1"):
        return ""
    return (
        f"NormRAG was asked to listen on {address or 'all addresses'}, but in local mode everybody who can "
        "reach it would see your documents and could delete them. Start it with --server.address 127.0.0.1, or set "
        "NORMRAG_SHARED=1 and put it behind a login."
    )


def corpus() -> Corpus:
    return library().loaded.corpus


def graph() -> Graph:
    return library().loaded.graph


def retriever() -> Retriever:
    return library().loaded.retriever


def view() -> View:
    """What the user is looking at; taken from the URL when the session starts."""
    shell.required()
    if "view" not in st.session_state:
        query = {name: st.query_params.get_all(name) for name in st.query_params}
        st.session_state["view"], st.session_state["link_remarks"] = from_query(query)
    found: View = st.session_state["view"]
    return found


def take_link(query: str) -> None:
    """Takes the view from an address's query, "?q=...": after the browser's back or forward."""
    st.session_state["view"], st.session_state["link_remarks"] = from_query(parse_qs(query.removeprefix("?")))


def link_remarks() -> tuple[str, ...]:
    """What of the link that opened this session was not understood."""
    view()
    remarks: tuple[str, ...] = st.session_state.get("link_remarks", ())
    return remarks


def set_view(new: View) -> None:
    st.session_state["view"] = new
    st.session_state["link_remarks"] = ()


def config() -> RetrieverConfig:
    return view().config


def sync_url() -> None:
    """Puts the view into the address, when it is not there already. For the Search page, which owns these parameters."""
    wanted = {name: [v] if isinstance(v, str) else v for name, v in to_query(view()).items()}
    if wanted != {name: st.query_params.get_all(name) for name in st.query_params}:
        st.query_params.from_dict(wanted)


def presets() -> dict[str, Preset]:
    """Built-in presets and the user's own, by name; own ones have origin "yours"."""
    own = {n: Preset(n, c, "pinned by you", "yours") for n, c in library().own_presets().items() if n not in PRESETS}
    return {**PRESETS, **own}


def search() -> Trace | None:
    """The trace of the view's question; the last one is remembered until question, settings, documents or vectors change."""
    seen = view()
    if not seen.question:
        return None
    loaded = library().loaded
    key = (seen.question, seen.config, seen.documents, loaded.revision, library().vectors_ready(seen.config))
    last = st.session_state.get("last_trace")
    if last is None or last[0] != key:
        if last is None or _but_settings(last[0]) != _but_settings(key):
            st.session_state["trace_before"] = None
        elif last[2].config != seen.config:
            st.session_state["trace_before"] = (last[2], last[1])
        documents = frozenset(seen.documents) & loaded.corpus.by_key.keys() or None
        last = (key, library().search(seen.question, seen.config, documents), seen)
        st.session_state["last_trace"] = last
    trace: Trace = last[1]
    return trace


def search_before() -> tuple[View, Trace] | None:
    """View and trace of the search before the last one, where only its settings were others."""
    found: tuple[View, Trace] | None = st.session_state.get("trace_before")
    return found


def without_vectors(trace: Trace) -> bool:
    """Whether the dense stage was left out because its vectors were still being made."""
    return any(NOT_READY in note for note in trace.notes)


def _but_settings(key: tuple[Any, ...]) -> tuple[Any, ...]:
    question, _, documents, revision, _ = key
    return question, documents, revision


def page_exists(name: str) -> bool:
    """Whether pages/<name>.py is there."""
    return (PAGES / f"{name}.py").is_file()


def open_unit(unit_id: str) -> None:
    """Goes to the Read page at this unit; a plain rerun where there is no such page."""
    if page_exists("read"):
        st.switch_page(PAGES / "read.py", query_params={"unit": unit_id})


def opened_unit() -> InfoUnit | None:
    """The unit that the URL names (`?unit=`); None without one, or where it is not loaded."""
    return corpus().by_id.get(st.query_params.get("unit", ""))
