"""A run from retriever to record: ranks, words read, ceiling, cancel, exports; the report made of it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from normrag_core.config import RetrieverConfig
from normrag_core.evaluation import records
from normrag_core.evaluation.drill import paths
from normrag_core.evaluation.questions import Question, QuestionSet, Relevant, Witness
from normrag_core.evaluation.reproduction import reproduce
from normrag_core.evaluation.reproduction_report import markdown, plots
from normrag_core.evaluation.runs import Cancelled, Matcher, run
from normrag_core.evaluation.sweeps import grid, sweep
from normrag_core.model import Citation, Corpus, Document, InfoUnit
from normrag_core.retriever import Retriever

TOPICS = {
    "a": ("carrier", "The carrier shall be suppressed by 40 dB when no symbol is sent, see clause 5."),
    "b": ("buffer", "The receiver buffer shall hold two frames and drop the older one when it overflows."),
    "c": ("certificate", "A certificate shall be revoked within one day after its key was disclosed."),
}


class Words:
    """A tiny embedder: one dimension a letter, so that texts with the same words are near each other."""

    name, revision, dimension, max_tokens, engine = "letters", "1", 26, 999, "none"

    def encode(self, texts, progress=None, cancel=None):  # type: ignore[no-untyped-def]
        rows = np.array([[t.lower().count(chr(97 + i)) for i in range(26)] for t in texts], np.float32) + 1e-3
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def encode_query(self, text: str) -> np.ndarray:
        return self.encode([text])[0]

    def token_counts(self, texts):  # type: ignore[no-untyped-def]
        return np.array([len(t) for t in texts])


@pytest.fixture(scope="module")
def retriever() -> Retriever:
    documents, units, citations = [], [], []
    for name, (topic, text) in TOPICS.items():
        key = f"EN {name} V1.1.1"
        documents.append(Document(key, f"EN {name}", "V1.1.1", "2020-01", "Radio", 3, f"{name}.pdf"))
        units.append(InfoUnit(f"{key}#", key, "", "", "Radio", "document", None, 1))
        units.append(InfoUnit(f"{key}#4", key, "4", "4", f"The {topic}", "clause", "", 2, text))
        units.append(InfoUnit(f"{key}#5", key, "5", "5", "More", "clause", "", 3, f"Nothing else matters for the {topic}."))
    citations.append(Citation("EN a V1.1.1#4", 2, 0, 8, "clause 5", "", "EN a", "5", None, "EN a V1.1.1#5", "resolved"))
    return Retriever(Corpus(tuple(documents), tuple(units), tuple(citations)), Words())


@pytest.fixture(scope="module")
def questions() -> QuestionSet:
    asked = [
        Question("q a", "suppressed carrier", "fact", witnesses=(Witness(TOPICS["a"][1], "a.pdf"),)),
        Question("q b", "buffer overflows", "fact", witnesses=(Witness(TOPICS["b"][1], "b.pdf"),)),
        Question(
            "q c",
            "revoked certificate",
            "table",
            witnesses=(Witness(TOPICS["c"][1], "c.pdf"), Witness("not there at all", "c.pdf")),
        ),
        Question("q d", "what matters for the carrier", "crossref", relevant=(Relevant("EN a", "4"), Relevant("EN a", "5"))),
    ]
    return QuestionSet("toy", tuple(asked))


BM25 = RetrieverConfig(ranking="bm25")


def test_ranks_words_and_ceiling(retriever: Retriever, questions: QuestionSet) -> None:
    result = run(retriever, questions, {"bm25": BM25, "dense": RetrieverConfig(ranking="dense")}, (1, 3))
    bm25 = result.configuration("bm25")
    assert [q.ranks for q in bm25.questions][:3] == [(1,), (1,), (1, None)]
    # Heading and body are the chunk's words; the title path is not.
    assert bm25.questions[0].words == (3 + 16,)
    assert bm25.ceiling == pytest.approx((1 + 1 + 0.5 + 1) / 4)
    assert bm25.unreachable == (("q c", 1),)
    assert bm25.metrics["R@3"] == pytest.approx(bm25.ceiling)
    assert bm25.metrics["Both@3"] == 1.0
    assert bm25.intervals["MRR@1"].low <= bm25.metrics["MRR@1"] <= bm25.intervals["MRR@1"].high
    assert (result.model, result.revision) == ("letters", "1")
    assert result.citation == [False, False, False, True]
    with pytest.raises(KeyError, match="expected one of bm25, dense; found best"):
        result.configuration("best")


def test_progress_and_cancel(retriever: Retriever, questions: QuestionSet) -> None:
    seen: list[tuple[int, int, str]] = []
    run(retriever, questions, {"x": BM25, "y": BM25.with_(bm25_k1=1.0)}, (1,), progress=lambda *a: seen.append(a))
    assert seen[0] == (1, 8, "x")
    assert seen[-1] == (8, 8, "y")
    with pytest.raises(Cancelled, match="stopped after 2 of 4 searches"):
        run(retriever, questions, {"x": BM25}, (1,), cancel=iter([False, False, True]).__next__)
    with pytest.raises(ValueError, match="K ≥ 1"):
        run(retriever, questions, {"x": BM25}, (0,))


def test_matches_are_made_once_a_chunk_list(retriever: Retriever, questions: QuestionSet) -> None:
    matcher = Matcher(retriever, questions.questions)
    one = matcher.matches(BM25)
    assert matcher.matches(BM25.with_(context="none", bm25_k1=2.0)) is one
    assert matcher.matches(BM25.with_(max_words=100)) is not one
    assert matcher.key(BM25.with_(chunking="structured", max_words=50)) == "structured"


def test_record_round_trips_and_exports(retriever: Retriever, questions: QuestionSet) -> None:
    result = run(retriever, questions, {"b 25": BM25, "dense_": RetrieverConfig(ranking="dense")}, (1, 3))
    again = records.load(records.dump(result))
    assert records.to_object(again) == records.to_object(result)
    assert again.configuration("b 25").settings == BM25
    assert again.values("R@3")["b 25"].tolist() == result.values("R@3")["b 25"].tolist()
    with pytest.raises(records.ResultsError, match="expected the record of a run"):
        records.load(json.dumps({"corpus": {}}))
    rows = records.to_csv(result).splitlines()
    assert rows[1] == "b 25,q a,fact,1,1,19"
    assert "b 25,q c,table,2,," in rows
    run_lines = records.to_trec_run(result, "b 25").splitlines()
    assert run_lines[0].split() == ["q_a", "Q0", "EN_a_V1.1.1#4", "1", "2", "b_25"]
    assert all(len(line.split()) == 6 for line in run_lines)
    assert "q_d 0 EN_a_V1.1.1#5 1" in records.to_trec_qrels(result, "b 25")
    latex = records.to_latex(result)
    assert r"dense\_" in latex
    assert r"\textbf{0.875}" in latex


def test_what_was_judged_wrong_is_counted_kept_and_exported(retriever: Retriever, questions: QuestionSet) -> None:
    beside = Witness("Nothing else matters for the carrier.", "a.pdf")
    asked = [replace(questions.questions[0], rejected=(beside,)), questions.questions[1]]
    result = run(retriever, asked, {"bm25": BM25}, (1, 3))
    (first, second) = result.configuration("bm25").questions
    chunk = "EN a V1.1.1#5"
    assert first.wrong == (first.top.index(chunk) + 1,)
    assert second.wrong is None
    assert result.configuration("bm25").metrics["wrong@3"] == pytest.approx(1 / 3)
    assert result.rejected == {"structured+chunks, 300 words": {"q a": (chunk,)}}
    assert "q_a 0 EN_a_V1.1.1#5 0" in records.to_trec_qrels(result, "bm25").splitlines()
    again = records.load(records.dump(result))
    assert again.rejected == result.rejected
    assert again.values("wrong@3")["bm25"].tolist()[0] == pytest.approx(1 / 3)


def test_the_way_of_a_witness_through_the_stages(retriever: Retriever, questions: QuestionSet) -> None:
    narrow = RetrieverConfig(prefilter_n=2)
    result = run(retriever, questions, {"fused": narrow, "bm25": BM25}, (1, 3))
    fused, bm25 = paths(retriever, result, questions.questions[0], ["fused", "bm25"])
    assert (fused.configuration, fused.goal, fused.chunk and fused.chunk.id) == ("fused", 0, "EN a V1.1.1#4")
    assert list(fused.ranks) == [s.name for s in retriever.search("suppressed carrier", narrow).stages]
    assert (bm25.ranks, bm25.above) == ({"bm25": 1}, ())
    ranks = result.configuration("fused").questions[2].ranks
    first, second = paths(retriever, result, questions.questions[2], ["fused"])
    assert list(first.ranks.values())[-1] == ranks[0]
    assert (second.goal, second.chunk, set(second.ranks.values())) == (1, None, {None})
    # One that the prefilter lost has what was kept instead of it before it.
    lost = run(retriever, [Question("q", "frames overflow", witnesses=(Witness(TOPICS["c"][1]),))], {"n": narrow}, (1,))
    asked = Question("q", "frames overflow", witnesses=(Witness(TOPICS["c"][1]),))
    (way,) = paths(retriever, lost, asked, ["n"])
    assert way.ranks["fusion"] is None
    assert [c.id for c in way.above] == list(lost.configurations[0].questions[0].top[:1]) + [c.id for c in way.above[1:]]


def test_a_table_for_latex_survives_any_name(retriever: Retriever, questions: QuestionSet) -> None:
    result = run(retriever, questions, {r"50 % & \a_{b}~^#$": BM25}, (1,))
    latex = records.to_latex(result)
    assert r"50 \% \& \textbackslash{}a\_\{b\}\textasciitilde{}\textasciicircum{}\#\$ & " in latex
    assert records.to_metrics_csv(result).splitlines()[0] == "configuration,metric,mean,low,high"
    row = next(line for line in records.to_metrics_csv(result).splitlines() if ",MRR@1," in line)
    assert float(row.split(",")[2]) == pytest.approx(result.configurations[0].metrics["MRR@1"], abs=1e-6)


def test_trec_exports_agree_with_our_figures(retriever: Retriever, questions: QuestionSet) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    one_chunk_a_goal = QuestionSet("ok", questions.questions[:2])
    result = run(retriever, one_chunk_a_goal, {"dense": RetrieverConfig(ranking="dense")}, (1, 5))
    qrels = list(ir_measures.read_trec_qrels(records.to_trec_qrels(result, "dense")))
    ranked = list(ir_measures.read_trec_run(records.to_trec_run(result, "dense")))
    figures = ir_measures.calc_aggregate([ir_measures.parse_measure(m) for m in ("R@5", "AP@5", "RR@5")], qrels, ranked)
    ours = result.configuration("dense").metrics
    assert {str(m): v for m, v in figures.items()} == pytest.approx(
        {"R@5": ours["R@5"], "AP@5": ours["AP@5"], "RR@5": ours["MRR@5"]}
    )


def test_sweep_gives_what_runs_give(retriever: Retriever, questions: QuestionSet) -> None:
    configs = grid(RetrieverConfig(), {"alpha": [0.5, 1.0], "rrf_k": [1, 60], "prefilter_n": [2, 50]})
    found = sweep(retriever, questions.questions, configs, ("R@3", "MRR@3"))
    alone = run(retriever, questions, {str(i): c for i, c in enumerate(configs)}, (3,))
    for label in ("R@3", "MRR@3"):
        assert found.values[label].tolist() == [v.tolist() for v in alone.values(label).values()]
    assert found.groups == ("a.pdf", "b.pdf", "c.pdf", "EN a")


def test_report_holds_every_part(retriever: Retriever, questions: QuestionSet, monkeypatch: pytest.MonkeyPatch) -> None:
    from normrag_core.evaluation import reproduction

    monkeypatch.setattr(reproduction, "TUNING", {"alpha": (1.0, 0.8), "name_weight": (1.0, 3.0)})
    found = reproduce(retriever, questions, cutting=retriever)
    text = markdown(found, "three toy standards", "make it")
    for part in (
        "Written by `make it`",
        "## Eight presets",
        "| vanilla-dense |",
        "recall stays flat",
        "Nested cross-validation",
        "## Texts longer than the embedding model reads",
        "+0.000 [+0.00, +0.00], p = 1.000, not significant |",
        '"rerank_n": 10',
    ):
        assert part.lower() in text.lower()
    assert text.count("confirmed.**") + text.count("undecided.**") == 6
    drawn = plots(found.presets)
    assert set(drawn) == {f"reproduction-{n}.svg" for n in ("r", "ap", "mrr", "types", "ranks")}
    for name in drawn:
        assert f"({name})" in text
        assert drawn[name].startswith("<svg")


def test_the_example_of_the_package_runs() -> None:
    import doctest

    from normrag_core import evaluation

    found = doctest.testmod(evaluation)
    assert found.attempted > 5
    assert found.failed == 0
