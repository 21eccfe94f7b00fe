"""Two runs against each other: what was different about them, and whether the difference shows in the figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import PurePath

import numpy as np

from normrag_core.evaluation.metrics import parse_label
from normrag_core.evaluation.runs import RunResult
from normrag_core.evaluation.statistics import Comparison, compare


def circumstances(new: RunResult, old: RunResult) -> list[str]:
    """What besides the settings was not the same, in words; empty where the runs differ in settings only."""
    said = []
    if new.corpus["fingerprint"] != old.corpus["fingerprint"]:
        said.append(f"other documents were loaded ({_files(new, old)})")
    if new.question_set.get("fingerprint") != old.question_set.get("fingerprint"):
        shared = len(_shared(new, old)[0])
        here, there = len(new.questions), len(old.questions)
        said.append(f"the question sets differ ({here} and {there} questions, {shared} ids in both; only these are compared)")
    if (new.model, new.revision) != (old.model, old.revision):
        said.append(f"the embedding model was {old.model or 'none'} {old.revision}".strip() + " there")
    if new.threshold != old.threshold:
        said.append(f"a witness counted as found from {old.threshold:.0%} of its words there, here from {new.threshold:.0%}")
    if new.version != old.version:
        said.append(f"NormRAG {old.version} made it, this one NormRAG {new.version}")
    return said


def changed_settings(new: RunResult, old: RunResult, name: str) -> dict[str, tuple[object, object]]:
    """Setting → (value in the old run, in the new one), of a configuration that both have under this name."""
    here, there = (asdict(r.configuration(name).settings) for r in (new, old))
    return {k: (there[k], here[k]) for k in here if here[k] != there[k]}


def compare_runs(new: RunResult, old: RunResult, label: str, names: Sequence[str]) -> list[Comparison]:
    """Each named configuration of the new run against its namesake of the old one, over the questions that both asked.

    Corrected together. names: those that both runs have. ValueError where no question is in both.
    """
    here, there = _shared(new, old)
    if not len(here):
        raise ValueError("runs: expected questions with the same ids; found none in both")
    values: dict[str, np.ndarray] = {}
    pairs = []
    ours, theirs = new.values(label), old.values(label)
    for name in names:
        pair = f"{name} (this run)", f"{name} (run of {old.started})"
        values[pair[0]], values[pair[1]] = ours[name][here], theirs[name][there]
        pairs.append(pair)
    return compare(values, label, pairs, lower=parse_label(label)[0].lower)


def _shared(new: RunResult, old: RunResult) -> tuple[np.ndarray, np.ndarray]:
    """Places of the questions that both runs asked, in the new and in the old one."""
    place = {id_: i for i, (id_, *_) in enumerate(old.questions)}
    both = [(i, place[id_]) for i, (id_, *_) in enumerate(new.questions) if id_ in place]
    table = np.array(both, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _files(new: RunResult, old: RunResult) -> str:
    here, there = ({PurePath(f).name for f in r.corpus.get("files", ())} for r in (new, old))
    only = {"only here": here - there, "only there": there - here}
    return "; ".join(f"{w}: {', '.join(sorted(f))}" for w, f in only.items() if f) or "the same files, read differently"
