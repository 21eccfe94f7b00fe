"""How far results bear on a question: by the weight of its words, by the plain cosine."""

import math

import pytest

from normrag_core.config import RetrieverConfig
from normrag_core.model import Corpus, Document, InfoUnit
from normrag_core.retriever import Retriever
from normrag_core.strength import Strength, strength

WORDS = ("antenna", "receiver", "carrier", "symbol", "telegram", "battery", "charger", "pager")


def _retriever() -> Retriever:
    units = [InfoUnit("D#", "D", "", "", "", "document", None, 1)]
    units += [InfoUnit(f"D#{i}", "D", f"{i}", f"{i}", word, "clause", "", 1, word) for i, word in enumerate(WORDS, 1)]
    return Retriever(Corpus((Document("D", "D", "", "", "", 1, "f.pdf"),), tuple(units), ()))


def test_a_word_that_no_chunk_holds_weighs_like_the_rarest() -> None:
    config = RetrieverConfig(ranking="bm25", context="none")
    retriever = _retriever()
    found = strength(retriever, retriever.search("antenna sourdough", config))
    # Nine chunks; "antenna" stands in one of them: idf = ln((9 - 1 + 0.5) / (1 + 0.5)). The unknown word weighs the same.
    assert retriever.index(config).bm25(config).idf_of("antenna")[0] == pytest.approx(math.log(8.5 / 1.5))
    assert found.words == pytest.approx(0.5)
    assert found.unknown == ("sourdough",)
    assert found.meaning is None


def test_words_or_meaning_alone_are_enough() -> None:
    assert Strength(0.49, 0.39, ()).weak
    assert Strength(0.49, None, ()).weak
    assert not Strength(0.49, 0.4, ()).weak
    assert not Strength(0.5, 0.0, ()).weak


def test_nothing_found_is_weak() -> None:
    retriever = _retriever()
    found = strength(retriever, retriever.search("sourdough", RetrieverConfig(ranking="bm25", context="none")))
    assert (found.words, found.weak) == (0.0, True)
