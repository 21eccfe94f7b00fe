"""A run: configurations × questions, once, whatever the number of Ks. Keeps everything needed to repeat or compare it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from normrag_core import __version__
from normrag_core.config import RetrieverConfig
from normrag_core.evaluation import metrics
from normrag_core.evaluation.matching import THRESHOLD, Matches, match
from normrag_core.evaluation.outcome import Outcome, first_ranks
from normrag_core.evaluation.questions import Question
from normrag_core.evaluation.statistics import SEED, Interval, bootstrap_table
from normrag_core.model import Chunk, Corpus
from normrag_core.trace import Trace

Progress = Callable[[int, int, str], None]
"""Called with (searches done, searches in all, name of the configuration)."""


class Searcher(Protocol):
    """What a run needs of a retriever."""

    @property
    def corpus(self) -> Corpus: ...

    def chunks(self, config: RetrieverConfig) -> Sequence[Chunk]: ...

    def search(self, question: str, config: RetrieverConfig) -> Trace: ...


class Cancelled(Exception):  # noqa: N818 - a wish that was met, not an error
    """The caller asked to stop; nothing of the run is kept."""


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """One question under one configuration.

    ranks: first rank of each goal, None where no result satisfies it. words: words to read up to that result. top: ids of
    the best chunks, as many as the largest K; scores: theirs. wrong: ranks of the results judged wrong; None where nothing was
    judged wrong for the question.
    """

    id: str
    ranks: tuple[int | None, ...]
    words: tuple[int | None, ...]
    top: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    wrong: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ConfigurationResult:
    """All questions under one configuration.

    metrics: label → mean. intervals: label → 95 % bootstrap interval. ceiling: mean share of a question's goals that some
    chunk satisfies, the bound of every R@K. unreachable: (question id, goal from 0) that no chunk satisfies. seconds: of the
    searches; shares: milliseconds by stage, summed over the questions.
    """

    name: str
    settings: RetrieverConfig
    metrics: dict[str, float]
    ceiling: float
    questions: tuple[QuestionResult, ...]
    seconds: float
    intervals: dict[str, Interval] = field(default_factory=dict)
    unreachable: tuple[tuple[str, int], ...] = ()
    shares: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def outcome(self, citation: Sequence[bool]) -> Outcome:
        """The ranks as the metrics read them. citation: for each question, whether it is a citation question."""
        rows = self.questions
        return Outcome.of([q.ranks for q in rows], [q.words for q in rows], citation, [q.wrong for q in rows])


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run found.

    corpus: fingerprint and sizes. model, revision: of the embedding. questions: (id, type, document, whether it cites).
    judgements: chunking settings → question id → ids of the chunks that satisfy each goal; rejected: the same for the chunks
    that were judged wrong. seconds: wall time, of which matching and statistics took the two others.
    """

    corpus: dict[str, Any]
    model: str
    revision: str
    version: str
    seed: int
    threshold: float
    ks: tuple[int, ...]
    question_set: dict[str, Any]
    questions: tuple[tuple[str, str, str, bool], ...]
    configurations: tuple[ConfigurationResult, ...]
    judgements: dict[str, dict[str, tuple[tuple[str, ...], ...]]] = field(default_factory=dict)
    rejected: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    started: str = ""
    seconds: float = 0.0
    matching_seconds: float = 0.0
    statistics_seconds: float = 0.0

    @property
    def citation(self) -> list[bool]:
        return [cites for *_, cites in self.questions]

    @property
    def shares(self) -> dict[str, float]:
        """Where the time went: stage, "matching", "statistics" and "cutting chunks and the rest" → seconds."""
        stages: dict[str, float] = {"matching": self.matching_seconds}
        for c in self.configurations:
            for stage, ms in c.shares.items():
                if stage != "total":
                    stages[stage] = stages.get(stage, 0.0) + ms / 1000
        stages["statistics"] = self.statistics_seconds
        return stages | {"cutting chunks and the rest": max(self.seconds - sum(stages.values()), 0.0)}

    def configuration(self, name: str) -> ConfigurationResult:
        """By name; KeyError lists those there are."""
        for c in self.configurations:
            if c.name == name:
                return c
        raise KeyError(f"expected one of {', '.join(c.name for c in self.configurations)}; found {name}")

    def values(self, label: str) -> dict[str, np.ndarray]:
        """Configuration → (q,) values of one metric, the form that `statistics.compare` takes."""
        return {c.name: metrics.per_question(c.outcome(self.citation), label) for c in self.configurations}


def run(
    retriever: Searcher,
    questions: Sequence[Question] | Any,
    configs: Mapping[str, RetrieverConfig],
    ks: Sequence[int] = (1, 5, 10),
    *,
    threshold: float = THRESHOLD,
    extra_metrics: Sequence[str] = (),
    progress: Progress | None = None,
    cancel: Callable[[], bool] | None = None,
    matcher: Matcher | None = None,
    seed: int = SEED,
) -> RunResult:
    """Every question under every configuration. questions: a QuestionSet or a list. ks: results looked at, each at least 1.

    extra_metrics: names of further metrics, such as "AP(min)". matcher: keeps matches over several runs. cancel: asked between
    searches; raises Cancelled when it answers True. ValueError for an empty list or a K below 1.
    """
    asked = tuple(questions)
    if not asked or not configs or not ks or min(ks) < 1:
        raise ValueError(f"expected questions, configurations and K ≥ 1; found {len(asked)}, {len(configs)} and {list(ks)}")
    started, clock = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), time.perf_counter()
    matcher = matcher or Matcher(retriever, asked, threshold)
    wanted = metrics.labels(sorted(ks), extra_metrics)
    citation = [q.cites for q in asked]
    results: list[ConfigurationResult] = []
    values: list[np.ndarray] = []
    done, total = 0, len(asked) * len(configs)
    for name, config in configs.items():
        matches = matcher.matches(config)
        chunks = retriever.chunks(config)
        begun = time.perf_counter()
        rows: list[QuestionResult] = []
        shares: dict[str, float] = {}
        notes: dict[str, None] = {}
        for question, goals, wrong in zip(asked, matches.hits, matches.rejected, strict=True):
            if cancel is not None and cancel():
                raise Cancelled(f"stopped after {done} of {total} searches")
            trace = retriever.search(question.question, config)
            rows.append(_row(question.id, trace, goals, wrong, matches, chunks, max(ks)))
            for stage, ms in trace.milliseconds.items():
                shares[stage] = shares.get(stage, 0.0) + ms
            notes.update(dict.fromkeys(trace.notes))
            done += 1
            if progress is not None:
                progress(done, total, name)
        seconds = time.perf_counter() - begun
        outcome = Outcome.of([r.ranks for r in rows], [r.words for r in rows], citation, [r.wrong for r in rows])
        values.append(np.stack([metrics.per_question(outcome, label) for label in wanted], axis=1))
        results.append(
            ConfigurationResult(
                name=name,
                settings=config,
                metrics=metrics.measure(outcome, wanted),
                ceiling=float(matches.reachable.mean()),
                questions=tuple(rows),
                seconds=seconds,
                unreachable=tuple((asked[q].id, g) for q, g in matches.unreachable),
                shares={k: round(v, 2) for k, v in shares.items()},
                notes=tuple(notes),
            )
        )
    statistics_clock = time.perf_counter()
    intervals = bootstrap_table(np.concatenate(values, axis=1), seed=seed)
    for i, c in enumerate(results):
        own = zip(wanted, intervals[i * len(wanted) : (i + 1) * len(wanted)], strict=True)
        results[i] = replace(c, intervals={label: interval for label, interval in own if interval is not None})
    finished = time.perf_counter()
    model, revision = _model_of(retriever)
    corpus = retriever.corpus
    return RunResult(
        corpus={
            "fingerprint": corpus.fingerprint,
            "documents": len(corpus.documents),
            "units": len(corpus),
            "files": [d.file for d in corpus.documents],
        },
        model=model,
        revision=revision,
        version=__version__,
        seed=seed,
        threshold=threshold,
        ks=tuple(sorted(ks)),
        question_set={
            "name": getattr(questions, "name", ""),
            "questions": len(asked),
            "goals": sum(len(q.goals) for q in asked),
            "fingerprint": getattr(questions, "fingerprint", ""),
        },
        questions=tuple((q.id, q.type, q.group, q.cites) for q in asked),
        configurations=tuple(results),
        judgements={matcher.key(c): matcher.judgements(c) for c in configs.values()},
        rejected={matcher.key(c): matcher.rejected(c) for c in configs.values()},
        started=started,
        seconds=finished - clock,
        matching_seconds=matcher.seconds,
        statistics_seconds=finished - statistics_clock,
    )


class Matcher:
    """Matches of one question set, computed once for each chunk list.

    Context and ranking settings do not change a chunk's text, so they do not count.
    """

    def __init__(self, retriever: Searcher, questions: Sequence[Question], threshold: float = THRESHOLD) -> None:
        self.retriever = retriever
        self.questions = tuple(questions)
        self.threshold = threshold
        self.seconds = 0.0
        self._matches: dict[str, Matches] = {}

    @staticmethod
    def key(config: RetrieverConfig) -> str:
        """Name of a chunk list: "vanilla, 300 words"."""
        return config.chunking if config.chunking == "structured" else f"{config.chunking}, {config.max_words} words"

    def matches(self, config: RetrieverConfig) -> Matches:
        """Hits among the chunks of this configuration."""
        key = self.key(config)
        if key not in self._matches:
            chunks = self.retriever.chunks(config)
            begun = time.perf_counter()
            self._matches[key] = match(self.retriever.corpus, chunks, self.questions, self.threshold)
            self.seconds += time.perf_counter() - begun
        return self._matches[key]

    def judgements(self, config: RetrieverConfig) -> dict[str, tuple[tuple[str, ...], ...]]:
        """Question id → ids of the chunks that satisfy each goal."""
        chunks = self.retriever.chunks(config)
        rows = zip(self.questions, self.matches(config).hits, strict=True)
        return {q.id: tuple(tuple(chunks[i].id for i in goal) for goal in goals) for q, goals in rows}

    def rejected(self, config: RetrieverConfig) -> dict[str, tuple[str, ...]]:
        """Question id → ids of the chunks judged wrong, for the questions that have some."""
        chunks = self.retriever.chunks(config)
        rows = zip(self.questions, self.matches(config).rejected, strict=True)
        return {q.id: tuple(chunks[i].id for i in wrong) for q, wrong in rows if wrong is not None}


def _row(
    id_: str,
    trace: Trace,
    goals: Sequence[np.ndarray],
    wrong: np.ndarray | None,
    matches: Matches,
    chunks: Sequence[Chunk],
    depth: int,
) -> QuestionResult:
    order, scores = trace.final.order, trace.final.scores
    ranks = first_ranks(order, goals, len(matches.words))
    read = np.cumsum(matches.words[order])
    return QuestionResult(
        id=id_,
        ranks=tuple(ranks),
        words=tuple(None if r is None else int(read[r - 1]) for r in ranks),
        top=tuple(chunks[i].id for i in order[:depth]),
        scores=tuple(float(s) for s in scores[:depth]),
        wrong=None if wrong is None else tuple((np.flatnonzero(np.isin(order, wrong)) + 1).tolist()),
    )


def _model_of(retriever: Any) -> tuple[str, str]:
    embedder = getattr(retriever, "embedder", None)
    return str(getattr(embedder, "name", "") or ""), str(getattr(embedder, "revision", "") or "")
