"""A clause's text as HTML: blocks, hits, excerpts; nothing from the document is markup."""

from dataclasses import replace

from normrag_core.config import RetrieverConfig
from normrag_core.model import Block, InfoUnit
from normrag_core.tokenize import tokenize
from pages import _text as text

BODY = "The level shall be 3 V/m.\n- first item\nTable 1: Limits\nBand | Limit\n80 MHz | 3 V/m\nTail."
TABLE = (("Band", "Limit"), ("80 MHz", "3 V/m"))


def _unit() -> InfoUnit:
    at = BODY.index
    return InfoUnit(
        "D#1",
        "D",
        "1",
        "1",
        "Title",
        "clause",
        "",
        1,
        BODY,
        blocks=(
            Block("paragraph", 0, at("\n- first")),
            Block("list", at("- first"), at("\nTable"), level=1),
            Block("caption", at("Table 1"), at("\nBand")),
            Block("table", at("Band"), at("\nTail"), rows=TABLE),
        ),
    )


def _mark(question: str) -> text.Mark:
    return text.marker(tuple(tokenize(question)), RetrieverConfig())


def test_blocks_become_paragraphs_items_captions_and_tables_and_loose_text_is_kept() -> None:
    kinds = [(p.kind, p.level, p.rows) for p in text.pieces_of(_unit())]
    assert kinds == [("paragraph", 0, ()), ("list", 1, ()), ("caption", 0, ()), ("table", 0, TABLE), ("paragraph", 0, ())]
    out = text.render(text.pieces_of(_unit()))
    assert "<th>Band</th>" in out
    assert "<td>80 MHz</td>" in out
    assert "<p>Tail.</p>" in out
    assert "--level:1" in out


def test_a_span_clips_its_blocks_and_a_clipped_table_is_not_shown_whole() -> None:
    start, end = BODY.index("first"), BODY.index("80 MHz")
    pieces = text.pieces_of(_unit(), start, end)
    assert [p.text for p in pieces] == ["first item", "Table 1: Limits", "Band | Limit"]
    assert all(not p.rows for p in pieces)


def test_lines_between_bars_are_a_table_without_blocks() -> None:
    unit = replace(_unit(), blocks=(), body="Before\n| a | b |\n|---|---|\n| 1 | x \\| y |\nAfter")
    assert [(p.kind, p.rows) for p in text.pieces_of(unit)] == [
        ("paragraph", ()),
        ("table", (("a", "b"), ("1", "x \\| y"))),
        ("paragraph", ()),
    ]


def test_words_of_the_question_are_marked_in_all_their_forms() -> None:
    out = text.inline("Transmitters transmit; emission is <measured>.", _mark("transmitted measuring"))
    assert out == (
        'Transmitters <mark class="nr-mark">transmit</mark>; emission is &lt;<mark class="nr-mark">measured</mark>&gt;.'
    )


def test_only_raised_and_lowered_figures_come_through_as_markup() -> None:
    assert text.inline("2<sup>19</sup> <script>x</script> <b>") == "2<sup>19</sup> &lt;script&gt;x&lt;/script&gt; &lt;b&gt;"


def test_an_excerpt_is_where_most_different_words_of_the_question_stand() -> None:
    filler = [text.Piece("paragraph", f"filler number {i} " + "word " * 60) for i in range(6)]
    wanted = text.Piece("paragraph", "immunity of the receiver")
    shown, cut = text.excerpt([*filler[:4], wanted, *filler[4:]], _mark("receiver immunity"))
    assert cut
    assert wanted in shown
    assert sum(len(p.text) for p in shown) <= text.EXCERPT


def test_an_excerpt_leaves_out_what_a_drawing_left_of_dots() -> None:
    drawn = text.Piece("figure", ". . . . .\n. . . . . .\ntransmitted pilots\n- - - -")
    filler = [text.Piece("paragraph", "word " * 150) for _ in range(2)]
    shown, cut = text.excerpt([drawn, *filler], _mark("pilots"))
    assert cut
    assert [p.text for p in shown] == ["transmitted pilots"]
    assert drawn.text.startswith(". . .")


def test_unknown_terms_are_named_in_the_words_of_the_question() -> None:
    config = RetrieverConfig()
    question = "Which six-byte label was overstepped?"
    assert text.words_of(question, ("overstep", "six-byte"), config) == ["overstepped"]


def test_a_long_table_shows_its_head_and_the_rows_with_hits() -> None:
    rows = (("Name", "Value"), *((f"row{i}", "x" * 40) for i in range(40)), ("immunity", "3 V/m"))
    piece = text.Piece("table", "\n".join("".join(r) for r in rows), rows=rows)
    shown, cut = text.excerpt([piece], _mark("immunity"))
    assert cut
    assert shown[0].rows == (("Name", "Value"), ("immunity", "3 V/m"))


def test_a_short_text_is_shown_whole() -> None:
    pieces = text.pieces_of(_unit())
    assert text.excerpt(pieces, text.no_mark) == (pieces, False)
