"""Search: a question in, ranked clauses out, with every stage of the ranking to see and to tune."""

from __future__ import annotations

import json

import streamlit as st

from normrag_core.trace import Trace
from pages import _components as components
from pages import _controls as controls
from pages import _escape as escape
from pages import _results as results
from pages import _state as state
from pages import _theme as theme
from pages import _words as words


def page() -> None:
    with st.sidebar:
        controls.settings()
    _question()
    if not state.corpus().documents:
        _no_documents()
        return
    for remark in (*state.link_remarks(), st.session_state.pop("settings_remark", "")):
        if remark:
            st.html(f'<div class="nr-note">{escape.html(remark)}</div>')
    _answers()
    components.keys(box="question", cards=".nr-result")
    state.sync_url()


def _question() -> None:
    box, where = st.columns([4, 1], vertical_alignment="bottom")
    st.session_state["question"] = state.view().question
    box.text_input(
        "Question",
        key="question",
        label_visibility="collapsed",
        icon=":material/search:",
        max_chars=2000,
        placeholder="Ask in plain words, or type a reference such as EN 302 755 6.5.5   ( / to come here )",
        on_change=lambda: state.set_view(state.view().ask(st.session_state["question"])),
    )
    with where:
        _filter()


def _filter() -> None:
    view = state.view()
    corpus = state.corpus()
    chosen = [key for key in view.documents if key in corpus.by_key]
    label = "All documents" if not chosen else f"{len(chosen)} of {len(corpus.documents)}"
    with st.popover(label, icon=":material/filter_list:", width="stretch", help="Search in some documents or editions only"):
        st.session_state["documents"] = chosen
        st.multiselect(
            "Documents and editions",
            [d.key for d in sorted(corpus.documents, key=lambda d: d.key)],
            key="documents",
            format_func=lambda key: escape.plain(f"{corpus.by_key[key].label} · {corpus.by_key[key].title}"),
            placeholder="All",
            on_change=lambda: state.set_view(state.view().with_(documents=tuple(st.session_state["documents"]))),
            help="Only these are searched and ranked. BM25 still weighs words over all documents.",
        )
        st.session_state["w_edition_here"] = view.config.edition_preference
        st.segmented_control(
            words.SETTING["edition_preference"].label,
            list(words.CHOICE["edition_preference"]),
            key="w_edition_here",
            required=True,
            format_func=words.CHOICE["edition_preference"].__getitem__,
            on_change=lambda: state.set_view(state.view().change(edition_preference=st.session_state["w_edition_here"])),
            help=words.SETTING["edition_preference"].help,
        )


def _no_documents() -> None:
    st.html(
        '<div class="nr-empty"><b>No standards loaded</b>Add PDFs of standards, or the sample, on the Corpus page; '
        "then ask here.</div>"
    )
    st.page_link("pages/corpus.py", label="Go to the Corpus page", icon=":material/library_books:")


def _answers() -> None:
    library = state.library()
    trace = state.search()
    if trace is None:
        _examples()
        return
    corpus, graph = state.corpus(), state.graph()
    page = results.Page.of(corpus, graph, trace, library.loaded.newer, state.page_exists("read"))
    view = state.view()
    with st.container(key="results", gap="small"):
        _act(components.clicks("results"))
        view = state.view()
        _jump(page)
        st.html(_summary(trace))
        for note in trace.notes:
            st.html(f'<div class="nr-note nr-info">{escape.html(note)}</div>')
        if not trace.results:
            st.html('<div class="nr-empty"><b>Nothing found</b>No chunk shares a word with the question in the documents searched.</div>')
        for result in trace.results:
            opened = corpus.by_id.get(view.opened) if view.at == result.chunk.id else None
            st.html(results.card(page, result, opened is not None))
            if opened is not None:
                st.html(results.clause(page, opened, at=result.chunk.id, relation=_relation(page, result.chunk.unit, opened.id)))


def _act(click: tuple[str, str] | None) -> None:
    """Does what a click inside the results asks for. The value comes from the browser: it is only looked up."""
    if click is None:
        return
    name, value = click
    view = state.view()
    if name == "open":
        at, unit = json.loads(value)
        same = (view.at, view.opened) == (at, unit)
        state.set_view(view.with_(opened="" if same else str(unit), at="" if same else str(at)))
    elif name == "close":
        state.set_view(view.with_(opened="", at=""))
    elif name == "read" and value in state.corpus().by_id:
        state.open_unit(value)


def _relation(page: results.Page, source: str, target: str) -> str:
    for name, tone in theme.RELATION.items():
        if any(u.id == target for u in page.graph.neighbours(source, name)):  # type: ignore[arg-type]
            return {"child": "child", "sibling": "sibling", "cites": "cited here", "cited-by": "cites this"}.get(name, tone.label)
    return ""


def _jump(page: results.Page) -> None:
    """The clause itself, where the question is a reference."""


def _summary(trace: Trace) -> str:
    """How many results, and where the milliseconds went."""
    total = trace.milliseconds.get("total", sum(trace.milliseconds.values()))
    stages = " ".join(
        f'<span>{theme.dot(name) if name in theme.STAGE else ""} {theme.STAGE[name].label if name in theme.STAGE else "Question vector"} '
        f"{ms:.0f} ms</span>"
        for name, ms in trace.milliseconds.items()
        if name != "total"
    )
    ranked = len(trace.final.order)
    return (
        f'<div class="nr-row nr-spread nr-small nr-num"><span><b>{len(trace.results)}</b> of {ranked} ranked</span>'
        f'<span class="nr-row">{stages}<b>{total:.0f} ms</b></span></div>'
    )


def _examples() -> None:
    examples = state.library().loaded.examples
    st.html(
        '<div class="nr-empty"><b>Ask the standards</b>Each answer is a clause with its place in the document, '
        "how each stage ranked it, and what is next to it.</div>"
    )
    if examples:
        st.html('<div class="nr-small">Questions these documents can answer</div>')
        with st.container(key="examples"):
            for n, question in enumerate(examples):
                st.button(
                    escape.markdown(question),
                    key=f"example_{n}",
                    type="tertiary",
                    icon=":material/north_east:",
                    on_click=lambda q=question: state.set_view(state.view().ask(q)),
                )


page()
