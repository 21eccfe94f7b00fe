"""Read: a document clause by clause, with its contents tree, its cross-references and the page it stands on."""

from __future__ import annotations

import streamlit as st

from normrag_core.ingest.modality import modal_counts
from normrag_core.model import InfoUnit
from normrag_core.reading import Reading, cite
from pages import _components as components
from pages import _escape as escape
from pages import _reader as reader
from pages import _sheet as sheet
from pages import _state as state
from pages import _theme as theme


def page() -> None:
    corpus = state.corpus()
    if not corpus.documents:
        st.html(
            '<div class="nr-empty"><b>No standards loaded</b>Add PDFs of standards, or the sample, on the Corpus page; '
            "then you can read them here.</div>"
        )
        return
    for name, value in (("read_modals", False), ("read_below", False), ("read_sheet", True)):
        st.session_state.setdefault(name, value)
    unit = _current()
    with st.sidebar:
        _contents(unit)
    _clause(unit)
    clicked = components.clicks("read_area") or components.clicks("read_tree")
    moved = components.history("read", "unit")
    if clicked and clicked[0] == "go" and clicked[1] in corpus.by_id:
        _go(clicked[1])
        st.rerun()
    elif moved is not None and moved in corpus.by_id and moved != unit.id:
        _go(moved)
        st.rerun()


def reading() -> Reading:
    """Marks and citations of the loaded corpus, made once per corpus and session."""
    kept = st.session_state.get("read_reading")
    if kept is None or kept.corpus is not state.corpus():
        kept = st.session_state.read_reading = Reading(state.corpus())
    return kept


def _current() -> InfoUnit:
    """The unit that the URL names, else the one read last, else the first document's root."""
    corpus = state.corpus()
    unit = state.opened_unit() or corpus.by_id.get(st.session_state.get("read_unit", ""))
    if unit is None:
        asked = st.query_params.get("unit")
        if asked:
            st.html(f'<div class="nr-note">The link leads to {escape.html(asked)}, which is not loaded.</div>')
        unit = corpus.root(corpus.documents[0].key)
    st.session_state.read_unit = unit.id
    if st.query_params.get("unit") != unit.id:
        st.query_params["unit"] = unit.id
    return unit


def _go(unit: str) -> None:
    st.session_state.read_unit = unit
    st.query_params["unit"] = unit


def _contents(unit: InfoUnit) -> None:
    corpus = state.corpus()
    keys = [d.key for d in sorted(corpus.documents, key=lambda d: d.key)]
    st.session_state.w_read_document = unit.document
    st.selectbox(
        "Document",
        keys,
        key="w_read_document",
        format_func=lambda k: escape.plain(f"{corpus.by_key[k].label} · {corpus.by_key[k].title}"),
        on_change=lambda: _go(f"{st.session_state.w_read_document}#"),
    )
    words = st.text_input("Find a heading", key="read_filter", placeholder="number or words", icon=":material/search:")
    with st.container(key="read_tree"):
        st.html(reader.contents(corpus, unit.document, unit, words))


def _clause(unit: InfoUnit) -> None:
    corpus = state.corpus()
    document = corpus.by_key[unit.document]
    title = unit.heading if unit.parent is not None else document.title
    newer = state.library().loaded.newer.get(document.key)
    badges = [theme.badge(document.label, "info"), theme.badge(f"page {unit.page} of {document.pages}")]
    badges += [theme.badge("informative")] if unit.informative else []
    badges += [theme.badge(f"newer edition loaded: {newer}", "warn")] if newer else []
    with st.container(key="read_area"):
        st.html(
            f'{reader.breadcrumb(corpus, unit)}<h2 class="nr-title" data-testid="read-title">{escape.html(title)}</h2>'
            f'<div class="nr-row">{"".join(badges)}</div>'
        )
        _steps(unit)
        marks = reading().marks(unit)
        own = reader.body(unit, marks, st.session_state.read_modals)
        st.html(own or '<p class="nr-small">No text of its own: a heading followed at once by sub-clauses.</p>')
        if st.session_state.read_below:
            for below in _below(unit):
                level = min(6, 2 + len(corpus.path(below)) - len(corpus.path(unit)))
                st.html(
                    f"<h{level} class='nr-heading'>{escape.html(below.heading)}</h{level}>"
                    f"{reader.body(below, reading().marks(below), st.session_state.read_modals)}"
                )
        elif corpus.children(unit):
            chips = "".join(reader.link(corpus, c, unit.document) for c in corpus.children(unit)[:200])
            st.html(f'<div class="nr-tiny">In this {unit.kind}</div><div class="nr-row">{chips}</div>')
        if st.session_state.read_modals:
            st.html(_counts(unit))
        st.html(f'<h3 class="nr-heading">Cited by</h3>{reader.cited_by(reading(), unit)}')
    if st.session_state.read_sheet:
        sheet.show(unit, unit.lines, key="read")


def _below(unit: InfoUnit) -> list[InfoUnit]:
    """All units under this one in printed order, up to what a page can carry."""
    found: list[InfoUnit] = []
    stack = list(reversed(state.corpus().children(unit)))
    while stack and len(found) < 150:
        found.append(stack.pop())
        stack.extend(reversed(state.corpus().children(found[-1])))
    return found


def _steps(unit: InfoUnit) -> None:
    before, after = reading().around(unit)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(
            "Previous",
            icon=":material/chevron_left:",
            disabled=before is None,
            on_click=_go,
            args=(before.id if before else "",),
            help=escape.markdown(before.heading) if before else None,
        )
        st.button(
            "Next",
            icon=":material/chevron_right:",
            disabled=after is None,
            on_click=_go,
            args=(after.id if after else "",),
            help=escape.markdown(after.heading) if after else None,
        )
        with st.popover("Copy", icon=":material/content_copy:", help="This clause as a citation, or its text with the source"):
            st.caption("Citation")
            st.code(cite(state.corpus(), unit), language=None, wrap_lines=True)
            st.caption("Text with source")
            st.code(
                f"{escape.plain(unit.body)}\n\n{cite(state.corpus(), unit)}, page {unit.page}", language=None, wrap_lines=True
            )
        _toggle(
            "Modal verbs", "read_modals", "Mark shall (requirement), should (recommendation), may (permission), can and will."
        )
        _toggle("With sub-clauses", "read_below", "Show the text of all clauses below this one, up to 150.")
        _toggle("Page", "read_sheet", "Show the page of the PDF with the lines of this clause marked.")


def _toggle(label: str, name: str, help_text: str) -> None:
    st.session_state[f"w_{name}"] = st.session_state[name]

    def take() -> None:
        st.session_state[name] = st.session_state[f"w_{name}"]

    st.toggle(label, key=f"w_{name}", help=help_text, on_change=take)


def _counts(unit: InfoUnit) -> str:
    """Sentences with each modal verb in this unit."""
    counts = modal_counts(unit)
    parts = [f"<b>{n}</b> × {escape.html(verb)}" for verb, n in counts.normative.items() if n]
    parts += [f"{n} × {escape.html(verb)} (informative)" for verb, n in counts.informative.items() if n]
    return f'<div class="nr-row nr-small">Sentences: {" · ".join(parts) or "none with a modal verb"}</div>'


page()
