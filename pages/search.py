"""Search: a question in, ranked clauses out, with every stage of the ranking to see and to tune."""

from __future__ import annotations

import json

import streamlit as st

from normrag_core.lookup import find_reference
from normrag_core.strength import strength
from normrag_core.trace import Trace
from pages import _change as change
from pages import _components as components
from pages import _controls as controls
from pages import _escape as escape
from pages import _inspect as inspect
from pages import _marking as marking
from pages import _progress as progress
from pages import _results as results
from pages import _state as state
from pages import _text as text
from pages import _theme as theme
from pages import _tools as tools
from pages import _words as words

SOME_WORDS = 0.2  # Below this share of the question, results are called weak before meaning has had its say.


def page() -> None:
    if (query := components.history("search")) is not None:
        state.take_link(query)
    with st.sidebar:
        controls.settings()
    box, where = st.columns([4, 1], vertical_alignment="bottom")
    with box:
        _question()
    state.opened()  # The box above takes a question meanwhile.
    with where:
        _filter()
    if not state.corpus().documents:
        library = state.library()
        progress.note(library, state.view().config, library.loaded.revision)
        _no_documents()
        return
    for remark in (*state.link_remarks(), st.session_state.pop("settings_remark", "")):
        if remark:
            st.html(f'<div class="nr-note">{escape.html(remark)}</div>')
    _answers()
    components.keys(box="question", cards=".nr-result")
    state.sync_url()


def _question() -> None:
    if st.session_state.get("question") != (asked := state.view().question):
        st.session_state["question"] = asked  # Only then: setting it wipes out what is being typed.
    st.text_input(
        "Question",
        key="question",
        label_visibility="collapsed",
        icon=":material/search:",
        placeholder="Ask in plain words, or type a reference such as EN 302 755 6.5.5   ( / to come here )",
        on_change=lambda: state.set_view(state.view().ask(st.session_state["question"])),
    )


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
    revision = library.loaded.revision
    trace = state.search()
    progress.note(library, state.view().config, revision)
    if trace is None:
        _examples()
        return
    corpus = state.corpus()
    newer, marked = library.loaded.newer, marking.of_results(trace)
    changed = change.since(trace)
    moved = changed.changes if changed else {}
    page = results.Page.of(corpus, state.graph(), trace, newer, state.page_exists("read"), marked, moved)
    with st.container(key="results", gap="small"):
        _act(components.clicks("results"))
        view = state.view()
        jumped = _jump(page)
        st.html(_summary(trace, jumped))
        change.show(trace, corpus)
        for note in (*_verdict(trace, jumped), *_notes(trace), *_lost(trace)):
            st.html(f'<div class="nr-note">{note}</div>')
        if unknown := _unknown(trace, jumped):
            st.html(unknown)
        tools.show(trace)
        for result in trace.results:
            opened = corpus.by_id.get(view.opened) if view.at == result.chunk.id else None
            st.html(results.card(page, result, opened is not None))
            if opened is not None:
                st.html(
                    results.clause(page, opened, at=result.chunk.id, relation=_relation(page, result.chunk.unit, opened.id))
                )
            if result.chunk.id == inspect.opened():
                inspect.panel(trace, result)


def _act(click: tuple[str, str] | None) -> None:
    """Does what a click inside the results asks for. The value comes from the browser: it is only looked up."""
    if click is None:
        return
    name, value = click
    view = state.view()
    if name == "open":
        try:
            at, unit = json.loads(value)
        except (ValueError, TypeError):
            return
        same = (view.at, view.opened) == (at, unit)
        state.set_view(view.with_(opened="" if same else str(unit), at="" if same else str(at)))
    elif name == "close":
        state.set_view(view.with_(opened="", at=""))
    elif name == "inspect":
        inspect.toggle(value)
    elif name == "read" and value in state.corpus().by_id:
        state.open_unit(value)


def _relation(page: results.Page, source: str, target: str) -> str:
    for name, tone in theme.RELATION.items():
        if any(u.id == target for u in page.graph.neighbours(source, name)):  # type: ignore[arg-type]
            return {"child": "child", "sibling": "sibling", "cites": "cited here", "cited-by": "cites this"}.get(
                name, tone.label
            )
    return ""


def _jump(page: results.Page) -> bool:
    """The clause itself, where the question is a reference; several to choose from, where it names no document."""
    view = state.view()
    units = find_reference(view.question, page.corpus, view.documents or None)
    if not units:
        return False
    if len(units) == 1:
        st.html(results.clause(page, units[0], at=results.JUMP, marked=False))
    else:
        st.html(results.choice(page, units, at=results.JUMP))
    opened = page.corpus.by_id.get(view.opened) if view.at == results.JUMP else None
    if opened is not None:
        relation = _relation(page, units[0].id, opened.id) if len(units) == 1 else ""
        st.html(results.clause(page, opened, at=results.JUMP, relation=relation or "opened", marked=False))
    return True


def _verdict(trace: Trace, jumped: bool) -> list[str]:
    """What the reader should know before trusting the ranking, as HTML."""
    if jumped:
        return []
    if not trace.results:
        return ["<b>Nothing found.</b> No chunk of the documents searched shares a word with the question."]
    found = strength(state.retriever(), trace)
    said: list[str] = []
    if found.weak and found.words >= SOME_WORDS and state.without_vectors(trace):
        # Half of the evidence is still missing, so this is no verdict yet.
        said.append(
            f"By words alone the best of the first results holds {found.words:.0%} of the question. "
            "Search by meaning, which joins when the vectors are ready, may rank another clause first."
        )
    elif found.weak:
        nearest = f", the nearest in meaning has a cosine of {found.meaning:.2f}" if found.meaning is not None else ""
        said.append(
            "<b>Weak results.</b> The loaded documents may not answer this: the best of the first results holds "
            f"{found.words:.0%} of the question by the weight of its words{nearest}."
        )
    return [" ".join(said)] if said else []


def _unknown(trace: Trace, jumped: bool) -> str:
    """The words of the question that no loaded document holds, as HTML: a hint for asking otherwise, no warning."""
    if jumped or not trace.results:
        return ""
    terms = strength(state.retriever(), trace).unknown
    unknown = text.words_of(trace.question, terms, trace.config)
    if not 0 < len(unknown) <= 6:
        return ""
    named = ", ".join(f"<q>{escape.html(word)}</q>" for word in unknown)
    return f'<div class="nr-small">Nowhere in the loaded documents: {named}</div>'


def _notes(trace: Trace) -> list[str]:
    """The retriever's remarks; that vectors are not ready is said by the line on their progress."""
    return [escape.html(f"{n[:1].upper()}{n[1:]}.") for n in trace.notes if state.NOT_READY not in n]


def _lost(trace: Trace) -> list[str]:
    """Says that what was inspected is not among the results: other settings or documents moved it out."""
    chunk = inspect.opened()
    if not chunk or not trace.results or any(result.chunk.id == chunk for result in trace.results):
        return []
    return [f"<b>{escape.html(chunk)}</b>, inspected before, is not among these results; “Why not?” tells what held it back."]


def _summary(trace: Trace, jumped: bool) -> str:
    """How many results, and where the milliseconds went."""
    names = {"encode": "Question vector", "vectors": "Vectors"}
    stages = "".join(
        f'<span class="nr-nowrap">{theme.dot(name) if name in theme.STAGE else ""} '
        f"{theme.STAGE[name].label if name in theme.STAGE else names.get(name, name)} {ms:.1f} ms</span>"
        for name, ms in trace.milliseconds.items()
        if name != "total" and ms >= 0.05
    )
    ranked = len(trace.final.order)
    head = "Ranked for the same words: " if jumped else ""
    return (
        f'<div class="nr-row nr-spread nr-small nr-num"><span>{head}<b>{len(trace.results)}</b> of {ranked:,} candidates</span>'
        f'<span class="nr-row">{stages}<b>{trace.milliseconds.get("total", 0):.0f} ms</b></span></div>'
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
