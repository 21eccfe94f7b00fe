"""Evaluation runs and sweeps in a thread, with progress and cancel. No Streamlit here: a thread outlives any run of a page."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from normrag_core.config import RetrieverConfig
from normrag_core.evaluation import records
from normrag_core.evaluation.questions import QuestionSet
from normrag_core.evaluation.runs import Cancelled, Matcher, RunResult, run
from normrag_core.evaluation.sweeps import Choice, Sweep, choose, sweep
from pages._library import Library
from pages._vectors import model

Work = Callable[["Job"], Any]


class Job:
    """One piece of work in the background. `result` is set when it ended well, `error` says why it did not."""

    def __init__(self, title: str, work: Work) -> None:
        self.title = title
        self.done, self.total, self.what = 0, 0, "starting"
        self.result: Any = None
        self.error = ""
        self.stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(work,), name="evaluation", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    @property
    def share(self) -> float:
        return min(1.0, self.done / self.total) if self.total else 0.0

    def report(self, done: int, total: int, what: str) -> None:
        self.done, self.total, self.what = done, total, what

    def _run(self, work: Work) -> None:
        try:
            self.result = work(self)
        except Cancelled as error:
            self.error = f"Cancelled: {error}. Nothing of it is kept."
        except Exception as error:  # Whatever it is must reach the page; a thread's traceback would be lost.
            self.error = f"The run failed: {error}"


@dataclass(frozen=True, slots=True)
class Tuning:
    """A sweep with the choice among its settings; choice is None where the questions are about one document only."""

    sweep: Sweep
    choice: Choice | None
    objective: str


def start_run(library: Library, questions: QuestionSet, configs: Mapping[str, RetrieverConfig], ks: Sequence[int]) -> Job:
    """A run over what is loaded now; its record goes into the workspace under the time it started."""

    def work(job: Job) -> RunResult:
        retriever = library.loaded.retriever
        wait_for_vectors(library, configs.values(), job)
        result = run(retriever, questions, configs, ks, progress=job.report, cancel=job.stop.is_set)
        embedder = model().loaded
        if embedder is not None:
            result = replace(result, model=embedder.name, revision=embedder.revision)
        library.workspace.save_run(f"{result.started} {questions.name}", records.to_object(result))
        return result

    return Job(f"{len(configs)} configurations × {len(questions)} questions", work)


def start_sweep(library: Library, questions: QuestionSet, configs: Sequence[RetrieverConfig], objective: str) -> Job:
    """A sweep by one metric, with the nested choice."""

    def work(job: Job) -> Tuning:
        retriever = library.loaded.retriever
        wait_for_vectors(library, configs, job)
        matcher = Matcher(retriever, questions.questions)
        labels = tuple(dict.fromkeys((objective, "R@10", "MRR@10")))
        found = sweep(
            retriever, questions.questions, configs, labels, matcher=matcher, progress=job.report, cancel=job.stop.is_set
        )
        held = len(set(found.groups)) > 1
        return Tuning(found, choose(found, {objective: 1.0}) if held else None, objective)

    return Job(f"{len(configs)} settings × {len(questions)} questions", work)


def wait_for_vectors(library: Library, configs: Iterable[RetrieverConfig], job: Job) -> None:
    """Waits until the vectors that the configurations rank by are made: without them a dense stage would be left out."""
    retriever = library.loaded.retriever
    for config in configs:
        if not (config.uses_dense or config.expansion):
            continue
        retriever.index(config).vectors()
        while not library.vectors_ready(config):
            if job.stop.is_set():
                raise Cancelled("while vectors were being made")
            vectors = library.vectors
            if vectors is not None:
                if vectors.error:
                    raise RuntimeError(vectors.error)
                job.report(vectors.done, vectors.total, "making vectors")
            time.sleep(0.2)
            retriever.index(config).vectors()
