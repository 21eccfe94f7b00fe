"""Evaluation runs and sweeps in threads, with progress and cancel: a thread outlives any run of a page."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import streamlit as st

from normrag_core.config import RetrieverConfig
from normrag_core.evaluation import records
from normrag_core.evaluation.matching import THRESHOLD
from normrag_core.evaluation.questions import QuestionSet
from normrag_core.evaluation.runs import Cancelled, Matcher, RunResult, run
from normrag_core.evaluation.sweeps import Choice, Sweep, choose, sweep
from normrag_core.storage import WorkspaceError
from pages._jobs import duration
from pages._library import Library
from pages._vectors import model

Work = Callable[["Job"], Any]
# By library and not by session: a page that is loaded anew finds its work again, and can stop it.
_jobs: WeakKeyDictionary[Library, dict[str, Job]] = WeakKeyDictionary()
_runs: WeakKeyDictionary[Library, tuple[tuple[str, ...], dict[str, RunResult]]] = WeakKeyDictionary()
# Runs that the workspace had no room for, with its reason: minutes of work are shown all the same.
_unkept: WeakKeyDictionary[Library, dict[str, tuple[RunResult, str]]] = WeakKeyDictionary()


class Job:
    """One piece of work in the background. `result` is set when it ended well, `error` says why it did not."""

    def __init__(self, title: str, work: Work) -> None:
        self.title = title
        self.done, self.total, self.what = 0, 0, "starting"
        self._phase = (0, 0, time.monotonic())
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

    @property
    def left(self) -> str:
        """How long it will still take, in words; "" while nothing can be said."""
        _, at, began = self._phase
        if self.done <= at or not self.running:
            return ""
        return f", {duration((self.total - self.done) * (time.monotonic() - began) / (self.done - at))} left"

    def report(self, done: int, total: int, what: str) -> None:
        if total != self._phase[0]:  # Vectors are made at another pace than searches.
            self._phase = (total, done, time.monotonic())
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
    """A sweep with the choice among its settings; choice is None where the questions are about one document only.

    axes: the settings tried, first rows and columns of the heat map. start: values of the setting that the sweep started from.
    """

    sweep: Sweep
    choice: Choice | None
    objective: str
    axes: tuple[str, ...]
    start: dict[str, np.ndarray]


def keep(name: str) -> None:
    """For a widget with the key `<name>_box`: keeps what was chosen where it outlives the widget."""
    st.session_state[name] = st.session_state[f"{name}_box"]


def job(library: Library, name: str) -> Job | None:
    """The work that was last begun under this name."""
    return _jobs.get(library, {}).get(name)


def begin(library: Library, name: str, job: Job) -> None:
    """Makes it the work of this name."""
    _jobs.setdefault(library, {})[name] = job


def runs(library: Library) -> tuple[dict[str, RunResult], list[str]]:
    """(runs kept in the workspace by name, the newest first; what is wrong with others). Read once."""
    ids = library.workspace.run_ids()
    kept, faults = _runs.get(library, ((), {}))[1], []
    if _runs.get(library, (None,))[0] != ids:
        kept = {}
        for name, record in sorted(library.workspace.runs().items(), reverse=True):
            try:
                kept[name] = records.load(json.dumps(record))
            except records.ResultsError as error:
                faults.append(f"{name}: {error}")
        _runs[library] = (ids, kept)
    unkept = _unkept.get(library, {})
    faults += [f"{name}: shown until the app ends, for it could not be kept. {why}" for name, (_, why) in unkept.items()]
    newest = {name: result for name, (result, _) in sorted(unkept.items(), reverse=True)}
    return {**newest, **kept}, faults


def remove_run(library: Library, name: str) -> None:
    """Forgets a run, kept in the workspace or not."""
    if _unkept.get(library, {}).pop(name, None) is None:
        library.workspace.remove_run(name)


def start_run(
    library: Library,
    questions: QuestionSet,
    configs: Mapping[str, RetrieverConfig],
    ks: Sequence[int],
    threshold: float = THRESHOLD,
) -> Job:
    """A run over what is loaded now; its record goes into the workspace under the time it started."""

    def work(job: Job) -> RunResult:
        retriever = library.loaded.retriever
        wait_for_vectors(library, configs.values(), job)
        result = run(retriever, questions, configs, ks, threshold=threshold, progress=job.report, cancel=job.stop.is_set)
        embedder = model().loaded
        if embedder is not None:
            result = replace(result, model=embedder.name, revision=embedder.revision)
        name = f"{result.started} {questions.name}"
        try:
            library.workspace.save_run(name, records.to_object(result))
        except WorkspaceError as error:
            _unkept.setdefault(library, {})[name] = (result, str(error))
        return result

    return Job(f"{len(configs)} configurations × {len(questions)} questions", work)


def start_sweep(
    library: Library,
    questions: QuestionSet,
    base: RetrieverConfig,
    configs: Sequence[RetrieverConfig],
    objective: str,
    axes: tuple[str, ...],
) -> Job:
    """A sweep by one metric, with the nested choice, and the setting that it starts from for comparison."""

    def work(job: Job) -> Tuning:
        retriever = library.loaded.retriever
        wait_for_vectors(library, configs, job)
        matcher = Matcher(retriever, questions.questions)
        labels = tuple(dict.fromkeys((objective, "R@10", "MRR@10")))
        found = sweep(
            retriever, questions.questions, configs, labels, matcher=matcher, progress=job.report, cancel=job.stop.is_set
        )
        held = len(set(found.groups)) > 1
        choice = choose(found, {objective: 1.0}) if held else None
        at_start = sweep(retriever, questions.questions, [base], labels, matcher=matcher, cancel=job.stop.is_set)
        return Tuning(found, choice, objective, axes, {label: v[0] for label, v in at_start.values.items()})

    return Job(f"{len(configs)} settings × {len(questions)} questions", work)


def vectors_soon(library: Library, config: RetrieverConfig, patience: float = 5.0) -> bool:
    """Whether the vectors that a configuration ranks by are there, or come from the workspace within some seconds."""
    if not (config.uses_dense or config.expansion):
        return True
    end = time.monotonic() + patience
    while not library.vectors_ready(config):
        vectors = library.vectors
        making = vectors is not None and vectors.active and vectors.done < vectors.total
        if making or time.monotonic() > end:
            return False
        library.loaded.retriever.index(config).vectors()
        time.sleep(0.05)
    return True


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
