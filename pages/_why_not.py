"""Why not? Any clause, the stage at which it fell out, and what would bring it in."""

from __future__ import annotations

from typing import Any

import streamlit as st

from normrag_core.explain import Remedy, WhyNot, why_not
from normrag_core.model import InfoUnit
from normrag_core.trace import Trace
from pages import _escape as escape
from pages import _state as state
from pages import _theme as theme
from pages import _words as words

MOST_REMEDIES = 8


def show(trace: Trace) -> None:
    unit = _pick(trace)
    if unit is None:
        return
    indices = chunks_of(trace, unit)
    if not indices:
        st.html('<div class="nr-small">This unit has no chunk under these settings.</div>')
        return
    index = _best(trace, indices)
    last = st.session_state.get("search_why_not")
    if last is None or last[0] is not trace or last[1] != index:
        with st.spinner("Trying other settings"):
            last = st.session_state["search_why_not"] = (trace, index, why_not(state.retriever(), trace, index))
    found: WhyNot = last[2]
    st.html(_verdict(trace, found, len(indices)))
    _remedies(found)


def _pick(trace: Trace) -> InfoUnit | None:
    """The clause asked about: a document and one of its clauses."""
    corpus = state.corpus()
    left, right = st.columns([2, 3])
    keys = sorted(corpus.by_key)
    kept = st.session_state.get("search_why_not_document")
    st.session_state["w_why_not_document"] = kept if kept in corpus.by_key else keys[0]
    key = left.selectbox(
        "Document",
        keys,
        key="w_why_not_document",
        format_func=lambda k: escape.plain(f"{corpus.by_key[k].label} · {corpus.by_key[k].title}"),
        on_change=lambda: st.session_state.update(search_why_not_document=st.session_state["w_why_not_document"]),
    )
    units = [u.id for u in corpus.units_of(key)]
    held = st.session_state.get("search_why_not_unit")
    st.session_state["w_why_not_unit"] = held if held in units else None
    chosen = right.selectbox(
        "Clause that you expected",
        units,
        key="w_why_not_unit",
        placeholder="Type a number or words of its heading",
        format_func=lambda u: escape.plain(corpus.by_id[u].heading or "the document itself"),
        on_change=lambda: st.session_state.update(search_why_not_unit=st.session_state["w_why_not_unit"]),
        help="The stage at which it fell out is shown, and each single setting that would bring it among the results.",
    )
    return corpus.by_id.get(chosen) if chosen else None


def chunks_of(trace: Trace, unit: InfoUnit) -> list[int]:
    """Indices of the chunks that hold a unit's text: its own, or the windows that run over it."""
    chunks = state.retriever().chunks(trace.config)
    own = [i for i, c in enumerate(chunks) if c.unit == unit.id]
    return own or [i for i, c in enumerate(chunks) if any(s.unit == unit.id for s in c.spans)]


def _best(trace: Trace, indices: list[int]) -> int:
    """The chunk that got farthest: best in the final ranking, else best by words."""
    places = {i: at for i in indices if (at := trace.final.position(i))}
    if places:
        return min(places, key=lambda i: places[i][0])
    retriever = state.retriever()
    scorer = retriever.index(trace.config).bm25(trace.config)
    scores = scorer.scores(retriever.terms(trace.question, trace.config))
    return max(indices, key=lambda i: (float(scores[i]), -i))


def _verdict(trace: Trace, found: WhyNot, parts: int) -> str:
    """Where it fell out, in a sentence, and its rank at every stage."""
    config = trace.config
    of = f" (its best of {parts} chunks)" if parts > 1 else ""
    if found.fell == "":
        said = f"It is result {found.rank}{of}."
    elif found.fell == "filter":
        said = "Its document is not among those searched; the filter beside the question leaves it out."
    elif found.fell == "heading":
        said = "It is a heading without text of its own, and these settings rank only chunks with text."
    elif found.fell == "bm25":
        words_of = "holds no word of the question" if found.bm25_rank is None else f"is at rank {found.bm25_rank:,} by words"
        said = f"It fell out in the BM25 prefilter{of}: it {words_of}, and the best {config.prefilter_n:,} go on."
    else:
        said = f"It is at rank {found.rank:,} of the final ranking{of}; the first {config.top_k} are shown."
    cells = "".join(
        f'<span class="nr-stage{"" if f.rank else " nr-out"}" style="--nr-tone:{theme.STAGE[f.stage].css}">'
        f"{theme.STAGE[f.stage].label} <b>{f'{f.rank:,}' if f.rank else '–'}</b> of {f.of:,}</span>"
        for f in found.fates
    )
    return f'<div data-testid="why-not"><p><b>{said}</b></p><div class="nr-row nr-moves nr-num">{cells}</div></div>'


def _remedies(found: WhyNot) -> None:
    if found.fell == "filter":
        st.button(
            "Search all documents",
            icon=":material/filter_list_off:",
            key="why_not_all",
            on_click=lambda: state.set_view(state.view().with_(documents=())),
        )
        return
    if found.fell == "":
        return
    if not found.remedies:
        st.html(
            '<div class="nr-small">No single setting brings it among the results: the question shares too little with it.</div>'
        )
        return
    st.html('<div class="nr-tiny">What would bring it in, each tried alone</div>')
    with st.container(key="remedies", horizontal=True, gap="small"):
        for n, remedy in enumerate(found.remedies[:MOST_REMEDIES]):
            st.button(
                f"{escape.markdown(label(remedy))} → **result {remedy.rank}**",
                key=f"remedy_{n}",
                on_click=_apply,
                args=(remedy.changes,),
                help=_help(remedy),
            )


def label(remedy: Remedy) -> str:
    """The changes in words: "Smoothing α 0.6", "Results K 23"."""
    return ", ".join(f"{words.SETTING[n].label} {words.value(n, v)}" for n, v in remedy.changes.items())


def _help(remedy: Remedy) -> str:
    if remedy.low is not None and remedy.high is not None and remedy.low < remedy.high:
        return f"Works from {remedy.low:g} to {remedy.high:g}. Press to use it."
    return "Press to use this setting."


def _apply(changes: dict[str, Any]) -> None:
    state.set_view(state.view().change(**changes))
