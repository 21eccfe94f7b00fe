"""The terms that standards are asked by survive, whole and by parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normrag_core.tokenize import _line_terms, _Lines, tokenize, unify, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("clause 4.2.1 applies", ["claus", "4.2.1", "appli"]),
        ("5.2.9a and 7.3.75A", ["5.2.9a", "7.3.75a"]),
        ("EN 301 489-1", ["en", "301 489-1", "301 489", "489-1", "1", "301489", "301", "489"]),
        ("301 489-1", ["301 489-1", "301 489", "489-1", "1", "301489", "301", "489"]),
        ("TS129229", ["ts", "129 229", "129229", "129", "229"]),
        ("3GPP TS 29.229", ["3gpp", "ts", "29.229", "129 229"]),
        ("V1.4.1", ["v1.4.1"]),
        ("PLP_ID", ["plp_id", "plp", "id"]),
        ("DVB\u2011T2", ["dvb-t2", "dvb", "t2"]),
        ("time-slicing", ["time-slicing", "time", "slice"]),
        ("authApplicationId", ["authapplicationid", "auth", "applic", "id"]),
        ("3 V/m", ["3 v/m", "3", "v/m"]),
        ("25ms", ["25 ms", "25", "ms"]),
        ("an 8-bit field", ["8 bit", "8", "bit", "field"]),
        ("10 minutes", ["10 minut", "10", "minut"]),
        ("0,5 dB", ["0.5 db", "0.5", "db"]),
        ("64 800 bits", ["64 800", "64800", "64", "800", "bit"]),
        ("annex A", ["annex a", "annex"]),
        ("table 12.", ["tabl 12", "tabl", "12"]),
        ("clause 5 of", ["claus 5", "claus", "5"]),
        ("2^19", ["2^19"]),
        ("C<sub>1</sub>", ["c1"]),
        ("0x0B", ["0x0b"]),
        ("value 7 is", ["valu", "7"]),
        ("sec\u00adtion", ["section"]),
        ("shall not", ["shall", "not"]),
        ("the of a", []),
        ("", []),
    ],
)
def test_domain_terms(text: str, expected: list[str]) -> None:
    assert tokenize(text) == expected


def test_a_plural_finds_its_singular_only_with_stemming() -> None:
    assert tokenize("descriptors") == tokenize("descriptor")
    assert tokenize("descriptors", stem=False) == ["descriptors"]


def test_the_word_tokenizer_is_the_one_of_the_rank_bm25_readme() -> None:
    assert tokenize("It is quite windy, in London", "word") == ["It", "is", "quite", "windy,", "in", "London"]


def test_a_question_and_a_clause_meet_whatever_their_dashes_and_spaces() -> None:
    assert tokenize("at 3\u202fV/m") == tokenize("at 3 V/m")
    for printed in ("EN\u00a0301\u00a0489\u20111", "EN 301-489-1", "en 301489-1"):
        assert tokenize(printed) == tokenize("EN 301 489-1")
    assert tokenize("time\u2013slicing") == tokenize("time-slicing")


def test_words_are_counted_through_the_bars_of_a_table() -> None:
    assert words("| Level | 3 V/m |\n|---|:---:|\n| x | |") == ["Level", "3", "V/m", "x"]
    assert words("a - b") == ["a", "-", "b"]


def test_unify_drops_markup_but_keeps_comparison_signs() -> None:
    assert unify("N<sub>ldpc</sub> < 5") == "Nldpc < 5"


@given(st.lists(st.sampled_from([*"a1V/-_.^|%µ\u00ad\u2011\u00a0\n ", "EN", "301", "489-1", "clause", "dB", "<sub>", "\n"])))
def test_terms_do_not_depend_on_being_worked_out_line_by_line(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert tuple(tokenize(text)) == _line_terms(text, stem=True)


def test_a_word_that_a_soft_hyphen_parts_over_two_lines_is_one() -> None:
    assert tokenize("inter\u00ad\nleaving\nof 3\nV/m") == ["interleav", "3", "v/m", "v", "m"]


def test_the_lines_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("normrag_core.tokenize.LINES_KEPT", 20)
    kept = _Lines(stem=False)
    for n in range(50):
        assert kept[f"line {n}"] == ("line", str(n))
        assert sum(map(len, kept)) <= 30
