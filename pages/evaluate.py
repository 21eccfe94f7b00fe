"""Evaluate: does structure help, does smoothing, does expansion, and on my standards? Runs, statistics in words, sweeps."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from normrag_core.config import PAPER_PRESETS, PRESETS, RetrieverConfig
from normrag_core.evaluation import records
from normrag_core.evaluation.findings import judge
from normrag_core.evaluation.metrics import METRICS
from normrag_core.evaluation.questions import Question, QuestionSet, Witness
from normrag_core.evaluation.runs import RunResult
from normrag_core.evaluation.statistics import compare
from normrag_core.evaluation.sweeps import grid
from pages import _dialogs as dialogs
from pages import _escape as escape
from pages import _evaluation as evaluation
from pages import _evaluation_charts as charts
from pages import _question_sets as question_sets
from pages import _state as state
from pages._evaluation import Job, Tuning

CURRENT = "Search page's settings"
AXES: dict[str, tuple[float | int, ...]] = {
    "alpha": (0.4, 0.6, 0.8, 1.0),
    "rrf_k": (5, 20, 60, 120),
    "prefilter_n": (50, 100, 200, 500),
    "dense_weight": (0.2, 0.4, 0.7, 1.0),
    "name_weight": (0.0, 1.0, 2.0, 3.0),
    "bm25_k1": (0.6, 0.9, 1.2, 1.5),
    "bm25_b": (0.4, 0.6, 0.75),
    "idf_power": (0.5, 0.7, 1.0),
    "context_weight": (0.5, 1.0, 2.0),
    "max_words": (150, 300, 500),
    "seeds": (3, 5, 10, 20),
    "hops": (1, 2),
}


def page() -> None:
    if not state.corpus().documents:
        st.html(
            '<div class="nr-empty"><b>No standards loaded</b>Add PDFs of standards, or the sample, on the Corpus page; '
            "then this page measures how well their clauses are found.</div>"
        )
        return
    questions = question_sets.choose()
    measure, tune = st.tabs(["Measure", "Sweep"])
    with measure:
        if questions is not None:
            _start(questions)
        _progress("evaluate_job")
        result = _result()
        if result is not None:
            _show(result, questions)
    with tune:
        if questions is not None:
            _sweep(questions)


def _configs() -> dict[str, RetrieverConfig]:
    return {CURRENT: state.config()} | {n: p.config for n, p in state.presets().items()}


def _start(questions: QuestionSet) -> None:
    configs = _configs()
    left, right, button = st.columns([5, 2, 2], vertical_alignment="bottom")
    kept = [n for n in st.session_state.get("evaluate_names", [*PAPER_PRESETS, "bm25", "tuned"]) if n in configs]
    names = left.multiselect("Configurations", list(configs), kept)
    st.session_state["evaluate_names"] = names
    ks = right.multiselect("K", [1, 3, 5, 10, 20, 50], [1, 5, 10], help="Numbers of results looked at")
    job: Job | None = st.session_state.get("evaluate_job")
    idle = job is None or not job.running
    if button.button(
        "Run", type="primary", icon=":material/play_arrow:", disabled=not (names and ks and idle), width="stretch"
    ):
        chosen = {n: configs[n] for n in names}
        st.session_state["evaluate_job"] = evaluation.start_run(state.library(), questions, chosen, sorted(ks))
        st.session_state.pop("evaluate_run", None)
        st.rerun()


@st.fragment(run_every=0.5)
def _watch(name: str) -> None:
    job: Job = st.session_state[name]
    if not job.running:
        dialogs.redraw()
    left, right = st.columns([6, 1], vertical_alignment="center")
    left.progress(job.share, f"{job.title}: {job.done} of {job.total}, {job.what}")
    if right.button("Cancel", key=f"{name}_cancel"):
        job.stop.set()


def _progress(name: str) -> None:
    job: Job | None = st.session_state.get(name)
    if job is None:
        return
    if job.running:
        _watch(name)
    elif job.error:
        st.error(escape.markdown(job.error))


def _result() -> RunResult | None:
    """The run just made, or one kept in the workspace."""
    job: Job | None = st.session_state.get("evaluate_job")
    kept = state.library().workspace.runs()
    names = sorted(kept, reverse=True)
    if job is not None and isinstance(job.result, RunResult) and "evaluate_run" not in st.session_state:
        return job.result
    if not names:
        if job is None or not job.running:
            st.caption("No run yet. Upload or make questions above; then each preset can be measured on them.")
        return None
    with st.popover("Earlier runs", icon=":material/history:"):
        chosen = st.selectbox("Run", names)
        if st.button("Show it"):
            st.session_state["evaluate_run"] = chosen
            st.rerun()
        if st.button("Remove it"):
            state.library().workspace.remove_run(chosen)
            st.session_state.pop("evaluate_run", None)
            st.rerun()
    shown = st.session_state.get("evaluate_run")
    if shown not in kept:
        return None
    try:
        return records.load(json.dumps(kept[shown]))
    except records.ResultsError as error:
        st.error(escape.markdown(str(error)))
        return None


def _show(result: RunResult, questions: QuestionSet | None) -> None:
    q = result.question_set
    name, model = escape.markdown(str(q["name"])), escape.markdown(result.model or "no embedding model")
    st.caption(
        f"{name}: {q['questions']} questions with {q['goals']} witnesses, {result.corpus['documents']} documents, "
        f"{model}, NormRAG {result.version}, seed {result.seed}, {result.seconds:.1f} s "
        f"(matching {result.matching_seconds:.1f} s). Brackets hold 95 % bootstrap intervals."
    )
    if result.corpus["fingerprint"] != state.corpus().fingerprint:
        st.warning("This run was made with other documents than those loaded now.")
    for note in sorted({f"{c.name}: {n}" for c in result.configurations for n in c.notes if "skipped" in n}):
        st.warning(escape.markdown(note))
    st.dataframe(_table(result), hide_index=True)
    _words(result)
    _figures(result)
    _questions(result, questions)
    _downloads(result)
    with st.expander("What the figures mean"):
        rows = [(m.title, m.name, m.formula, m.description, m.source) for m in METRICS.values()]
        st.dataframe(pd.DataFrame(rows, columns=["metric", "name", "formula", "meaning", "source"]), hide_index=True)


def _table(result: RunResult) -> pd.DataFrame:
    labels = [f"{m}@{k}" for m in ("R", "AP", "MRR") for k in result.ks] + ["R@3000w"]
    labels += [f"Both@{k}" for k in result.ks if any(result.citation)]
    rows = []
    for c in result.configurations:
        figures = {label: f"{i.mean:.3f} [{i.low:.2f}, {i.high:.2f}]" for label in labels if (i := c.intervals.get(label))}
        rows.append(
            {
                "configuration": c.name,
                **figures,
                "ceiling": f"{c.ceiling:.3f}",
                "ms": f"{1000 * c.seconds / len(c.questions):.1f}",
            }
        )
    return pd.DataFrame(rows)


def _words(result: RunResult) -> None:
    names = [c.name for c in result.configurations]
    if len(names) < 2:
        return
    st.subheader("What is significant")
    left, right = st.columns(2)
    base = left.selectbox("Compared with", names, index=0)
    label = right.selectbox("In", [f"{m}@{k}" for m in ("R", "AP", "MRR", "nDCG") for k in reversed(result.ks)] + ["R@3000w"])
    pairs = [(n, base) for n in names if n != base]
    for comparison in compare(result.values(label), label, pairs):
        sentence = escape.markdown(comparison.sentence)
        st.markdown(f"**{sentence}**" if comparison.significant else sentence)
    judged = judge(result, max(result.ks))
    if judged:
        with st.expander("The paper's findings on this run"):
            for j in judged:
                st.markdown(f"**{j.finding.text}: {j.verdict}**")
                for comparison in j.comparisons:
                    st.caption(escape.markdown(comparison.sentence))


def _figures(result: RunResult) -> None:
    st.subheader("Figures")
    for tab, metric in zip(st.tabs(["Recall", "AP", "MRR"]), ("R", "AP", "MRR"), strict=True):
        with tab:
            st.altair_chart(charts.figure(result, metric), width="stretch")
    names = [c.name for c in result.configurations]
    shown = st.multiselect("By question type and by first relevant rank, for", names, names[:1] + names[-1:])
    if shown:
        left, right = st.columns(2)
        left.altair_chart(charts.by_type(result, f"R@{max(result.ks)}", shown), width="stretch")
        right.altair_chart(charts.first_ranks(result, shown), width="stretch")


def _questions(result: RunResult, questions: QuestionSet | None) -> None:
    st.subheader("Question by question")
    names = [c.name for c in result.configurations]
    left, middle, right = st.columns(3)
    a = left.selectbox("Configuration", names, index=len(names) - 1, key="evaluate_a")
    b = middle.selectbox("against", names, index=0, key="evaluate_b")
    which = right.selectbox("Show", ["all", f"only {a} finds", f"only {b} finds", "neither finds"], key="evaluate_which")
    k = max(result.ks)
    asked = {q.id: q for q in questions} if questions is not None else {}
    rows = []
    for (id_, kind, *_), qa, qb in zip(
        result.questions, result.configuration(a).questions, result.configuration(b).questions, strict=True
    ):
        found = [any(r is not None and r <= k for r in q.ranks) for q in (qa, qb)]
        if which.startswith("only") and found != ([True, False] if which == f"only {a} finds" else [False, True]):
            continue
        if which == "neither finds" and any(found):
            continue
        text = asked[id_].question if id_ in asked else ""
        rows.append({"id": id_, "type": kind, "question": text, a: _ranks(qa.ranks), f"{b} ": _ranks(qb.ranks)})
    st.caption(f"{len(rows)} of {len(result.questions)} questions; ranks of each witness, – where no result holds it")
    event = st.dataframe(pd.DataFrame(rows), hide_index=True, on_select="rerun", selection_mode="single-row", height=280)
    chosen = event.selection.rows
    if chosen and rows and rows[chosen[0]]["id"] in asked:
        _drill(result, asked[rows[chosen[0]]["id"]], a)


def _drill(result: RunResult, question: Question, name: str) -> None:
    st.markdown(f"**{escape.markdown(question.question)}**")
    if question.answer:
        st.caption(f"Expected answer: {escape.markdown(question.answer)}")
    for goal in question.goals:
        if isinstance(goal, Witness):
            said = f"Witness in {goal.file}, clause {goal.clause}, page {goal.page}: {goal.text}"
            st.caption(escape.markdown(said))
        else:
            st.caption(escape.markdown(f"Relevant: {goal.document} {goal.code}"))
    at = [id_ for id_, *_ in result.questions].index(question.id)
    rows = [{"configuration": c.name, "ranks": _ranks(c.questions[at].ranks)} for c in result.configurations]
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    if st.button(f"See why on the Search page with {escape.markdown(name)}", icon=":material/search:"):
        config = result.configuration(name).settings
        preset = name if name in PRESETS else state.view().preset
        state.set_view(state.view().ask(question.question).with_(preset=preset, own="", config=config))
        st.switch_page(state.PAGES / "search.py")


def _ranks(ranks: tuple[int | None, ...]) -> str:
    return ", ".join("–" if r is None else str(r) for r in ranks)


def _downloads(result: RunResult) -> None:
    with st.popover("Take the results along", icon=":material/download:"):
        name = st.selectbox("TREC files of", [c.name for c in result.configurations])
        st.download_button("RESULTS.json", lambda: records.dump(result), "RESULTS.json")
        st.download_button("CSV, one row a witness", lambda: records.to_csv(result), "results.csv")
        st.download_button("TREC run", lambda: records.to_trec_run(result, name), f"{name}.run")
        st.download_button("TREC qrels", lambda: records.to_trec_qrels(result, name), f"{name}.qrels")
        st.download_button("LaTeX table", lambda: records.to_latex(result), "results.tex")


def _sweep(questions: QuestionSet) -> None:
    configs = _configs()
    left, middle, right = st.columns(3)
    base = configs[left.selectbox("Start from", list(configs), index=list(configs).index("tuned"))]
    rows = middle.selectbox("Rows", list(AXES), index=list(AXES).index("alpha"))
    columns = right.selectbox("Columns", [a for a in AXES if a != rows], index=2)
    objective = left.selectbox("By", ["R@10", "AP@10", "MRR@10", "R@5", "R@1"])
    axes = {}
    for column, name in zip((middle, right), (rows, columns), strict=True):
        axes[name] = column.multiselect(f"Values of {name}", AXES[name], AXES[name], key=f"evaluate_axis_{name}")
    try:
        settings = grid(base, axes)
    except ValueError as error:
        st.info(escape.markdown(str(error)))
        return
    job: Job | None = st.session_state.get("evaluate_sweep")
    running = job is not None and job.running
    if st.button(f"Try {len(settings)} settings", type="primary", disabled=running):
        st.session_state["evaluate_sweep"] = evaluation.start_sweep(state.library(), questions, settings, objective)
        st.session_state["evaluate_swept"] = (rows, columns)
        st.rerun()
    _progress("evaluate_sweep")
    if job is not None and isinstance(job.result, Tuning):
        _swept(job.result, *st.session_state["evaluate_swept"])


def _swept(tuning: Tuning, rows: str, columns: str) -> None:
    st.altair_chart(charts.heat_map(tuning.sweep, tuning.objective, rows, columns), width="stretch")
    means = tuning.sweep.means(tuning.objective)
    best = tuning.choice.best if tuning.choice else tuning.sweep.configs[int(means.argmax())]
    chosen = f"{rows} {getattr(best, rows)}, {columns} {getattr(best, columns)}"
    st.markdown(
        f"Best of {len(means)} settings by {tuning.objective}: **{chosen}**, "
        f"{means.max():.3f} on the questions that chose it. {tuning.sweep.seconds:.1f} s."
    )
    if tuning.choice is None:
        st.caption("All questions are about one document, so none can be held out: the figure flatters.")
    else:
        honest = tuning.choice.interval(tuning.objective)
        st.markdown(f"Nested cross-validation, folds by document, so that tuning does not flatter itself: **{honest}**.")
    if st.button("Use this setting on the Search page", icon=":material/search:"):
        state.set_view(state.view().with_(own="", config=best))
        st.switch_page(state.PAGES / "search.py")


page()
