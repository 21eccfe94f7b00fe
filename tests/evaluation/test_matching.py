"""The 75 % rule: words in order, whatever the printing did to them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normrag_core.evaluation.matching import lcs_length, match, needed, words
from normrag_core.evaluation.questions import Question, Relevant, Witness
from normrag_core.model import Chunk, Corpus, Document, InfoUnit, Span


@pytest.mark.parametrize(
    ("printed", "plain"),
    [
        ("The Time-\nslicing  mode", "the time-slicing mode"),
        ("modu-\n  lation", "modulation"),
        ("across a page-\n\fbreak", "across a page-break"),
        ("2^16 and 2<sup>16</sup>, x<sub>i</sub>", "216 and 216 xi"),
        ("| Rating | 0x00 |\n|---|---|", "rating 0x00"),
        ("audio_preselection_\ndescriptor()", "audio_preselection_descriptor"),
        ("con\u00adfiguration ﬁeld", "configuration field"),
        ("EN 301 489\u20111", "EN 301 489-1"),
        ("5 - 7 dB", "5 7 db"),
    ],
)
def test_words_ignore_printing(printed: str, plain: str) -> None:
    assert words(printed) == words(plain)


def test_words_keep_what_distinguishes() -> None:
    assert words("value 0,05 in µs (NOTE 2)") == ["value", "0", "05", "in", "μs", "note", "2"]
    assert words("time slicing") != words("timeslicing")


def simple_lcs(a: list[str], b: list[str]) -> int:
    table = np.zeros((len(a) + 1, len(b) + 1), int)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1, j + 1] = table[i, j] + 1 if x == y else max(table[i, j + 1], table[i + 1, j])
    return int(table[-1, -1])


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcd"), max_size=90), st.lists(st.sampled_from("abcde"), max_size=40))
def test_lcs_equals_the_table_method(a: list[str], b: list[str]) -> None:
    assert lcs_length(a, b) == lcs_length(b, a) == simple_lcs(a, b)


def test_needed_is_not_thrown_by_floating_point() -> None:
    assert [needed(n, 0.75) for n in (1, 3, 4, 5, 8, 12)] == [1, 3, 3, 4, 6, 9]
    assert needed(100, 0.07) == 7


def make_corpus() -> tuple[Corpus, list[Chunk]]:
    documents = tuple(Document(f"EN {n} V1.1.1", f"EN {n}", "V1.1.1", "2020-01", "T", 9, f"en_{n}.pdf") for n in (1, 2))
    units = []
    for d in documents:
        units.append(InfoUnit(f"{d.key}#", d.key, "", "", "T", "document", None, 1))
        units += [
            InfoUnit(f"{d.key}#{code}", d.key, code, code, "Title", "clause", "", 2, "one two three four") for code in "45"
        ]
    a, b = (d.key for d in documents)

    def chunk(n: int, document: str, unit: str, text: str, kind: str = "unit", spans: tuple[Span, ...] = ()) -> Chunk:
        return Chunk(f"c{n}", document, f"{document}#{unit}", kind, text, spans=spans)  # type: ignore[arg-type]

    both = (Span(f"{a}#4", 0, 18), Span(f"{a}#5", 0, 3))
    chunks = [
        chunk(0, a, "4", "one two three four five six seven eight"),
        chunk(1, a, "5", "eight seven six five four three two one"),
        chunk(2, b, "4", "one two three four five six seven eight"),
        chunk(3, a, "4", "zero one two x three four y five six z"),
        chunk(4, a, "4", "title only", "head"),
        chunk(5, a, "5", "window", "window", both),
    ]
    return Corpus(documents, tuple(units), ()), chunks


def test_match_wants_order_share_and_document() -> None:
    corpus, chunks = make_corpus()
    witness = "One two three four, five six seven eight"
    questions = [
        Question("in order, 6 of 8 words", "?", witnesses=(Witness(witness, "en_1.pdf"),)),
        Question("other folder and case", "?", witnesses=(Witness(witness, "x/EN_2.PDF"),)),
        Question("any document", "?", witnesses=(Witness(witness),)),
        Question("not loaded", "?", witnesses=(Witness(witness, "en_3.pdf"), Witness("zero one", "en_1.pdf"))),
    ]
    matches = match(corpus, chunks, questions)
    assert [[g.tolist() for g in q] for q in matches.hits] == [[[0, 3]], [[2]], [[0, 2, 3]], [[], [3]]]
    assert matches.reachable.tolist() == [1, 1, 1, 0.5]
    assert matches.unreachable == [(3, 0)]
    assert matches.words.tolist() == [8, 8, 8, 10, 2, 1]
    stricter = match(corpus, chunks, questions, threshold=0.8)
    assert stricter.hits[0][0].tolist() == [0]
    with pytest.raises(ValueError, match="found 0"):
        match(corpus, chunks, questions, threshold=0)


def test_match_by_document_and_code() -> None:
    corpus, chunks = make_corpus()

    def hits(document: str, code: str) -> list[int]:
        return match(corpus, chunks, [Question("q", "?", relevant=(Relevant(document, code),))]).hits[0][0].tolist()

    # The head chunk 4 carries only the title; window 5 covers all of clause 4 though most of it is counted to clause 5.
    assert hits("EN 1", "4") == [0, 3, 5]
    assert hits("ETSI EN 1 V1.1.1", "5") == [1, 5]
    assert hits("en_2.pdf", "4") == [2]
    assert hits("EN 9", "4") == []


def test_what_was_judged_wrong_is_found_by_the_same_rule_unless_it_is_right_too() -> None:
    corpus, chunks = make_corpus()
    right = Witness("one two three four five six seven eight", "en_1.pdf")
    wrong = Witness("eight seven six five four three two one", "en_1.pdf")
    asked = [
        Question("passage", "?", witnesses=(right,), rejected=(wrong,)),
        Question("clause", "?", witnesses=(right,), rejected=(Relevant("EN 1", "4"),)),
        Question("none", "?", witnesses=(right,)),
    ]
    found = match(corpus, chunks, asked)
    assert [None if r is None else r.tolist() for r in found.rejected] == [[1], [5], None]
    assert [g.tolist() for q in found.hits for g in q] == [[0, 3]] * 3


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=14), min_size=1, max_size=8),
    st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=12),
    st.sampled_from([0.5, 0.75, 1.0]),
)
def test_match_finds_what_a_plain_comparison_finds(texts: list[list[str]], asked: list[str], threshold: float) -> None:
    """The overlap of words that is looked at first rules out no hit."""
    corpus, _ = make_corpus()
    key = corpus.documents[0].key
    chunks = [Chunk(f"c{i}", key, f"{key}#4", "unit", " ".join(t)) for i, t in enumerate(texts)]
    found = match(corpus, chunks, [Question("q", "?", witnesses=(Witness(" ".join(asked)),))], threshold).hits[0][0]
    need = threshold * len(asked)
    assert found.tolist() == [i for i, t in enumerate(texts) if simple_lcs(asked, t) >= need - 1e-9]
