"""Question by question: wins and losses between two configurations, and the way of each witness through the stages."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from normrag_core.config import PRESETS
from normrag_core.evaluation.drill import paths
from normrag_core.evaluation.questions import Question, QuestionSet, Witness
from normrag_core.evaluation.runs import RunResult
from normrag_core.model import Chunk
from pages import _escape as escape
from pages import _evaluation as evaluation
from pages import _state as state
from pages import _theme as theme


def show(result: RunResult, questions: QuestionSet | None) -> None:
    """questions: the set chosen in the page; what they ask can be told where the run was made with it."""
    st.subheader("Question by question")
    names = [c.name for c in result.configurations]
    left, middle, right = st.columns(3)
    a = left.selectbox("Configuration", names, index=len(names) - 1, key="evaluate_a")
    b = middle.selectbox("against", names, index=0, key="evaluate_b")
    k = max(result.ks)
    ways = {
        "all": lambda x, y: True,
        f"wins: only {a} finds one in {k}": lambda x, y: x and not y,
        f"losses: only {b} finds one in {k}": lambda x, y: y and not x,
        "neither finds any": lambda x, y: not (x or y),
    }
    which = right.selectbox("Show", list(ways), key="evaluate_which", format_func=escape.plain)
    known = questions is not None and questions.fingerprint == result.question_set.get("fingerprint")
    asked = {q.id: q for q in questions or ()} if known else {}
    if not known:
        st.caption(f"Choose {escape.markdown(str(result.question_set['name']))} above to see what was asked.")
    rows = []
    for (id_, kind, *_), qa, qb in zip(
        result.questions, result.configuration(a).questions, result.configuration(b).questions, strict=True
    ):
        if ways[which](*(any(r is not None and r <= k for r in q.ranks) for q in (qa, qb))):
            text = asked[id_].question if id_ in asked else ""
            rows.append({"id": id_, "type": kind, "question": text, a: _ranks(qa.ranks), f"{b} ": _ranks(qb.ranks)})
    st.caption(
        f"{len(rows)} of {len(result.questions)} questions; ranks of each witness, – where no result holds it. "
        "Choose a row for the way of its witnesses through the stages."
    )
    with st.container(key="evaluate_questions"):
        event = st.dataframe(pd.DataFrame(rows), hide_index=True, on_select="rerun", selection_mode="single-row", height=280)
    chosen = event.selection.rows
    if chosen and chosen[0] < len(rows) and rows[chosen[0]]["id"] in asked:
        _question(result, asked[rows[chosen[0]]["id"]], a)


def _question(result: RunResult, question: Question, name: str) -> None:
    st.markdown(f"**{escape.markdown(question.question)}**")
    if question.answer:
        st.caption(f"Expected answer: {escape.markdown(question.answer)}")
    for goal in (*question.goals, *question.rejected):
        wrong = "Judged wrong" if goal in question.rejected else ""
        if isinstance(goal, Witness):
            place = ", ".join(filter(None, (goal.file, f"clause {goal.clause}" if goal.clause else "", _page(goal.page))))
            st.caption(escape.markdown(f"{wrong or 'Witness'} in {place or 'any document'}: {goal.text}"))
        else:
            st.caption(escape.markdown(f"{wrong or 'Relevant'}: {goal.document} {goal.code}"))
    if result.corpus["fingerprint"] == state.corpus().fingerprint:
        _ways(result, question, name)
    else:
        st.caption("Its way through the stages can be shown when the documents of the run are loaded.")
    if st.button(f"See why on the Search page with {escape.markdown(name)}", icon=":material/search:"):
        config = result.configuration(name).settings
        preset = name if name in PRESETS else state.view().preset
        state.set_view(state.view().ask(question.question).with_(preset=preset, own="", config=config))
        st.switch_page(state.PAGES / "search.py")


def _ways(result: RunResult, question: Question, name: str) -> None:
    at = [id_ for id_, *_ in result.questions].index(question.id)
    ready = [c for c in result.configurations if evaluation.vectors_soon(state.library(), c.settings)]
    if len(ready) < len(result.configurations):
        waiting = ", ".join(c.name for c in result.configurations if c not in ready)
        st.caption(f"Vectors are being made for {escape.markdown(waiting)}.")
    found = paths(state.retriever(), result, question, [c.name for c in ready])
    wrong = {c.name: c.questions[at].wrong for c in ready}
    stages = [s for s in theme.STAGE if any(s in p.ranks for p in found)]
    rows = [
        {
            "configuration": p.configuration,
            **({"witness": p.goal + 1} if len(question.goals) > 1 else {}),
            **{theme.STAGE[s].label: _stage(p.ranks, s) for s in stages},
            "found in": _name(p.chunk) if p.chunk else "no chunk holds it",
            **({"judged wrong at": _ranks(wrong[p.configuration] or ())} if question.rejected else {}),
        }
        for p in found
    ]
    st.caption("Its rank after each stage; – where the stage did not rank it, empty where there is no such stage.")
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    for p in found:
        if p.configuration == name and p.above:
            which = f"witness {p.goal + 1}" if len(question.goals) > 1 else "the witness"
            before = "; ".join(_name(c) for c in p.above)
            st.caption(escape.markdown(f"{name} puts before {which}: {before}"))


def _name(chunk: Chunk) -> str:
    unit = state.corpus().by_id[chunk.unit]
    return f"{state.corpus().by_key[unit.document].id} {unit.heading or 'the document'}"


def _stage(ranks: dict[str, int | None], stage: str) -> str:
    return "" if stage not in ranks else _ranks((ranks[stage],))


def _page(page: int | None) -> str:
    return "" if page is None else f"page {page}"


def _ranks(ranks: tuple[int | None, ...]) -> str:
    return ", ".join("–" if r is None else str(r) for r in ranks)
