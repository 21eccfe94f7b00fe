"""Corpus: which standards are loaded, how well they were read, and what is being made from them."""

from __future__ import annotations

import streamlit as st

from pages import _components as components
from pages import _dialogs as dialogs
from pages import _documents as documents
from pages import _escape as escape
from pages import _faults as faults
from pages import _progress as progress
from pages import _state as state


def page() -> None:
    library = state.library()
    loaded = library.loaded
    _head(library)
    _tour(library)
    _upload(library)
    progress.show(library, loaded.revision)
    if not loaded.corpus.documents:
        _empty(library)
        return
    with st.container(key="documents_table"):
        _act(library, components.clicks("documents_table"))
        rows = documents.table(
            loaded.corpus,
            removable=library.removable,
            sample=library.sample,
            opened=st.session_state.get("corpus_opened", ""),
            asked=st.session_state.get("corpus_asked", ""),
            newer=library.loaded.newer,
        )
        st.html(rows)
    _clearing(library)


def _head(library: state.Library) -> None:
    corpus = library.loaded.corpus
    count = len(corpus.documents)
    clauses = sum(u.kind != "document" for u in corpus.units)
    resolved = sum(c.state == "resolved" for c in corpus.citations)
    share = f", {resolved / len(corpus.citations):.0%} of them resolved" if corpus.citations else ""
    line = (
        f"{count} {'standard' if count == 1 else 'standards'} · {clauses:,} clauses · "
        f"{len(corpus.citations):,} citations{share}"
        if count
        else "Load standards, then ask them questions."
    )
    where = (
        "Everything stays on this machine."
        if state.mode() == "local"
        else "Your documents stay in the server's memory for this session only, and no other session sees them."
    )
    st.html(
        f'<h1 class="nr-title">Corpus</h1><p class="nr-lead nr-num">{line}</p>'
        f'<p class="nr-tiny">{where} {escape.html(library.model_line())}</p>'
    )


def _tour(library: state.Library) -> None:
    """Three questions to start with, until they are dismissed."""
    questions = library.tour()
    if not questions or library.tour_dismissed:
        return
    with st.container(key="tour", border=True):
        st.html(
            '<b>Three questions to start with</b><p class="nr-small">Each one opens the Search page. Move α there and '
            "watch the order change; unfold the neighbours of a result to walk along the document.</p>"
        )
        for n, (question, why) in enumerate(questions, 1):
            label = f"**{n}** {escape.markdown(question)}"
            if st.button(label, key=f"tour_{n}", type="tertiary", icon=":material/arrow_forward:", help=escape.markdown(why)):
                state.set_view(state.view().ask(question))
                st.switch_page("pages/search.py")
        st.button(
            "Dismiss",
            key="tour_dismiss",
            on_click=faults.told()(library.dismiss_tour),
            help="Do not show these questions again",
        )


def _upload(library: state.Library) -> None:
    n = st.session_state.setdefault("corpus_uploads", 0)
    files = st.file_uploader(
        "Add standards",
        type=["pdf", "json"],
        accept_multiple_files=True,
        key=f"uploads_{n}",
        help="PDFs of standards, as published by ETSI, or unit files (JSON) as `python -m normrag_core parse` writes them. "
        "Several at once are read in parallel; you can search as soon as they are read, while vectors are still being made.",
    )
    if files:
        library.add([(file.name, file.getvalue()) for file in files])
        # A new key empties the box: uploads would stay in memory, and be taken again at the next run.
        st.session_state["corpus_uploads"] = n + 1
        st.rerun()


def _empty(library: state.Library) -> None:
    if library.busy:
        return
    st.html(
        '<div class="nr-empty"><b>No standards loaded</b>Drop PDFs into the box above. A small sample series, written for '
        "this project with fictitious numbers, shows what happens.</div>"
    )
    if library.has_sample_files:
        st.button("Load the sample", on_click=faults.told()(library.add_sample), icon=":material/library_add:", type="primary")


def _act(library: state.Library, click: tuple[str, str] | None) -> None:
    if click is None:
        return
    name, key = click
    if key not in library.loaded.corpus.by_key:
        return
    if name == "report":
        st.session_state["corpus_opened"] = "" if st.session_state.get("corpus_opened") == key else key
    elif name == "remove":
        st.session_state["corpus_asked"] = key
    elif name == "keep":
        st.session_state["corpus_asked"] = ""
    elif name == "really":
        st.session_state["corpus_asked"] = ""
        with faults.told():
            library.remove(key)
            st.rerun()


def _clearing(library: state.Library) -> None:
    with st.container(horizontal=True, gap="small", key="clearing"):
        if library.sample:
            st.button(
                "Remove the sample",
                on_click=faults.told()(library.remove_sample),
                icon=":material/playlist_remove:",
                help="Removes the sample standards and what was made from them; your own documents stay",
            )
        elif library.has_sample_files:
            st.button(
                "Load the sample", on_click=faults.told()(library.add_sample), icon=":material/library_add:", type="tertiary"
            )
        if st.button("Delete everything", icon=":material/delete_forever:", type="tertiary"):
            _confirm(library)


@dialogs.dialog("Delete everything?")
def _confirm(library: state.Library) -> None:
    st.write(
        "All documents, vectors, question sets, runs and pinned settings are deleted from this workspace. "
        "This cannot be undone."
    )
    with st.container(horizontal=True):
        if st.button("Delete everything", type="primary", key="really_delete"):
            library.clear()
            for kept in ("last_trace", "trace_before", "search_changed"):
                st.session_state.pop(kept, None)
            st.rerun()
        if st.button("Keep", key="keep_everything"):
            st.rerun()


page()
