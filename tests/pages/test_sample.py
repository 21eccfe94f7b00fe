"""The guided tour over the sample standards: each question is one that the app itself answers well."""

from __future__ import annotations

import pytest

from normrag_core import Corpus, Retriever, read_pdf
from normrag_core.config import PRESETS
from normrag_core.embedding.hashing import HashEmbedder
from normrag_core.strength import strength
from pages import _sample as sample


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.of(read_pdf(path) for path in sample.files())


def test_the_tour_asks_what_it_says_and_its_first_result_is_the_answer(corpus: Corpus) -> None:
    by_question = {q["question"]: q for q in sample.questions()}
    asked = [by_question[question] for question, _ in sample.tour(corpus)]
    assert [q["type"] for q in asked] == ["paraphrase", "table", "table"]
    assert "EN 399 489-1" in asked[1]["question"]
    retriever = Retriever(corpus, HashEmbedder())
    for question in asked:
        # Words alone, as while vectors are being made.
        trace = retriever.search(question["question"], PRESETS["bm25"].config)
        assert not strength(retriever, trace).weak, question
        assert corpus.by_id[trace.results[0].chunk.unit].code == question["witnesses"][0]["clause"]


def test_the_tour_waits_until_the_documents_loaded_answer_all_of_it(corpus: Corpus) -> None:
    some = Corpus.of(read_pdf(path) for path in sample.files() if path.name != "tr_199702v010301p.pdf")
    assert len(sample.tour(corpus)) == 3
    assert sample.tour(some) == []
