"""Where a chunk fell out, and remedies that do bring it in."""

from __future__ import annotations

import numpy as np
import pytest
from toys import HashingEmbedder, corpus

from normrag_core.config import RetrieverConfig
from normrag_core.retriever import Retriever
from normrag_core.why_not import why_not

TIGHT = RetrieverConfig(max_words=40, prefilter_n=3, top_k=2)
QUESTION = "immunity level of a port and its chargers"


@pytest.fixture(scope="module")
def retriever() -> Retriever:
    return Retriever(corpus(), HashingEmbedder())


@pytest.mark.parametrize(
    "config", [TIGHT, TIGHT.with_(alpha=0.7), TIGHT.with_(ranking="dense"), TIGHT.with_(ranking="weighted")]
)
def test_every_remedy_brings_the_chunk_to_the_rank_it_names(retriever: Retriever, config: RetrieverConfig) -> None:
    trace = retriever.search(QUESTION, config)
    offered = 0
    for index in range(len(retriever.chunks(config))):
        for remedy in why_not(retriever, trace, index).remedies:
            offered += 1
            changed = config.with_(**remedy.changes)
            assert retriever.search(QUESTION, changed).results[remedy.rank - 1].index == index
    assert offered


def test_each_chunk_is_lost_where_it_was_lost(retriever: Retriever) -> None:
    trace = retriever.search(QUESTION, TIGHT)
    bm25 = trace.stages[0]
    for index in range(len(retriever.chunks(TIGHT))):
        found = why_not(retriever, trace, index)
        if index not in bm25.order:
            assert (found.fell, found.rank) == ("bm25", None)
        elif index in [r.index for r in trace.results]:
            assert (found.fell, found.remedies) == ("", ())
        else:
            assert (found.fell, found.rank) == ("top_k", 3)
            assert found.remedies[0].changes == {"top_k": 3}


def test_the_smallest_prefilter_is_named(retriever: Retriever) -> None:
    trace = retriever.search(QUESTION, TIGHT)
    wide = retriever.search(QUESTION, TIGHT.with_(ranking="bm25", prefilter_n=100, top_k=100))
    fifth = wide.results[4].index
    found = why_not(retriever, trace, fifth)
    assert found.bm25_rank == 5
    assert found.remedies[0].changes["prefilter_n"] == 5
    below = retriever.search(QUESTION, TIGHT.with_(prefilter_n=4, top_k=10))
    assert below.final.position(fifth) is None


def test_a_chunk_without_a_word_of_the_question_has_no_prefilter_that_helps(retriever: Retriever) -> None:
    trace = retriever.search("chargers", TIGHT)
    index = next(i for i, c in enumerate(retriever.chunks(TIGHT)) if "charger" not in f"{c.context} {c.text}".lower())
    found = why_not(retriever, trace, index)
    assert found.bm25_rank is None
    assert not any("prefilter_n" in r.changes for r in found.remedies)


def test_a_stretch_of_alpha_is_one_in_which_the_chunk_is_a_result(retriever: Retriever) -> None:
    config = TIGHT.with_(ranking="dense", alpha=0.9)
    trace = retriever.search(QUESTION, config)
    stretches = 0
    for index in range(len(retriever.chunks(config))):
        for remedy in why_not(retriever, trace, index).remedies:
            if "alpha" not in remedy.changes:
                continue
            stretches += 1
            assert remedy.low is not None
            assert remedy.high is not None
            for alpha in np.round(np.arange(remedy.low, remedy.high + 0.01, 0.05), 2):
                results = retriever.search(QUESTION, config.with_(alpha=float(alpha))).results
                assert index in [r.index for r in results]
    assert stretches


def test_a_ranking_of_the_whole_corpus_has_a_rank_for_every_chunk(retriever: Retriever) -> None:
    config = TIGHT.with_(ranking="dense")
    trace = retriever.search(QUESTION, config)
    count = len(retriever.chunks(config))
    assert len(trace.final.order) == 3
    assert sorted(why_not(retriever, trace, i).rank or 0 for i in range(count)) == list(range(1, count + 1))


def test_a_filtered_document_is_named_as_the_reason(retriever: Retriever) -> None:
    trace = retriever.search(QUESTION, TIGHT, documents=["TS 999 002 V1.2.1"])
    found = why_not(retriever, trace, 5)
    assert (found.fell, found.remedies) == ("filter", ())


def test_a_heading_that_is_not_ranked_is_said_to_be_one_and_can_be_let_in(retriever: Retriever) -> None:
    config = TIGHT.with_(headings=False, top_k=10, prefilter_n=100)
    trace = retriever.search(QUESTION, config)
    chunks = retriever.chunks(config)
    head = next(i for i, c in enumerate(chunks) if c.kind == "head")
    found = why_not(retriever, trace, head)
    assert (found.fell, found.rank, found.bm25_rank) == ("heading", None, None)
    assert {"headings": True} in [r.changes for r in found.remedies]
    # Headings do not count as ahead of a chunk with text.
    last = trace.stages[0].order[-1]
    assert why_not(retriever, trace, int(last)).bm25_rank == len(trace.stages[0].order)
