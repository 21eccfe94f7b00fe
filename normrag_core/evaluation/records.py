"""RunResult ⇄ JSON (the RESULTS.json of the command line), and exports: CSV, TREC run and qrels, LaTeX."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from normrag_core.config import RetrieverConfig
from normrag_core.evaluation.runs import ConfigurationResult, QuestionResult, RunResult
from normrag_core.evaluation.statistics import Interval
from normrag_core.graph.export import safe_cell


class ResultsError(ValueError):
    """The JSON is not a run's record; the message says what was expected and what was found."""


def to_object(result: RunResult) -> dict[str, Any]:
    """Plain objects in the form of RESULTS.json."""
    return {
        "corpus": result.corpus,
        "model": result.model,
        "revision": result.revision,
        "version": result.version,
        "seed": result.seed,
        "threshold": result.threshold,
        "ks": list(result.ks),
        "started": result.started,
        "seconds": round(result.seconds, 3),
        "matching_seconds": round(result.matching_seconds, 3),
        "statistics_seconds": round(result.statistics_seconds, 3),
        "question_set": result.question_set,
        "questions": [{"id": i, "type": t, "document": d, "cites": c} for i, t, d, c in result.questions],
        "configurations": [
            {
                "name": c.name,
                "settings": asdict(c.settings),
                "metrics": {k: round(v, 6) for k, v in c.metrics.items()},
                "intervals": {k: [round(i.low, 6), round(i.high, 6)] for k, i in c.intervals.items()},
                "ceiling": round(c.ceiling, 6),
                "unreachable": [list(u) for u in c.unreachable],
                "questions": [
                    {
                        "id": q.id,
                        "ranks": list(q.ranks),
                        "words": list(q.words),
                        "top": list(q.top),
                        "scores": [round(s, 6) for s in q.scores],
                        **({} if q.wrong is None else {"wrong": list(q.wrong)}),
                    }
                    for q in c.questions
                ],
                "seconds": round(c.seconds, 3),
                "milliseconds": c.shares,
                "notes": list(c.notes),
            }
            for c in result.configurations
        ],
        "judgements": result.judgements,
        "rejected": result.rejected,
    }


def dump(result: RunResult) -> str:
    """RESULTS.json as text."""
    return json.dumps(to_object(result), ensure_ascii=False)


def load(text: str) -> RunResult:
    """The run that `dump` wrote. ResultsError where it is not one."""
    try:
        data = json.loads(text)
        return RunResult(
            corpus=data["corpus"],
            model=data["model"],
            revision=data.get("revision", ""),
            version=data.get("version", ""),
            seed=data.get("seed", 0),
            threshold=data.get("threshold", 0.75),
            ks=tuple(data["ks"]),
            question_set=data.get("question_set", {}),
            questions=tuple((q["id"], q["type"], q["document"], q["cites"]) for q in data["questions"]),
            configurations=tuple(_configuration(c) for c in data["configurations"]),
            judgements={
                k: {q: tuple(map(tuple, goals)) for q, goals in rows.items()} for k, rows in data.get("judgements", {}).items()
            },
            rejected={k: {q: tuple(ids) for q, ids in rows.items()} for k, rows in data.get("rejected", {}).items()},
            started=data.get("started", ""),
            seconds=data.get("seconds", 0.0),
            matching_seconds=data.get("matching_seconds", 0.0),
            statistics_seconds=data.get("statistics_seconds", 0.0),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResultsError(f"expected the record of a run (RESULTS.json); found {type(error).__name__}: {error}") from None


def _configuration(c: dict[str, Any]) -> ConfigurationResult:
    return ConfigurationResult(
        name=c["name"],
        settings=RetrieverConfig.from_json(c["settings"]),
        metrics=c["metrics"],
        ceiling=c["ceiling"],
        questions=tuple(
            QuestionResult(
                q["id"],
                tuple(q["ranks"]),
                tuple(q["words"]),
                tuple(q["top"]),
                tuple(q["scores"]),
                tuple(q["wrong"]) if "wrong" in q else None,
            )
            for q in c["questions"]
        ),
        seconds=c["seconds"],
        intervals={k: Interval(c["metrics"][k], low, high) for k, (low, high) in c["intervals"].items()},
        unreachable=tuple((q, g) for q, g in c["unreachable"]),
        shares=c.get("milliseconds", {}),
        notes=tuple(c.get("notes", ())),
    )


def to_csv(result: RunResult) -> str:
    """One row a configuration, question and goal: name, id, type, goal, rank, words read. No cell is a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["configuration", "question", "type", "goal", "rank", "words"])
    for c in result.configurations:
        for (_, kind, *_), q in zip(result.questions, c.questions, strict=True):
            for goal, (rank, words) in enumerate(zip(q.ranks, q.words, strict=True), 1):
                cells = (c.name, q.id, kind, goal, "" if rank is None else rank, "" if words is None else words)
                writer.writerow([safe_cell(cell) for cell in cells])
    return out.getvalue()


def to_metrics_csv(result: RunResult) -> str:
    """One row a configuration and metric: name, metric, mean, low and high end of its 95 % interval."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["configuration", "metric", "mean", "low", "high"])
    for c in result.configurations:
        for label, value in c.metrics.items():
            interval = c.intervals.get(label)
            ends = ("", "") if interval is None else (f"{interval.low:.6f}", f"{interval.high:.6f}")
            writer.writerow([safe_cell(c.name), label, f"{value:.6f}", *ends])
    return out.getvalue()


def to_trec_run(result: RunResult, name: str) -> str:
    """TREC run of one configuration: `qid Q0 docno rank score tag`. Blanks in ids become "_": the format separates by them."""
    c = result.configuration(name)
    # Scores that fall with the rank: TREC tools sort by score, and ties would come out in another order than ours.
    return "".join(
        f"{_id(q.id)} Q0 {_id(chunk)} {rank} {len(q.top) - rank + 1} {_id(name)}\n"
        for q in c.questions
        for rank, chunk in enumerate(q.top, 1)
    )


def to_trec_qrels(result: RunResult, name: str) -> str:
    """TREC qrels over the chunks of one configuration: 1 for every chunk that satisfies a goal, 0 for those judged wrong.

    TREC tools count each such chunk; our metrics count a goal once. Where every goal has one chunk they agree.
    """
    from normrag_core.evaluation.runs import Matcher

    key = Matcher.key(result.configuration(name).settings)
    rejected = result.rejected.get(key, {})
    lines = []
    for question, goals in result.judgements[key].items():
        lines += [f"{_id(question)} 0 {_id(chunk)} 1\n" for chunk in sorted({c for g in goals for c in g})]
        lines += [f"{_id(question)} 0 {_id(chunk)} 0\n" for chunk in sorted(rejected.get(question, ()))]
    return "".join(lines)


def to_latex(result: RunResult, metric_names: Sequence[str] = ("R", "AP", "MRR")) -> str:
    """The paper's table: configurations × metrics × K, best of each column in bold (needs booktabs)."""
    columns = [f"{m}@{k}" for m in metric_names for k in result.ks]
    best = {c: max(round(r.metrics[c], 3) for r in result.configurations) for c in columns}
    heads = [_latex(c) for c in ("configuration", *columns)]
    lines = [
        r"\begin{tabular}{l" + "r" * len(columns) + "}",
        r"\toprule",
        " & ".join(heads) + r" \\",
        r"\midrule",
    ]
    for r in result.configurations:
        cells = [f"{r.metrics[c]:.3f}" for c in columns]
        cells = [rf"\textbf{{{v}}}" if round(r.metrics[c], 3) == best[c] else v for v, c in zip(cells, columns, strict=True)]
        lines.append(" & ".join([_latex(r.name), *cells]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


_LATEX = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


def _latex(text: str) -> str:
    """Text that LaTeX prints as it is: a user's preset may be called anything."""
    return "".join(_LATEX.get(c, c) for c in " ".join(text.split()))


def _id(text: str) -> str:
    return "_".join(text.split())
