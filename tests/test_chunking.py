"""Three ways to cut a corpus, with exact places."""

from __future__ import annotations

import pytest
from toys import corpus, document, unit

from normrag_core.chunking import make_chunks, passage
from normrag_core.model import Block, Corpus, Line, Rect
from normrag_core.tokenize import words

A, B = "EN 999 001 V1.1.1", "TS 999 002 V1.2.1"


def of_blocks(*blocks: tuple[str, str]) -> Corpus:
    """A document of one clause with these (kind, text) blocks, a line break between them."""
    body, made = "", []
    for kind, text in blocks:
        start = len(body)
        body += text + "\n"
        made.append(Block(kind, start, start + len(text)))  # type: ignore[arg-type]
    units = (unit(A, "", "Radio"), unit(A, "5", "Levels", body, blocks=made))
    return Corpus((document("EN 999 001", "V1.1.1", "Radio"),), units, ())


def texts(given: Corpus, max_words: int) -> list[str]:
    return [c.text.strip() for c in make_chunks(given, "structured+chunks", max_words) if c.unit == f"{A}#5"]


def test_structured_is_one_chunk_a_unit() -> None:
    chunks = make_chunks(corpus(), "structured")
    assert [c.id for c in chunks] == [u.id for u in corpus().units]
    assert {c.kind for c in chunks} == {"unit"}
    by_id = {c.id: c for c in chunks}
    assert by_id[f"{A}#4"].text == "4 Test conditions"  # an empty body is valid
    assert by_id[f"{B}#2.1"].text.startswith("2.1 Calibration\nCalibration of the output level")


@pytest.mark.parametrize("chunking", ["vanilla", "structured", "structured+chunks"])
def test_spans_are_exact(chunking: str) -> None:
    made = corpus()
    for chunk in make_chunks(made, chunking, 40):  # type: ignore[arg-type]
        for span in chunk.spans:
            assert made.by_id[span.unit].body[span.start : span.end] in chunk.text


@pytest.mark.parametrize("max_words", [20, 40, 100])
def test_parts_stay_within_the_limit_and_lose_nothing(max_words: int) -> None:
    made = corpus()
    chunks = make_chunks(made, "structured+chunks", max_words)
    assert all(len(words(c.text)) <= max_words for c in chunks)
    for u in made.units:
        kept = [
            w for c in chunks if c.unit == u.id and c.kind != "head" for s in c.spans for w in words(u.body[s.start : s.end])
        ]
        assert kept == words(u.body)


def test_a_split_unit_is_a_title_and_numbered_parts() -> None:
    chunks = [c for c in make_chunks(corpus(), "structured+chunks", 40) if c.unit == f"{A}#5"]
    assert [(c.id, c.kind) for c in chunks] == [
        (f"{A}#5", "head"),
        (f"{A}#5/1", "part"),
        (f"{A}#5/2", "part"),
        (f"{A}#5/3", "part"),
    ]
    assert chunks[0].text == "5 Immunity requirements"
    assert chunks[1].text.endswith("4 V/m.")  # cut between sentences


def test_cuts_fall_between_blocks() -> None:
    given = of_blocks(("paragraph", "one " * 15), ("list", "two " * 15), ("list", "three " * 15))
    assert [t.split()[0] for t in texts(given, 20)[1:]] == ["one", "two", "three"]
    assert [set(t.split()) for t in texts(given, 30)[1:]] == [{"one", "two"}, {"three"}]


def test_a_table_is_never_cut_and_keeps_its_caption() -> None:
    table = "\n".join(f"| row {n} | {n} V/m |" for n in range(40))
    given = of_blocks(
        ("paragraph", "before " * 18), ("caption", "Table 1: Levels"), ("table", table), ("paragraph", "after " * 5)
    )
    head, before, whole, after = texts(given, 20)
    assert head == "5 Levels"
    assert whole == f"Table 1: Levels\n{table}"
    assert before.split() == ["before"] * 18
    assert after.split() == ["after"] * 5


def test_a_caption_between_two_tables_belongs_to_the_second() -> None:
    given = of_blocks(("table", "| a |\n" * 15), ("caption", "Table 2: B"), ("table", "| b |\n" * 15))
    assert [t.split()[0] for t in texts(given, 20)[1:]] == ["|", "Table"]


def test_a_table_with_its_caption_below_keeps_it() -> None:
    given = of_blocks(("table", "| a |\n" * 18), ("caption", "Table 2: Below"), ("paragraph", "after " * 15))
    assert texts(given, 20)[1].endswith("Table 2: Below")


def test_a_sentence_over_the_limit_is_cut_between_words() -> None:
    given = of_blocks(("paragraph", "word " * 50))
    assert [len(t.split()) for t in texts(given, 20)[1:]] == [20, 20, 10]


def test_a_clause_of_one_long_table_stays_one_chunk() -> None:
    given = of_blocks(("table", "| cell |\n" * 30))
    assert [c.kind for c in make_chunks(given, "structured+chunks", 20)] == ["unit", "unit"]


def test_a_body_at_the_limit_gives_its_title_away() -> None:
    given = of_blocks(("paragraph", "word " * 20))
    assert [len(words(t)) for t in texts(given, 20)] == [2, 20]
    assert [len(words(t)) for t in texts(given, 22)] == [22]


def test_windows_run_over_titles_and_bodies() -> None:
    chunks = [c for c in make_chunks(corpus(), "vanilla", 20) if c.document == A]
    flat = [w for u in corpus().units_of(A) for w in [*u.heading.split(), *u.body.split()]]
    assert [w for c in chunks for w in c.text.split()] == flat
    assert all(len(c.text.split()) == 20 for c in chunks[:-1])
    assert chunks[0].id == f"{A}@1"
    assert chunks[0].unit == f"{A}#1"  # holds most of its words


def test_context_is_beside_the_text() -> None:
    for context, expected in (
        ("none", ""),
        ("document", f"{B} Widget signal generators"),
        ("path", f"{B} Widget signal generators › 2 Output level › 2.1 Calibration"),
    ):
        chunk = make_chunks(corpus(), "structured", context=context)[-1]  # type: ignore[arg-type]
        assert chunk.context == expected
        assert passage(chunk) == (f"{expected}\n{chunk.text}" if expected else chunk.text)
        assert chunk.text.startswith("2.1 Calibration\n")


def test_order_does_not_depend_on_the_order_of_loading() -> None:
    made = corpus()
    turned = Corpus(made.documents[::-1], tuple(u for d in made.documents[::-1] for u in made.units_of(d.key)), made.citations)
    assert make_chunks(made) == make_chunks(turned)


def test_pages_are_those_of_the_lines_covered() -> None:
    body = "first words here\nsecond words there"
    lines = (Line(0, 16, Rect(3, 0, 0, 9, 9)), Line(17, 35, Rect(4, 0, 0, 9, 9)))
    clause = unit(A, "1", "Scope", body)
    clause = type(clause)(**{n: getattr(clause, n) for n in clause.__slots__} | {"lines": lines, "page": 3})
    made = Corpus((document("EN 999 001", "V1.1.1", "Radio"),), (unit(A, "", "Radio"), clause), ())
    assert make_chunks(made)[1].pages == (3, 4)
