"""Evaluate: does structure help, does smoothing, does expansion, and on my standards? Runs, statistics in words, sweeps."""

from __future__ import annotations

import numpy as np
import streamlit as st

from normrag_core.config import PAPER_PRESETS, RetrieverConfig
from normrag_core.evaluation.metrics import parse_label
from normrag_core.evaluation.questions import QuestionSet
from normrag_core.evaluation.statistics import compare
from normrag_core.evaluation.sweeps import grid
from pages import _drill as drill
from pages import _escape as escape
from pages import _evaluation as evaluation
from pages import _evaluation_charts as charts
from pages import _faults as faults
from pages import _job_view as job_view
from pages import _question_sets as question_sets
from pages import _run_view as run_view
from pages import _state as state
from pages._evaluation import Tuning

CURRENT = "Search page's settings"
RUN, SWEEP = "run", "sweep"
AXES: dict[str, tuple[float | int, ...]] = {
    "alpha": (0.2, 0.4, 0.6, 0.8, 1.0),
    "rrf_k": (5, 20, 60, 120),
    "prefilter_n": (50, 100, 200, 500),
    "dense_weight": (0.1, 0.2, 0.4, 0.7, 1.0),
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
        job_view.progress(RUN)
        _result(questions)
    with tune:
        if questions is not None:
            _sweep(questions)
        else:
            st.caption("Choose a question set above; then settings can be tried out on it.")


def _configs() -> dict[str, RetrieverConfig]:
    return {CURRENT: state.config()} | {n: p.config for n, p in state.presets().items()}


def _start(questions: QuestionSet) -> None:
    configs = _configs()
    kept = st.session_state.get("evaluate_names", [*PAPER_PRESETS, "bm25", "tuned"])
    st.session_state["evaluate_names_box"] = [n for n in kept if n in configs]
    names = st.multiselect(
        "Configurations",
        list(configs),
        key="evaluate_names_box",
        on_change=evaluation.keep,
        args=("evaluate_names",),
        format_func=escape.plain,
    )
    left, middle, button = st.columns([3, 3, 2], vertical_alignment="bottom")
    ks = left.multiselect("K", [1, 3, 5, 10, 20, 50], [1, 5, 10], help="Numbers of results looked at")
    share = middle.number_input(
        "Found from, % of a witness's words",
        min_value=25,
        max_value=100,
        value=75,
        step=5,
        help="A result counts when this share of the witness's words stands in it in order. The paper's value is 75.",
    )
    job = evaluation.job(state.library(), RUN)
    idle = job is None or not job.running
    if button.button(
        "Run", type="primary", icon=":material/play_arrow:", disabled=not (names and ks and idle), width="stretch"
    ):
        chosen = {n: configs[n] for n in names}
        begun = evaluation.start_run(state.library(), questions, chosen, sorted(ks), share / 100)
        evaluation.begin(state.library(), RUN, begun)
        st.rerun()


def _result(questions: QuestionSet | None) -> None:
    """The newest run, or the one chosen of those that the workspace keeps."""
    library = state.library()
    runs, problems = evaluation.runs(library)
    for fault in problems:
        st.error(escape.markdown(fault))
    if not runs:
        job = evaluation.job(library, RUN)
        if job is None or not job.running:
            st.caption("No run yet. Upload or make questions above; then each preset can be measured on them.")
        return
    names = list(runs)
    if st.session_state.get("evaluate_newest") != names[0]:  # One that has just been made is shown.
        st.session_state["evaluate_newest"] = st.session_state["evaluate_run"] = names[0]
    kept = st.session_state.get("evaluate_run")
    st.session_state["evaluate_run_box"] = kept if kept in runs else names[0]
    left, right = st.columns([6, 1], vertical_alignment="bottom")
    chosen = left.selectbox(
        "Shown run",
        names,
        key="evaluate_run_box",
        on_change=evaluation.keep,
        args=("evaluate_run",),
        format_func=escape.plain,
        help="Kept in the workspace",
    )
    if right.button("Remove", icon=":material/delete:", width="stretch"):
        with faults.told():
            evaluation.remove_run(library, chosen)
            st.session_state.pop("evaluate_run", None)
            st.rerun()
    result = runs[chosen]
    run_view.show(result, {n: r for n, r in runs.items() if n != chosen})
    drill.show(result, questions)
    run_view.downloads(result)


def _sweep(questions: QuestionSet) -> None:
    configs = _configs()
    left, middle, right = st.columns(3)
    base = configs[left.selectbox("Start from", list(configs), index=list(configs).index("tuned"), format_func=escape.plain)]
    rows = middle.selectbox("Rows", list(AXES), index=list(AXES).index("alpha"))
    columns = right.selectbox("Columns", [a for a in AXES if a != rows], index=2)
    third = left.selectbox("And", [a for a in AXES if a not in (rows, columns)], index=None, placeholder="Nothing else")
    axes = {}
    for column, name in zip((middle, right, left), (rows, columns, third), strict=True):
        if name is None:
            continue
        key = f"evaluate_axis_{name}"
        axes[name] = column.multiselect(
            f"Values of {name}", AXES[name], AXES[name], key=key, accept_new_options=True, help="Type to try another value"
        )
    objective = middle.selectbox("By", ["R@10", "AP@10", "MRR@10", "R@5", "R@1"])
    try:
        settings = grid(base, {name: [_number(name, v) for v in values] for name, values in axes.items()})
    except ValueError as error:
        st.info(escape.markdown(str(error)))
        return
    job = evaluation.job(state.library(), SWEEP)
    running = job is not None and job.running
    if st.button(f"Try {len(settings)} settings", type="primary", disabled=running):
        begun = evaluation.start_sweep(state.library(), questions, base, settings, objective, tuple(axes))
        evaluation.begin(state.library(), SWEEP, begun)
        st.rerun()
    job_view.progress(SWEEP)
    if job is not None and isinstance(job.result, Tuning):
        _swept(job.result)


def _number(name: str, given: float | str) -> float | int:
    """A value of a setting; a typed one comes as text. ValueError says what is no number."""
    if not isinstance(given, str):
        return given
    try:
        return type(AXES[name][0])(given.replace(",", "."))
    except ValueError:
        raise ValueError(f"{name}: expected a number such as {AXES[name][0]}; found {given!r}") from None


def _swept(tuning: Tuning) -> None:
    rows, columns, *_ = tuning.axes
    label = tuning.objective
    st.altair_chart(charts.heat_map(tuning.sweep, label, rows, columns), width="stretch")
    means = tuning.sweep.means(label)
    best = tuning.choice.best if tuning.choice else tuning.sweep.configs[int(means.argmax())]
    chosen = ", ".join(f"{name} {getattr(best, name)}" for name in tuning.axes)
    if len(tuning.axes) > 2:
        st.caption(f"Each cell holds the best of the values of {tuning.axes[2]}.")
    st.markdown(
        f"Best of {len(means)} settings by {label}: **{chosen}**, "
        f"{means.max():.3f} on the questions that chose it. {tuning.sweep.seconds:.1f} s."
    )
    if tuning.choice is None:
        st.caption("All questions are about one document, so none can be held out: the figure flatters.")
    else:
        honest = tuning.choice.interval(label)
        held: dict[str, np.ndarray] = {
            "the setting chosen on other documents": tuning.choice.held_out[label],
            "the one to start from": tuning.start[label],
        }
        st.markdown(f"Nested cross-validation, folds by document, so that tuning does not flatter itself: **{honest}**.")
        (comparison,) = compare(held, label, lower=parse_label(label)[0].lower)
        sentence = comparison.sentence
        st.markdown(escape.markdown(sentence[:1].upper() + sentence[1:]))
    if st.button("Use this setting on the Search page", icon=":material/search:"):
        state.set_view(state.view().with_(own="", config=best))
        st.switch_page(state.PAGES / "search.py")


page()
