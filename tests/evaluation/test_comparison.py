"""Two runs side by side: what changed besides the settings is said, and questions are paired by id."""

from __future__ import annotations

from dataclasses import replace

import pytest

from normrag_core.config import RetrieverConfig
from normrag_core.evaluation.comparison import changed_settings, circumstances, compare_runs
from normrag_core.evaluation.runs import ConfigurationResult, QuestionResult, RunResult


def make_run(ranks: dict[str, int | None], **given: object) -> RunResult:
    rows = tuple(QuestionResult(i, (r,), (None,)) for i, r in ranks.items())
    configuration = ConfigurationResult("bm25", RetrieverConfig(ranking="bm25"), {}, 1.0, rows, 1.0)
    made = RunResult(
        corpus={"fingerprint": "f", "files": ["x/a.pdf"]},
        model="m",
        revision="1",
        version="0.1",
        seed=1,
        threshold=0.75,
        ks=(1,),
        question_set={"fingerprint": "q"},
        questions=tuple((i, "fact", "a.pdf", False) for i in ranks),
        configurations=(configuration,),
        started="then",
    )
    return replace(made, **given)  # type: ignore[arg-type]


def test_questions_are_paired_by_id_whatever_their_order() -> None:
    old = make_run({str(i): 5 for i in range(8)})
    new = make_run({str(i): 1 for i in reversed(range(7))} | {"other": 1})
    (comparison,) = compare_runs(new, old, "R@1", ["bm25"])
    assert (comparison.n, comparison.wins, comparison.losses) == (7, 7, 0)
    assert comparison.sentence.startswith("bm25 (this run) is significantly better than bm25 (run of then) in R@1")
    with pytest.raises(ValueError, match="found none in both"):
        compare_runs(make_run({"z": 1}), old, "R@1", ["bm25"])


def test_what_else_changed_is_said() -> None:
    old = make_run({"1": 1})
    assert circumstances(make_run({"1": 2}), old) == []
    new = make_run(
        {"1": 1, "2": 1},
        corpus={"fingerprint": "g", "files": ["a.pdf", "b.pdf"]},
        question_set={"fingerprint": "r"},
        model="n",
        threshold=0.5,
        version="0.2",
    )
    assert circumstances(new, old) == [
        "other documents were loaded (only here: b.pdf)",
        "the question sets differ (2 and 1 questions, 1 ids in both; only these are compared)",
        "the embedding model was m 1 there",
        "a witness counted as found from 75% of its words there, here from 50%",
        "NormRAG 0.1 made it, this one NormRAG 0.2",
    ]
    (same,) = new.configurations
    changed = replace(new, configurations=(replace(same, settings=same.settings.with_(bm25_k1=0.9)),))
    assert changed_settings(changed, old, "bm25") == {"bm25_k1": (old.configurations[0].settings.bm25_k1, 0.9)}
