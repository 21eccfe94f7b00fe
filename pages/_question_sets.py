"""The part of the Evaluate page that chooses, checks, edits and makes question sets."""

from __future__ import annotations

import io
import os
from contextlib import suppress
from pathlib import Path

import pandas as pd
import streamlit as st

from normrag_core.evaluation.generation import (
    Endpoint,
    GenerationReport,
    citation_sources,
    clause_sources,
    estimate,
    generate,
    template_questions,
)
from normrag_core.evaluation.generation.run import CITATION_PROMPT, CLAUSE_PROMPT
from normrag_core.evaluation.questions import QuestionError, QuestionSet, dump_csv, dump_jsonl, parse_questions
from normrag_core.evaluation.witnesses import find_missing
from normrag_core.storage import MemoryWorkspace, Workspace, WorkspaceError
from pages import _escape as escape
from pages import _evaluation as evaluation
from pages import _faults as faults
from pages import _job_view as job_view
from pages import _marking as marking
from pages import _sample as sample
from pages import _state as state
from pages._evaluation import Job

SAMPLE = "Sample questions"
UPLOAD = "Upload a file"
MAKE = "Make questions"
GENERATION = "generation"
LAST = "question set"  # Under this the workspace remembers the set chosen last.


def available() -> dict[str, str]:
    """Name → JSONL of the sets that can be chosen: the sample's where its standards are loaded, and the user's own."""
    own = state.library().workspace.question_sets()
    file = sample.FOLDER / "questions.jsonl"
    loaded = {d.sha256 for d in state.corpus().documents} & sample.digests()
    return ({SAMPLE: file.read_text("utf8")} if loaded and file.is_file() else {}) | own


def choose() -> QuestionSet | None:
    """The set in use, chosen in the page; None until there is one."""
    sets = available()
    options = [*sets, UPLOAD, MAKE]
    workspace = state.library().workspace
    kept = st.session_state.get("evaluate_set") or workspace.recall(LAST)
    st.session_state["evaluate_set_box"] = kept if kept in options else options[0]
    chosen = st.selectbox(
        "Questions",
        options,
        key="evaluate_set_box",
        on_change=evaluation.keep,
        args=("evaluate_set",),
        format_func=escape.plain,
    )
    if chosen in sets and chosen != workspace.recall(LAST):
        with suppress(WorkspaceError):  # Only a convenience: without it the first set is chosen next time.
            workspace.remember(LAST, chosen)
    if chosen == UPLOAD:
        _upload()
        return None
    if chosen == MAKE:
        _make()
        return None
    try:
        questions = parse_questions(sets[chosen], chosen)
    except QuestionError as error:
        st.error(escape.markdown(str(error)))
        return None
    _facts(chosen, questions)
    judged = marking.load().judged(questions)
    wrong = sum(len(q.rejected) for q in judged)
    if wrong:
        passages = "1 passage was" if wrong == 1 else f"{wrong} passages were"
        st.caption(f"{passages} judged wrong for these questions: a run counts results that hold them as wrong@K.")
    return judged


def _facts(name: str, questions: QuestionSet) -> None:
    kinds = pd.Series([q.type or "untyped" for q in questions]).value_counts()
    st.caption(f"{len(questions)} questions: " + ", ".join(f"{n} {escape.markdown(kind)}" for kind, n in kinds.items()))
    _left_out(name)
    key = ("evaluate_missing", questions.fingerprint, state.corpus().fingerprint)
    if st.session_state.get("evaluate_missing_key") != key:
        st.session_state["evaluate_missing_key"] = key
        st.session_state["evaluate_missing"] = [str(m) for m in find_missing(state.corpus(), questions.questions)]
    missing = st.session_state["evaluate_missing"]
    if missing:
        with st.expander(f"{len(missing)} witnesses are not in the loaded standards", icon=":material/warning:"):
            for text in missing[:200]:
                st.text(escape.plain(text))
    with st.expander("Look at the set, edit it, take it along"):
        _editor(name, questions)


def _left_out(name: str) -> None:
    """What of the file was not taken when the set was kept; the set itself no longer knows."""
    problems: list[str] = st.session_state.get("evaluate_problems", {}).get(name, [])
    if not problems:
        return
    with st.expander(f"{len(problems)} lines of the file need a look", icon=":material/warning:", expanded=True):
        for problem in problems[:200]:
            st.text(escape.plain(problem))
        if st.button("Seen"):
            st.session_state["evaluate_problems"].pop(name)
            st.rerun()


def _editor(name: str, questions: QuestionSet) -> None:
    frame = pd.read_csv(io.StringIO(dump_csv(questions.questions)), dtype=str, keep_default_na=False)
    edited = st.data_editor(frame, num_rows="dynamic", hide_index=True, key=f"evaluate_editor_{questions.fingerprint}")
    left, middle, right = st.columns(3)
    left.download_button("JSONL", dump_jsonl(questions.questions), f"{name}.jsonl", icon=":material/download:")
    middle.download_button("CSV", dump_csv(questions.questions), f"{name}.csv", icon=":material/download:")
    title = "My questions" if name == SAMPLE else name
    if right.button(f"Save changes as “{escape.markdown(title)}”", disabled=edited.equals(frame)):
        save(title, edited.to_csv(index=False), f"{title}.csv")


def save(title: str, text: str | bytes, file: str) -> None:
    """Keeps a set in the workspace and chooses it; what of it could not be taken is said beside it."""
    try:
        questions = parse_questions(text, file)
    except QuestionError as error:
        st.error(escape.markdown(str(error)))
        return
    st.session_state.setdefault("evaluate_problems", {})[title] = [str(p) for p in questions.problems]
    with faults.told():
        state.library().workspace.save_question_set(title, dump_jsonl(questions.questions))
        st.session_state["evaluate_set"] = title
        st.rerun()


def _upload() -> None:
    st.caption(
        "JSONL, one question a line: id, type, question, answer, and witnesses (file, page, clause, text) or relevant "
        "(document, code); what does not answer it may stand in rejected. Or CSV as spreadsheets write it, with these columns, "
        "one witness a row, “wrong” in the column judged of those that are rejected."
    )
    given = st.file_uploader("Question file", type=["jsonl", "json", "csv"], key="evaluate_upload")
    if given is not None and st.button("Check and keep it", type="primary"):
        save(Path(given.name).stem, given.getvalue(), given.name)


def _make() -> None:
    way = st.radio("How", ["Templates (smoke run)", "A language model"], horizontal=True, key="evaluate_way")
    wanted = st.number_input("Questions", 5, 1000, 40, step=5, key="evaluate_wanted")
    if way.startswith("Templates"):
        st.caption(
            "Made from headings and definitions, always the same. They reuse the text's own words, so they show that "
            "everything runs and say nothing about quality."
        )
        if st.button("Make them", type="primary"):
            made = template_questions(state.corpus(), int(wanted))
            if made:
                save("Smoke questions", dump_jsonl(made), "smoke.jsonl")
            else:
                st.warning("The loaded standards have no clause to ask about.")
        return
    _with_model(int(wanted))


class WorkspaceLog:
    """What a model answered so far, kept with the documents it was made from: it can be gone on with after a restart, and
    goes when they are deleted."""

    NOTE = "replies to generated questions"

    def __init__(self, workspace: Workspace | MemoryWorkspace) -> None:
        self.workspace = workspace

    def read(self) -> str:
        return self.workspace.recall(self.NOTE)

    def append(self, line: str) -> None:
        self.workspace.remember(self.NOTE, self.read() + line)


def _with_model(wanted: int) -> None:
    corpus = state.corpus()
    left, right = st.columns(2)
    url = model = key = ""
    if state.mode() == "local":  # in shared mode a typed address would be called by the server
        url = left.text_input(
            "Base URL",
            os.environ.get("NORMRAG_LLM_URL", "http://127.0.0.1:11434/v1"),
            help="OpenAI-compatible: Ollama, llama.cpp, Gemini and others",
        )
        model = right.text_input("Model", os.environ.get("NORMRAG_LLM_MODEL", ""))
        key = left.text_input(
            "Key",
            "",
            type="password",
            help="Stays in this session. Empty: NORMRAG_LLM_KEY, for the address of the environment",
        )
    pairs = right.number_input("Of these, about citation pairs", 0, wanted, wanted // 4)
    price_in = left.number_input("Price of a million input tokens", 0.0, 1000.0, 0.0)
    price_out = right.number_input("Price of a million output tokens", 0.0, 1000.0, 0.0)
    with st.expander("Prompts"):
        prompts = (
            st.text_area("One clause", CLAUSE_PROMPT, height=260),
            st.text_area("A citation pair", CITATION_PROMPT, height=300),
        )
    given = {"base_url": url, "model": model, "key": key, "input_price": price_in, "output_price": price_out}
    try:
        # The key of the environment belongs to the address of the environment and goes to no other.
        elsewhere = url not in ("", os.environ.get("NORMRAG_LLM_URL", ""))
        endpoint = Endpoint(**given) if elsewhere else Endpoint.from_environment(**given)  # type: ignore[arg-type]
    except ValueError as error:
        st.info(escape.markdown(str(error)))
        return
    sources = [*clause_sources(corpus, wanted - int(pairs)), *citation_sources(corpus, int(pairs))]
    cost = estimate(corpus, sources, endpoint, prompts)
    st.caption(
        f"{cost.requests} requests, about {cost.input_tokens:,} tokens in and {cost.output_tokens:,} out, "
        f"cost {cost.cost:.2f} at these prices. The passages asked about are sent to {escape.markdown(url)}."
    )
    job = evaluation.job(state.library(), GENERATION)
    if st.button("Start, or go on where it stopped", type="primary", disabled=job is not None and job.running):
        log = WorkspaceLog(state.library().workspace)
        begun = Job(
            f"{len(sources)} sources",
            lambda job: generate(corpus, sources, endpoint, log, prompts=prompts, progress=job.report, cancel=job.stop.is_set),
        )
        evaluation.begin(state.library(), GENERATION, begun)
        st.rerun()
    job_view.progress(GENERATION)
    if job is not None and isinstance(job.result, GenerationReport):
        _generated(job.result)


def _generated(report: GenerationReport) -> None:
    dropped = ", ".join(f"{n} {reason}" for reason, n in sorted(report.dropped.items())) or "none"
    said = f"{len(report.questions)} questions; dropped: {dropped}; {report.failed} requests failed."
    (st.success if report.questions else st.warning)(said)
    if report.problem or report.stopped:
        st.warning(escape.markdown(". ".join(dict.fromkeys(filter(None, (report.stopped, report.problem))))))
    if report.questions and st.button("Keep them"):
        save("Generated questions", dump_jsonl(report.questions), "generated.jsonl")
