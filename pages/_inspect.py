"""The inspector under a result of the Search page: where it stands, why it is ranked there, and what is around it.

Only the part that is chosen computes anything.
"""

from __future__ import annotations

import streamlit as st

from normrag_core.answer import Sentence, nearest_sentence
from normrag_core.model import Chunk, InfoUnit
from normrag_core.reading import cite
from normrag_core.similar import similar
from normrag_core.trace import Result, Trace
from pages import _components as components
from pages import _escape as escape
from pages import _marking as marking
from pages import _reader as reader
from pages import _sheet as sheet
from pages import _state as state
from pages import _theme as theme
from pages import _why as why

PARTS = {
    "page": (":material/description: On the page", "The page of the PDF with the lines of this chunk marked"),
    "why": (":material/functions: Why this rank", "What each stage of the ranking gave, in figures that add up"),
    "context": (":material/account_tree: Context", "The chunks before and after, others like it, citation and text to copy"),
}


def opened() -> str:
    """Id of the chunk that is inspected, "" if none."""
    return state.view().inspected


def toggle(chunk: str) -> None:
    view = state.view()
    state.set_view(view.with_(inspected="" if chunk == view.inspected else chunk))


def panel(trace: Trace, result: Result) -> None:
    """The inspector of one result."""
    with st.container(key="inspector", border=True):
        st.session_state["w_inspect_part"] = state.view().part
        part = st.segmented_control(
            "Part",
            list(PARTS),
            key="w_inspect_part",
            format_func=lambda p: PARTS[p][0],
            label_visibility="collapsed",
            required=True,
            on_change=lambda: state.set_view(state.view().with_(part=st.session_state["w_inspect_part"])),
        )
        marking.control(trace, result, lambda: nearest(trace, result.index))
        if part == "why":
            why.rank(trace, result.index)
        elif part == "context":
            _context(trace, result)
        else:
            _page(trace, result)


def _page(trace: Trace, result: Result) -> None:
    corpus = state.corpus()
    unit = corpus.by_id[result.chunk.unit]
    near = nearest(trace, result.index)
    if near is not None and near.unit != unit.id:
        unit = corpus.by_id[near.unit]  # A window runs over several units: the one with the sentence is shown.
    if near is not None:
        meaning = "" if near.meaning is None else f", cosine {near.meaning:.2f}"
        st.html(
            f'<div class="nr-nearest" data-testid="nearest"><span class="nr-tiny">Nearest sentence · page {near.page} · '
            f"{near.words:.0%} of the question's weight in words{meaning}</span><q>{escape.html(_short(near.text))}</q></div>"
        )
    units = dict.fromkeys(s.unit for s in result.chunk.spans)
    lines = [line for u in units for line in sheet.lines_of(corpus.by_id[u], result.chunk.spans)]
    sheet.show(unit, lines, key="inspect", near=(near.start, near.end) if near else None)


def nearest(trace: Trace, index: int) -> Sentence | None:
    """The sentence nearest to the question; the last one is remembered, for it costs a few embeddings."""
    last = st.session_state.get("search_nearest")
    if last is None or last[0] is not trace or last[1] != index:
        last = st.session_state["search_nearest"] = (trace, index, nearest_sentence(state.retriever(), trace, index))
    found: Sentence | None = last[2]
    return found


def _context(trace: Trace, result: Result) -> None:
    corpus, retriever = state.corpus(), state.retriever()
    chunks = retriever.chunks(trace.config)
    unit = corpus.by_id[result.chunk.unit]
    with st.container(key="inspect_context"):
        clicked = components.clicks("inspect_context")
        if clicked and clicked[0] == "go" and clicked[1] in corpus.by_id:
            state.open_unit(clicked[1])
        rows = []
        for step, name in ((-1, "Before"), (1, "After")):
            beside = _beside(chunks, result.index, step)
            if beside is not None:
                rows.append(_row(name, beside, corpus.by_id[beside.unit]))
        st.html(f'<div class="nr-tiny">Chunks beside it in the document</div>{"".join(rows)}')
        close = similar(retriever, trace.config, result.index)
        if close:
            likes = "".join(_row(f"{c:.2f}", chunks[i], corpus.by_id[chunks[i].unit]) for i, c in close)
            st.html(f'<div class="nr-tiny">More like this, by the cosine of their vectors</div>{likes}')
        else:
            st.html('<div class="nr-small">What is like it can be told once vectors are ready.</div>')
    copied = cite(corpus, unit)
    st.caption("Citation")
    st.code(copied, language=None, wrap_lines=True)
    st.caption("Text with source")
    pages = ", ".join(map(str, result.chunk.pages or (unit.page,)))
    st.code(f"{escape.plain(result.chunk.text)}\n\n{copied}, page {pages}", language=None, wrap_lines=True, height=180)


def _beside(chunks: tuple[Chunk, ...], index: int, step: int) -> Chunk | None:
    at = index + step
    inside = 0 <= at < len(chunks) and chunks[at].document == chunks[index].document
    return chunks[at] if inside else None


def _row(name: str, chunk: Chunk, unit: InfoUnit) -> str:
    """A chunk in one line: a link to its clause and its first words."""
    words = chunk.text.removeprefix(unit.heading)
    part = theme.badge("part of the clause") if chunk.kind == "part" else ""
    return (
        f'<div class="nr-beside"><span class="nr-tiny nr-num">{name}</span><div>{reader.link(state.corpus(), unit)} {part}'
        f'<div class="nr-small">{escape.html(_short(words))}</div></div></div>'
    )


def _short(text: str, size: int = 240) -> str:
    text = " ".join(
        text.replace("|", " ").replace("<sub>", "").replace("</sub>", "").replace("<sup>", "").replace("</sup>", "").split()
    )
    return text if len(text) <= size else text[:size].rsplit(" ", 1)[0] + " …"
