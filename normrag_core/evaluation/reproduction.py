"""What docs/reproduction.md shows: the paper's presets on a corpus, the ladder of modules, and the tuned setting.

Everything is computed; a second run on the same files gives the same figures. `reproduction_report` writes it down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from normrag_core.config import PRESETS, RetrieverConfig
from normrag_core.evaluation.questions import QuestionSet
from normrag_core.evaluation.runs import Matcher, RunResult, Searcher, run
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

_PLAIN = PRESETS["plain-bm25"].config
TUNED = PRESETS["tuned"].config
_WHOLE = TUNED.with_(ranking="bm25", best_part=False, alpha=1.0)
_WORDS = _WHOLE.with_(prefilter_n=200, headings=True, idf_power=1.0, name_weight=0.0)
LADDER: tuple[tuple[str, RetrieverConfig], ...] = (
    ("plain BM25: README of rank_bm25, flat windows", _PLAIN),
    ("+ domain tokeniser and stemming", _PLAIN.with_(tokenizer="domain", stem=True)),
    ("+ whole clauses as chunks", _PLAIN.with_(tokenizer="domain", stem=True, chunking="structured")),
    ("+ title path beside the text", PRESETS["bm25"].config.with_(chunking="structured")),
    ("+ k1 0.9, b 0.6", _WORDS),
    ("+ named standard as one term", _WORDS.with_(name_weight=TUNED.name_weight)),
    ("+ rarity to the power 0.7", _WHOLE.with_(headings=True)),
    ("+ headings without text not ranked", _WHOLE),
    ("+ each clause by its best part", TUNED.with_(ranking="bm25", alpha=1.0)),
    ("+ cosine of 100 candidates, z-normalised sum", TUNED.with_(alpha=1.0)),
    ("+ smoothing (tuned)", TUNED),
)
DROPPED: tuple[tuple[str, RetrieverConfig], ...] = (
    ("RRF instead of the z-normalised sum", TUNED.with_(ranking="rrf")),
    ("abbreviations expanded", TUNED.with_(expand_abbreviations=True)),
    ("no stemming", TUNED.with_(stem=False)),
    ("200 candidates", TUNED.with_(prefilter_n=200)),
    ("50 candidates", TUNED.with_(prefilter_n=50)),
    ("rarity to the power 0.5", TUNED.with_(idf_power=0.5)),
    ("parts of 200 words", TUNED.with_(max_words=200)),
    ("title path counted twice", TUNED.with_(context_weight=2.0)),
    ("title path counted half", TUNED.with_(context_weight=0.5)),
    ("latest editions first", TUNED.with_(edition_preference="latest")),
    (
        "expansion, best-seed formula along citations",
        TUNED.with_(expansion=True, formula="best-seed", expansion_weight=0.3, expansion_relations=("cites", "cited-by")),
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
    dropped = run(retriever, questions, {LADDER[-1][0]: TUNED, **dict(DROPPED)}, KS, matcher=matcher)
    cut = None
    if cutting is not None:
        progress("long texts cut")
        cut = run(cutting, questions, {n: PRESETS[n].config for n in LONG_TEXTS}, KS, matcher=matcher)
    progress("tuning")
    if len({q.group for q in questions}) < 2:
        return Reproduction(presets, ladder, dropped, None, None, cut)
    tried = sweep(retriever, questions.questions, grid(TUNED, TUNING), ("R@10", "AP@10", "MRR@10"), matcher=matcher)
    return Reproduction(presets, ladder, dropped, tried, choose(tried, OBJECTIVE), cut)
