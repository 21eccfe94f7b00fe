"""Results matched between stages and between two searches."""

from __future__ import annotations

import toys

from normrag_core.config import PRESETS
from normrag_core.movement import compare, steps
from normrag_core.retriever import Retriever

QUESTION = "immunity level of test signals"


def test_steps_hold_every_rank_of_the_trace() -> None:
    retriever = Retriever(toys.corpus(), toys.HashingEmbedder())
    trace = retriever.search(QUESTION, PRESETS["chunked-rrf"].config)
    found = {(s.result, s.stage): s.rank for s in steps(trace, 3)}
    assert len(found) == 3 * len(trace.stages)
    for result in trace.results[:3]:
        for stage in trace.stages:
            assert found[result.rank, stage.name] == stage.position(result.index)[0]  # type: ignore[index]


def test_moved_new_and_lost_are_told_apart_and_ranked_elsewhere() -> None:
    retriever = Retriever(toys.corpus(), toys.HashingEmbedder())
    before = retriever.search(QUESTION, PRESETS["bm25"].config.with_(top_k=3))
    after = retriever.search(QUESTION, PRESETS["dense"].config.with_(top_k=3))
    changes = compare(before, retriever.chunks(before.config), after, retriever.chunks(after.config))
    old = list(dict.fromkeys(r.chunk.unit for r in before.results))
    new = list(dict.fromkeys(r.chunk.unit for r in after.results))
    assert {c.unit for c in changes if c.kind == "new"} == set(new) - set(old)
    assert {c.unit for c in changes if c.kind == "lost"} == set(old) - set(new)
    assert [c.unit for c in changes if c.after] == new
    for change in changes:
        if (
            change.kind == "lost"
        ):  # The dense order covers the whole corpus, so it has a rank, and that is beyond the first three.
            assert change.elsewhere is not None
            assert change.elsewhere > 3
        if change.kind == "up":
            assert change.after < change.before  # type: ignore[operator]


def test_the_same_search_has_no_change() -> None:
    retriever = Retriever(toys.corpus())
    trace = retriever.search(QUESTION, PRESETS["bm25"].config)
    chunks = retriever.chunks(trace.config)
    assert {c.kind for c in compare(trace, chunks, trace, chunks)} == {"same"}


def test_results_of_different_chunks_are_matched_by_their_clause() -> None:
    retriever = Retriever(toys.corpus())
    whole = retriever.search(QUESTION, PRESETS["bm25"].config.with_(chunking="structured", top_k=50))
    parts = retriever.search(QUESTION, PRESETS["bm25"].config.with_(max_words=20, top_k=50))
    changes = compare(whole, retriever.chunks(whole.config), parts, retriever.chunks(parts.config))
    assert len({c.unit for c in changes}) == len(changes)
    assert not [c for c in changes if c.kind == "lost"]
