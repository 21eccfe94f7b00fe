"""Right or wrong: a result of the Search page marked for the question, which makes a question of the user's own set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath

import streamlit as st

from normrag_core.answer import Sentence
from normrag_core.evaluation.from_use import Marks, Verdict, first_words
from normrag_core.evaluation.questions import Witness
from normrag_core.trace import Result, Trace
from pages import _faults as faults
from pages import _state as state

MINE = "mine"
_REJECTED = "rejected passages"
_LABEL = {"right": ":material/check: Right", "wrong": ":material/close: Wrong"}


def control(trace: Trace, result: Result, nearest: Callable[[], Sentence | None]) -> None:
    """Two buttons; the one that is pressed, pressed again, takes the mark away. nearest: asked when one is pressed."""
    marks = load()
    st.session_state["w_mark"] = marks.verdict(trace.question, _file(result), result.chunk.text)
    st.segmented_control(
        "Does it answer the question?",
        list(_LABEL),
        key="w_mark",
        format_func=_LABEL.__getitem__,
        on_change=lambda: _mark(trace, result, nearest()),
        help=f"“Right” puts the question with this passage into your question set “{MINE}”, which the Evaluate page runs. "
        "“Wrong” remembers that this passage was rejected. Press again to take it back.",
    )


def of_results(trace: Trace) -> dict[str, Verdict]:
    """Chunk id → how it was marked for the question, of the results that were."""
    marks = load()
    if not marks.about(trace.question):
        return {}
    found = {r.chunk.id: marks.verdict(trace.question, _file(r), r.chunk.text) for r in trace.results}
    return {id_: verdict for id_, verdict in found.items() if verdict is not None}


def load() -> Marks:
    """What was marked so far, in the workspace: in memory only in shared mode."""
    workspace = state.library().workspace
    return Marks.of(workspace.question_sets().get(MINE, ""), workspace.recall(_REJECTED))


@faults.told()
def _mark(trace: Trace, result: Result, near: Sentence | None) -> None:
    marks = load().mark(trace.question, st.session_state["w_mark"], _witness(result, near), result.chunk.text)
    right, wrong = marks.dumps()
    workspace = state.library().workspace
    if right:
        workspace.save_question_set(MINE, right)
    else:
        workspace.remove_question_set(MINE)
    workspace.remember(_REJECTED, wrong)


def _witness(result: Result, near: Sentence | None) -> Witness:
    """The sentence nearest to the question, or the beginning of the chunk."""
    by_id = state.corpus().by_id
    if near is not None:
        return Witness(near.text, _file(result), near.page, by_id[near.unit].code)
    unit = by_id[result.chunk.unit]
    return Witness(first_words(result.chunk.text), _file(result), (result.chunk.pages or (unit.page,))[0], unit.code)


def _file(result: Result) -> str:
    return PurePath(state.corpus().by_key[result.chunk.document].file).name
