"""A run on the Evaluate page: its figures, what is significant in words, the charts, an earlier run beside it, its files."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
import streamlit as st

from normrag_core.evaluation import records
from normrag_core.evaluation.comparison import changed_settings, circumstances, compare_runs
from normrag_core.evaluation.findings import judge
from normrag_core.evaluation.metrics import METRICS, READING_WORDS, parse_label
from normrag_core.evaluation.reproduction import MODULES
from normrag_core.evaluation.runs import RunResult
from normrag_core.evaluation.statistics import Comparison, Interval, bootstrap_table, compare
from pages import _escape as escape
from pages import _evaluation as evaluation
from pages import _evaluation_charts as charts
from pages import _state as state

BY_WORDS = METRICS["R_words"].label(READING_WORDS)


def show(result: RunResult, earlier: dict[str, RunResult]) -> None:
    """earlier: the runs that it can be compared with, by name."""
    _circumstances(result)
    _table(result)
    _words(result)
    _figures(result)
    if earlier:
        _against(result, earlier)


def _circumstances(result: RunResult) -> None:
    q = result.question_set
    name, model = escape.markdown(str(q["name"])), escape.markdown(result.model or "no embedding model")
    times = ", ".join(f"{what} {seconds:.1f}" for what, seconds in result.shares.items() if seconds >= 0.01 * result.seconds)
    st.caption(
        f"{name}: {q['questions']} questions with {q['goals']} witnesses, found from {result.threshold:.0%} of their words on; "
        f"{result.corpus['documents']} documents, {model}, NormRAG {result.version}, seed {result.seed}.  \n"
        f"{result.seconds:.1f} s in all: {times}. Brackets hold 95 % bootstrap intervals."
    )
    if result.corpus["fingerprint"] != state.corpus().fingerprint:
        st.warning("This run was made with other documents than those loaded now.")
    for note in sorted({f"{c.name}: {n}" for c in result.configurations for n in c.notes if "skipped" in n}):
        st.warning(escape.markdown(note))


def _table(result: RunResult) -> None:
    names = [n for n, m in METRICS.items() if m.unit == "results" and _defined(result, m.label(max(result.ks)))]
    kept = st.session_state.get("evaluate_metrics", ["R", "AP", "MRR"])
    st.session_state["evaluate_metrics_box"] = [n for n in kept if n in names]
    shown = st.multiselect(
        "Metrics",
        names,
        key="evaluate_metrics_box",
        on_change=evaluation.keep,
        args=("evaluate_metrics",),
        format_func=lambda n: f"{n}: {METRICS[n].title}",
        help="Explained at the end of the page",
    )
    labels = [METRICS[n].label(k) for n in shown for k in result.ks] + [BY_WORDS]
    intervals = _intervals(result, labels)
    rows = [
        {
            "configuration": c.name,
            **{label: f"{i.mean:.3f} [{i.low:.2f}, {i.high:.2f}]" for label in labels if (i := intervals[c.name, label])},
            "ceiling": f"{c.ceiling:.3f}",
            "ms": f"{1000 * c.seconds / len(c.questions):.1f}",
        }
        for c in result.configurations
    ]
    said = {
        "configuration": st.column_config.TextColumn(pinned=True),
        "ceiling": st.column_config.TextColumn(
            help="Share of the witnesses that some chunk can satisfy: no recall is above it"
        ),
        "ms": st.column_config.TextColumn(help="Milliseconds a question"),
        BY_WORDS: st.column_config.TextColumn(help=METRICS["R_words"].description),
    }
    st.dataframe(pd.DataFrame(rows), hide_index=True, column_config=said)
    lost = [(c.name, len(c.unreachable)) for c in result.configurations if c.unreachable]
    if lost:
        with st.expander("Witnesses that no chunk can satisfy"):
            goals = result.question_set["goals"]
            st.markdown("; ".join(f"{escape.markdown(n)}: {count} of {goals} ({count / goals:.1%})" for n, count in lost))
            by_id = {c.name: ", ".join(dict.fromkeys(q for q, _ in c.unreachable)) for c in result.configurations}
            st.dataframe(pd.DataFrame(by_id.items(), columns=["configuration", "questions"]), hide_index=True)


def _defined(result: RunResult, label: str) -> bool:
    """Whether the metric says something about any question of the run."""
    return not all(np.isnan(v).all() for v in result.values(label).values())


def _intervals(result: RunResult, labels: Sequence[str]) -> dict[tuple[str, str], Interval | None]:
    """(configuration, label) → interval: those of the run, and those of metrics that were not asked for when it was made."""
    found: dict[tuple[str, str], Interval | None] = {}
    for label in labels:
        if any(label in c.intervals for c in result.configurations):
            found |= {(c.name, label): c.intervals.get(label) for c in result.configurations}
            continue
        values = result.values(label)
        table = bootstrap_table(np.stack(list(values.values()), axis=1), seed=result.seed)
        found |= {(name, label): interval for name, interval in zip(values, table, strict=True)}
    return found


def _labels(result: RunResult) -> list[str]:
    """What can be compared, the largest K first."""
    names = [n for n, m in METRICS.items() if m.unit == "results"]
    return [x for n in names for k in reversed(result.ks) if _defined(result, x := METRICS[n].label(k))] + [BY_WORDS]


def _say(comparisons: Sequence[Comparison]) -> None:
    same = [c for c in comparisons if not c.wins + c.losses]
    for comparison in sorted((c for c in comparisons if c not in same), key=lambda c: not c.significant):
        verdict, _, figures = map(escape.markdown, comparison.sentence.rpartition(" ("))
        st.markdown(f"**{verdict}** ({figures}" if comparison.significant else f"{verdict} ({figures}")
    if same:
        names = escape.markdown(", ".join(c.a for c in same))
        st.markdown(f"The same on all {same[0].n} questions: {names}.")


def _words(result: RunResult) -> None:
    names = [c.name for c in result.configurations]
    if len(names) < 2:
        return
    st.subheader("What is significant")
    left, right = st.columns(2)
    base = left.selectbox("Compared with", names, index=0)
    label = right.selectbox("In", _labels(result))
    pairs = [(n, base) for n in names if n != base]
    comparisons = compare(result.values(label), label, pairs, lower=parse_label(label)[0].lower)
    better = sum(c.significant and (c.difference.mean > 0) is not c.lower for c in comparisons)
    worse = sum(c.significant for c in comparisons) - better
    test = "Paired randomisation test over the questions, level 5 %, Holm's correction."
    if len(pairs) > 1:
        undecided = len(pairs) - better - worse
        test = (
            f"Of {len(pairs)} configurations {better} are significantly better than {escape.markdown(base)} in {label}, "
            f"{worse} significantly worse; for {undecided} no difference was found that luck would not explain. {test}"
        )
    st.caption(test)
    _say(comparisons)
    judged = judge(result, max(result.ks))
    if judged:
        with st.expander("The paper's findings on this run"):
            for j in judged:
                st.markdown(f"**{j.finding.text}: {j.verdict}**")
                for comparison in j.comparisons:
                    st.caption(escape.markdown(comparison.sentence))


def _figures(result: RunResult) -> None:
    st.subheader("Figures")
    names = [c.name for c in result.configurations]
    steps = [(a, b, what) for (b, _), (a, what) in pairwise(MODULES) if a in names and b in names]
    titles = ["Recall", "AP", "MRR", *(["Contribution of each module"] if steps else [])]
    tabs = st.tabs(titles)
    for tab, metric in zip(tabs, ("R", "AP", "MRR"), strict=False):
        with tab:
            st.altair_chart(charts.figure(result, metric), width="stretch")
    if steps:
        with tabs[-1]:
            _steps(result, steps)
    shown = st.multiselect("By question type and by first relevant rank, for", names, names[:1] + names[-1:])
    if shown:
        left, right = st.columns(2)
        left.altair_chart(charts.by_type(result, METRICS["R"].label(max(result.ks)), shown), width="stretch")
        right.altair_chart(charts.first_ranks(result, shown), width="stretch")


def _steps(result: RunResult, steps: Sequence[tuple[str, str, str]]) -> None:
    """The ladder: what each module adds to the configuration without it."""
    k = max(result.ks)
    label = st.radio("In", [f"R@{k}", f"AP@{k}", f"MRR@{k}"], horizontal=True, key="evaluate_ladder")
    comparisons = compare(result.values(label), label, [(a, b) for a, b, _ in steps])
    st.altair_chart(charts.steps(comparisons, [what for *_, what in steps]), width="stretch")
    for (*_, what), comparison in zip(steps, comparisons, strict=True):
        st.caption(f"**{escape.markdown(what)}**: {escape.markdown(comparison.sentence)}")


def _against(result: RunResult, earlier: dict[str, RunResult]) -> None:
    st.subheader("Against an earlier run")
    left, right = st.columns(2)
    chosen = left.selectbox("Earlier run", list(earlier), index=None, placeholder="None", format_func=escape.plain)
    label = right.selectbox("In", _labels(result), key="evaluate_against_label")
    if chosen is None:
        return
    old = earlier[chosen]
    for text in circumstances(result, old):
        st.warning(escape.markdown(f"Not only the settings changed: {text}."))
    names = [c.name for c in result.configurations if c.name in {o.name for o in old.configurations}]
    if not names:
        st.info("The two runs have no configuration of the same name.")
        return
    try:
        _say(compare_runs(result, old, label, names))
    except ValueError as error:
        st.info(escape.markdown(str(error)))
    for name in names:
        for setting, (was, now) in changed_settings(result, old, name).items():
            st.caption(escape.markdown(f"{name}: {setting} was {was}, is {now}"))


def downloads(result: RunResult) -> None:
    """Its files, and what its figures mean."""
    with st.popover("Take the results along", icon=":material/download:"):
        st.download_button("RESULTS.json", lambda: records.dump(result), "RESULTS.json")
        st.download_button("CSV of the figures", lambda: records.to_metrics_csv(result), "figures.csv")
        st.download_button("CSV, one row a witness", lambda: records.to_csv(result), "results.csv")
        st.download_button("LaTeX table", lambda: records.to_latex(result), "results.tex")
        name = st.selectbox("TREC files of", [c.name for c in result.configurations])
        st.download_button("TREC run", lambda: records.to_trec_run(result, name), f"{name}.run")
        st.download_button("TREC qrels", lambda: records.to_trec_qrels(result, name), f"{name}.qrels")
    with st.expander("What the figures mean"):
        rows = [(m.title, m.name, m.formula, m.description, m.source) for m in METRICS.values()]
        st.dataframe(pd.DataFrame(rows, columns=["metric", "name", "formula", "meaning", "source"]), hide_index=True)
