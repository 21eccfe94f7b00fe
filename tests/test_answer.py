"""Which sentence of a result is nearest to the question, and which sentences answer it."""

from __future__ import annotations

import pytest
import toys

from normrag_core.answer import extractive_answer, nearest_sentence
from normrag_core.config import PRESETS, RetrieverConfig
from normrag_core.model import Block, Corpus, InfoUnit, Line, Rect
from normrag_core.retriever import Retriever

BM25 = PRESETS["bm25"].config


def _unit(key: str, body: str, blocks: tuple[Block, ...] = ()) -> InfoUnit:
    lines, at = [], 0
    for n, line in enumerate(body.split("\n")):
        lines.append(Line(at, at + len(line), Rect(4 + n, 50, 100, 500, 112)))
        at += len(line) + 1
    return InfoUnit(f"D V1#{key}", "D V1", key, key, f"Clause {key}", "clause", "", 4, body, 0.0, blocks, tuple(lines))


def _corpus(*units: InfoUnit) -> Corpus:
    root = InfoUnit("D V1#", "D V1", "", "", "A standard", "document", None, 1)
    return Corpus((toys.document("D", "V1", "A standard"),), (root, *units), ())


def _search(corpus: Corpus, question: str, config: RetrieverConfig = BM25, embedder: object = None):
    retriever = Retriever(corpus, embedder)  # type: ignore[arg-type]
    return retriever, retriever.search(question, config)


FILLER = tuple(_unit(str(n), f"Other matter number {n} about cables and connectors of the rack.") for n in range(20, 30))


def test_the_sentence_with_the_rare_words_is_nearest_and_knows_its_page() -> None:
    body = "Cables are tied to the rack.\nThe surge voltage shall be 2 kV at the mains port.\nCables of the rack are short."
    retriever, trace = _search(_corpus(_unit("5", body), *FILLER), "surge voltage cables")
    found = nearest_sentence(retriever, trace, trace.results[0].index)
    assert found is not None
    assert body[found.start : found.end] == "The surge voltage shall be 2 kV at the mains port."
    assert (found.page, found.rank, found.meaning) == (5, 1, None)
    assert 0.5 < found.words < 1  # "cables" is missing, and as the commonest word weighs least
    assert found.score == found.words


def test_a_table_row_is_a_sentence_but_not_its_head_or_rule() -> None:
    table = "| Port | Surge level |\n|---|---|\n| AC mains | 2 kV line to earth |\n| Signal | 1 kV line to earth |"
    unit = _unit("6", table, (Block("table", 0, len(table)),))
    retriever, trace = _search(_corpus(unit, *FILLER), "surge level of the AC mains port")
    found = nearest_sentence(retriever, trace, trace.results[0].index)
    assert found is not None
    assert table[found.start : found.end] == "| AC mains | 2 kV line to earth |"


def test_a_part_offers_only_its_own_sentences() -> None:
    body = " ".join(f"Sentence number {n} speaks of widget {n}." for n in range(60))
    blocks = (Block("paragraph", 0, len(body)),)
    retriever, trace = _search(_corpus(_unit("7", body, blocks), *FILLER), "widget", BM25.with_(max_words=50))
    for result in trace.results:
        if result.chunk.kind == "part":
            found = nearest_sentence(retriever, trace, result.index)
            assert found is not None
            assert result.chunk.spans[0].start <= found.start < found.end <= result.chunk.spans[0].end


def test_a_chunk_without_text_has_no_sentence() -> None:
    retriever, trace = _search(_corpus(_unit("5", ""), *FILLER), "clause 5")
    index = next(i for i, c in enumerate(retriever.chunks(BM25)) if c.unit == "D V1#5")
    assert nearest_sentence(retriever, trace, index) is None


def test_the_answer_does_not_say_a_thing_twice_and_prefers_the_higher_result() -> None:
    same = "The surge voltage shall be 2 kV at the mains port."
    corpus = _corpus(_unit("5", same), _unit("6", f"{same} Nothing else applies to it here."), *FILLER)
    retriever, trace = _search(corpus, "surge voltage mains")
    found = extractive_answer(retriever, trace)
    assert [s.text for s in found].count(same) == 1
    assert found[0].rank == 1
    assert [s.score for s in found] == sorted((s.score for s in found), reverse=True)


def test_a_question_without_a_word_in_common_has_no_answer() -> None:
    retriever, trace = _search(_corpus(*FILLER), "zebra crossing")
    assert extractive_answer(retriever, trace) == ()


def test_meaning_counts_half_where_there_are_vectors() -> None:
    config = PRESETS["chunked-rrf"].config
    retriever, trace = _search(toys.corpus(), "immunity level of port 7", config, toys.HashingEmbedder(64))
    for found in extractive_answer(retriever, trace):
        assert found.meaning is not None
        plain = toys.HashingEmbedder(64).encode([found.text])[0]
        assert found.meaning == pytest.approx(max(0.0, float(plain @ trace.query_vector)), abs=1e-6)
        assert found.score * (1 + (found.rank - 1) / 10) == pytest.approx((found.words + found.meaning) / 2)
