"""An answer from the results: the best sentences with their clauses, or one that a language model writes and we check."""

from __future__ import annotations

import os

import streamlit as st

from normrag_core.answer import Sentence, extractive_answer
from normrag_core.grounding import Answer, Claim, write_answer
from normrag_core.llm import Endpoint, EndpointError
from normrag_core.strength import strength
from normrag_core.trace import Trace
from pages import _escape as escape
from pages import _reader as reader
from pages import _state as state
from pages import _theme as theme
from pages._components import clicks

GIVEN = 6  # Results that a language model is given.


def show(trace: Trace) -> None:
    with st.container(key="answer"):
        clicked = clicks("answer")
        if clicked and clicked[0] == "go" and clicked[1] in state.corpus().by_id:
            state.open_unit(clicked[1])
        st.html(_extract(trace, _sentences(trace)))
        _written(trace)


def _sentences(trace: Trace) -> tuple[Sentence, ...]:
    """The extractive answer; the last one is remembered."""
    last = st.session_state.get("search_answer")
    if last is None or last[0] is not trace:
        last = st.session_state["search_answer"] = (trace, extractive_answer(state.retriever(), trace))
    found: tuple[Sentence, ...] = last[1]
    return found


def _extract(trace: Trace, found: tuple[Sentence, ...]) -> str:
    corpus = state.corpus()
    if not found:
        return '<div class="nr-small">No sentence of the first results holds a word of the question.</div>'
    weak = ""
    if strength(state.retriever(), trace).weak:
        said = "These documents may not answer the question: even the nearest sentences are far from it."
        weak = f'<div class="nr-note">{said}</div>'
    rows = "".join(
        f"<li><q>{escape.html(' '.join(s.text.strip('| ').replace('|', '·').split()))}</q> "
        f"{reader.link(corpus, corpus.by_id[s.unit])} <span class=nr-tiny>page {s.page} · result {s.rank}</span></li>"
        for s in found
    )
    return (
        '<div class="nr-tiny">The sentences of the first results that are nearest to the question, word for word</div>'
        f'{weak}<ol class="nr-answer" data-testid="answer">{rows}</ol>'
    )


def _written(trace: Trace) -> None:
    """The answer of a language model: where to ask, the button, and what came of it."""
    with st.expander("Let a language model write an answer", icon=":material/edit_note:"):
        endpoint = _endpoint()
        if endpoint is None:
            return
        st.caption(
            f"Pressing the button sends the question and the texts of the first {min(GIVEN, len(trace.results))} results to "
            f"{escape.markdown(endpoint.base_url)}. Nothing is sent before."
        )
        if st.button("Write an answer", type="primary", key="answer_write", disabled=not trace.results):
            try:
                with st.spinner(f"Waiting for {escape.markdown(endpoint.model)}"):
                    made = write_answer(endpoint, state.corpus(), trace.question, trace.results[:GIVEN])
                st.session_state["search_written"] = (trace, made)
            except EndpointError as error:
                st.html(f'<div class="nr-note">No answer: {escape.html(str(error))}</div>')
        last = st.session_state.get("search_written")
        if last is not None and last[0] is trace:
            st.html(written(last[1]))


def _endpoint() -> Endpoint | None:
    """Where to ask. In shared mode only what the server was set up with: a typed address would be called by the server."""
    typed = {"base_url": "", "model": "", "key": ""}
    if state.mode() == "local":
        st.caption(
            "Any endpoint with an OpenAI-compatible interface, as Ollama, llama.cpp, vLLM and most services have. "
            "NORMRAG_LLM_URL, NORMRAG_LLM_MODEL and NORMRAG_LLM_KEY fill this in. The key stays in this session."
        )
        left, middle, right = st.columns(3)
        typed["base_url"] = left.text_input(
            "Base URL", value=os.environ.get("NORMRAG_LLM_URL", ""), key="answer_url", placeholder="http://127.0.0.1:11434/v1"
        )
        typed["model"] = middle.text_input("Model", value=os.environ.get("NORMRAG_LLM_MODEL", ""), key="answer_model")
        typed["key"] = right.text_input(
            "Key", type="password", key="answer_key", help="Empty: NORMRAG_LLM_KEY, where that is set for this very address"
        )
    # The key of the environment belongs to the address of the environment and goes to no other.
    elsewhere = typed["base_url"] not in ("", os.environ.get("NORMRAG_LLM_URL", ""))
    try:
        if elsewhere:
            return Endpoint(typed["base_url"], typed["model"], typed["key"], attempts=2)
        return Endpoint.from_environment(**typed, attempts=2)
    except ValueError as error:
        untouched = not typed["base_url"] and not typed["model"]
        said = "Name an endpoint to use this." if state.mode() == "local" else "No language model is set up on this server."
        st.html(f'<div class="nr-small">{said if untouched else escape.html(str(error))}</div>')
        return None


def written(made: Answer) -> str:
    """A checked answer as HTML."""
    if not made.claims:
        return (
            f'<div class="nr-note nr-info" data-testid="written"><b>Not answered by these documents</b>, says '
            f"{escape.html(made.model)} of the texts it was given.</div>"
        )
    flagged = sum(1 for c in made.claims if c.flag)
    head = (
        f"{flagged} of {len(made.claims)} sentences are not borne out by what they cite"
        if flagged
        else "Every sentence has its words in what it cites"
    )
    rows = "".join(f"<li>{_claim(c, made)}</li>" for c in made.claims)
    tone = "" if flagged else " nr-info"
    return (
        f'<div class="nr-note{tone}">Written by {escape.html(made.model)}. {head}; read the clauses.</div>'
        f'<ol class="nr-answer" data-testid="written">{rows}</ol>'
    )


def _claim(claim: Claim, made: Answer) -> str:
    corpus = state.corpus()
    given = {e.number: e for e in made.excerpts}
    chips = " ".join(
        f'{reader.link(corpus, corpus.by_id[given[n].unit])} <span class="nr-tiny">page {given[n].page}</span>'
        for n in claim.cites
        if n in given and given[n].unit in corpus.by_id
    )
    flag = ""
    if claim.flag:
        missing = f": {', '.join(claim.missing[:6])}" if claim.missing else ""
        flag = theme.badge(f"{claim.flag}{missing}", "bad")
    return f"<span{' class=nr-doubt' if claim.flag else ''}>{escape.html(claim.text)}</span> {chips} {flag}"
