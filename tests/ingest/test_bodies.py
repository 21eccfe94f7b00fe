"""Bodies from lines of print: exact text, kinds, places."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import pytest
from typeset import LEFT, Sheet, blocks, body, full

OPENING = full("Opening") + "."
LONG = "a line that is so long that nothing more would fit on it behind its end"


def sheet(number: int = 1) -> Sheet:
    """A page that begins with a full line of prose, so that its text area is known."""
    return Sheet(number).put(LEFT, 80, OPENING)


def after(*sheets: Sheet) -> list[tuple[str, str]]:
    """Blocks after the opening line."""
    found = blocks(*sheets)
    assert found[0] == ("paragraph", OPENING)
    return found[1:]


def test_a_paragraph_is_joined_over_its_lines_and_parted_by_space():
    page = sheet().prose(110, full("The receiver"), "shall decode it.").prose(150, "A second paragraph.")
    first = full("The receiver") + " shall decode it."
    assert after(page) == [("paragraph", first), ("paragraph", "A second paragraph.")]


def test_a_sentence_goes_on_over_the_page_break():
    one = sheet().prose(760, full("The value is given in clause"))
    two = Sheet(2).prose(80, "7.2 of the present document.").prose(110, "Next.")
    assert after(one, two) == [
        ("paragraph", full("The value is given in clause") + " 7.2 of the present document."),
        ("paragraph", "Next."),
    ]


def test_a_list_item_goes_on_over_the_page_break_at_its_own_indentation():
    one = sheet().put(70, 760, "•").put(93, 760, full("the first part of an item")[:85])
    two = Sheet(2).put(93, 80, "that ends here;").put(70, 110, "•").put(93, 110, "another.")
    assert after(one, two)[1:] == [("list", "• another.")]
    assert after(one, two)[0][1].endswith("x that ends here;")


def test_a_finished_sentence_is_not_joined_with_the_next_page():
    one, two = sheet().prose(760, "It ends here."), Sheet(2).prose(80, "Another begins.")
    assert [text for _, text in after(one, two)] == ["It ends here.", "Another begins."]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("uses time-", "slicing here", "uses time-slicing here"),  # printed with its hyphen elsewhere
        ("the modu-", "lation used", "the modulation used"),  # the rest is no word, the whole one is
        ("an undocumen-", "tedthing is", "an undocumentedthing is"),
        ("with MPE-", "FEC frames", "with MPE-FEC frames"),
        ("see EN 301 489-", "1 for", "see EN 301 489-1 for"),
        ("time- and frequency-", "and code- division", "time- and frequency- and code- division"),
        ("a soft\u00ad", "ware update", "a software update"),
        ("the name private_", "data_byte is", "the name private_data_byte is"),
        ("well-", "known values", "well-known values"),  # both parts are words of the document
    ],
)
def test_a_hyphen_at_the_end_of_a_line(first, second, expected):
    page = sheet().prose(110, full(first).split(" x")[0].ljust(90, " "), second)
    page.prose(300, "Mentions time-slicing, modulation, slicing, well, known and known things.")
    page.prose(330, "It is known well, and slicing is known well too.")
    assert after(page)[0][1] == expected


def test_soft_hyphens_inside_a_word_go_and_others_stay():
    page = sheet().prose(110, "soft\u00adware and 3\u00ad4")
    assert after(page)[0][1] == "software and 3\u00ad4"


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([("2", ""), ("19", "^"), (" + 2", ""), ("15", "^")], "2^19 + 2^15"),
        ([("10", ""), ("-7", "^"), (" errors", "")], "10^-7 errors"),
        ([("2", ""), ("n-1", "^"), (" values", "")], "2^(n-1) values"),
        ([("the 361", ""), ("st", "^"), (" bit", "")], "the 361st bit"),
        ([("N", ""), ("ldpc", "_"), (" bits", "")], "N<sub>ldpc</sub> bits"),
        ([("10", ""), ("6", "^"), ("Hz", "")], "10^(6)Hz"),
        ([("47", ""), ("HEX", "_"), (").", "")], "47<sub>HEX</sub>)."),
    ],
)
def test_raised_and_lowered_print_is_marked(runs, expected):
    page = sheet().put(LEFT, 110, [("Here ", ""), *runs])
    assert after(page)[0][1] == "Here " + expected


def test_a_loose_index_joins_the_letter_it_touches():
    """Formula editors place each index as a line of its own (EN 302 755 V1.4.1, page 41)."""
    page = sheet().put(200, 110, "p").put(212, 110, "= q").put(205.2, 112.6, "i", size=8).put(227.2, 112.6, "k", size=8)
    assert after(page) == [("formula", "p<sub>i</sub> = q<sub>k</sub>")]


def test_ligatures_and_odd_spaces_are_made_plain():
    page = sheet().prose(110, "the o\ufb03cial \ufb01eld\u00a0of 300\u2011421\u2009kHz")
    assert after(page)[0][1] == "the official field of 300-421 kHz"


def test_list_items_keep_marker_and_level():
    page = sheet()
    page.put(70, 110, "•").put(93, 110, "outer;").put(93, 130, "-").put(113, 130, LONG).put(113, 141.5, "goes on;")
    page.put(70, 161, "•").put(93, 161, "outer again.").put(70, 181, "a)").put(93, 181, "lettered;").put(70, 201, "2)").put(
        93, 201, "two."
    )
    text, found, _ = body(page)
    assert [(b.kind, b.level, text[b.start : b.end]) for b in found[1:]] == [
        ("list", 0, "• outer;"),
        ("list", 1, f"- {LONG} goes on;"),
        ("list", 0, "• outer again."),
        ("list", 0, "a) lettered;"),
        ("list", 0, "2) two."),
    ]


def test_notes_and_examples_are_marked():
    page = sheet().put(70, 110, "NOTE 1:").put(113, 110, LONG).put(113, 121.5, "and its second.")
    page.put(70, 150, "EXAMPLE:").put(141, 150, "93/10/13 is a date.")
    assert after(page) == [
        ("note", f"NOTE 1: {LONG} and its second."),
        ("example", "EXAMPLE: 93/10/13 is a date."),
    ]


def test_each_entry_of_a_reference_list_is_a_block():
    page = sheet().put(70, 110, "[1]").put(113, 110, f'ETSI EN 300 421: "{LONG}').put(113, 121.5, 'structure".')
    page.put(70, 141, "[i.2]").put(113, 141, "ISO/IEC 13818-1.")
    assert after(page) == [("reference", f'[1] ETSI EN 300 421: "{LONG} structure".'), ("reference", "[i.2] ISO/IEC 13818-1.")]


def test_definitions_and_pairs_of_term_and_text():
    page = sheet().put(LEFT, 110, [("table_id:", "b"), (" see table 2.", "")])
    for i, (term, text) in enumerate(
        [("BER", "Bit Error Ratio"), ("FEC", "Forward Error Correction"), ("TS", "Transport Stream")]
    ):
        page.put(70, 140 + 11.5 * i, term).put(130, 140 + 11.5 * i, text)
    assert after(page) == [
        ("definition", "table_id: see table 2."),
        ("definition", "BER\tBit Error Ratio"),
        ("definition", "FEC\tForward Error Correction"),
        ("definition", "TS\tTransport Stream"),
    ]


def test_a_caption_takes_its_second_line_but_a_sentence_about_a_table_is_prose():
    page = sheet().put(180, 110, "Table 2: Puncturing pattern for all", "b").put(200, 121.5, "code rates = 1/2", "b")
    page.prose(150, "Table 2 shows the pattern.")
    assert after(page) == [
        ("caption", "Table 2: Puncturing pattern for all code rates = 1/2"),
        ("paragraph", "Table 2 shows the pattern."),
    ]


def test_code_keeps_line_breaks_and_indentation():
    page = sheet()
    for i, (indent, text) in enumerate([(0, "{"), (2, '"size": 512,'), (2, '"more": ['), (4, '"a"'), (2, "]"), (0, "}")]):
        page.put(70 + 6 * indent, 110 + 11.5 * i, text, "m")
    assert after(page) == [("code", '{\n  "size": 512,\n  "more": [\n    "a"\n  ]\n}')]


def test_spaces_printed_before_code_are_indentation_too():
    page = sheet().put(70, 110, "begin", "m").put(70, 121.5, "    inner", "m").put(70, 133, "end", "m")
    assert after(page) == [("code", "begin\n    inner\nend")]


def test_message_formats_in_a_proportional_font_are_code():
    page = (
        sheet().put(100, 110, "<Some-Request> ::= < Header: 300 >").put(150, 121.5, "< Session-Id >").put(150, 133, "*[ AVP ]")
    )
    assert after(page) == [("code", "<Some-Request> ::= < Header: 300 >\n          < Session-Id >\n          *[ AVP ]")]


def test_session_descriptions_are_code():
    page = sheet().put(90, 110, "v=0").put(90, 121.5, "m=audio 49170 RTP/AVP 0").put(90, 133, "a=sendonly")
    assert after(page) == [("code", "v=0\nm=audio 49170 RTP/AVP 0\na=sendonly")]


def test_the_last_line_of_a_paragraph_right_above_a_drawing_is_no_label():
    page = sheet().prose(110, full("The model"), "with full capabilities.")
    page.rules += [(100, 126, 180, 127), (100, 160, 180, 161), (100, 126, 101, 160), (180, 126, 181, 160), (181, 140, 260, 141)]
    page.rules += [(260, 126, 261, 180)]
    page.put(105, 150, "Box", size=8)
    assert after(page) == [("paragraph", full("The model") + " with full capabilities."), ("figure", "Box")]


def test_an_example_of_code_keeps_its_label():
    page = sheet().put(70, 110, "EXAMPLE 1:").put(130, 110, "ex:a a ex:Device ;", "m").put(142, 121.5, "ex:b ex:Thing .", "m")
    assert [kind for kind, _ in after(page)] == ["example"]
    first, second = after(page)[0][1].split("\n")
    assert first.startswith("EXAMPLE 1: ")
    assert first.endswith("ex:a a ex:Device ;")
    assert second.strip() == "ex:b ex:Thing ."


def test_formulas_are_blocks_of_their_own():
    page = sheet().put(230, 110, "C = B / T").prose(140, "where B is the burst.")
    assert after(page) == [("formula", "C = B / T"), ("paragraph", "where B is the burst.")]


def test_labels_of_a_drawing_are_kept_apart_from_prose_and_together_by_box():
    page = sheet().prose(110, "Prose above.")
    page.rules += [(100, 140, 180, 141), (100, 180, 180, 181), (100, 140, 101, 180), (180, 140, 181, 180), (181, 160, 260, 161)]
    page.rules += [(260, 140, 340, 141), (260, 180, 340, 181), (260, 140, 261, 180), (340, 140, 341, 180), (300, 181, 301, 220)]
    page.put(110, 158, "Select", size=8).put(110, 168, "network", size=8).put(270, 158, "Tune to", size=8).put(
        270, 168, "stream", size=8
    )
    page.put(200, 240, "Figure 2: Procedure", "b").prose(270, "Prose below.")
    assert after(page) == [
        ("paragraph", "Prose above."),
        ("figure", "Select network\nTune to stream"),
        ("caption", "Figure 2: Procedure"),
        ("paragraph", "Prose below."),
    ]


def test_labels_above_a_figure_caption_are_told_by_their_font():
    page = (
        sheet().prose(110, full("Prose")).put(250, 150, "Power in 4 kHz", font="Helvetica").put(200, 180, "Figure 1: Mask", "b")
    )
    assert after(page)[1:] == [("figure", "Power in 4 kHz"), ("caption", "Figure 1: Mask")]


def test_a_chart_over_its_caption_is_no_table_and_the_note_above_it_no_label():
    """Grid lines of a chart (EN 302 307, page 70) and a note that ends right above (EN 302 755, page 92)."""
    page = sheet().put(70, 110, "NOTE:").put(113, 110, LONG).put(113, 121.5, "and a rest.")
    page.grid([150.0, 200.0, 250.0, 300.0], [160.0, 190.0, 220.0]).put(130, 165, "4,5", size=8).put(130, 218, "0", size=8)
    page.put(210, 200, "QPSK", size=8).put(200, 235, "Code rate", size=8).put(200, 260, "Figure 3: Rates", "b")
    found = after(page)
    assert found[0] == ("note", f"NOTE: {LONG} and a rest.")
    assert [kind for kind, _ in found[1:]] == ["figure", "caption"]
    assert found[1][1].split("\n") == ["4,5", "QPSK", "0", "Code rate"]


def test_prose_that_wraps_to_names_in_a_typewriter_font_stays_prose():
    page = sheet().prose(110, full("The elements are")).put(LEFT, 121.5, "SchemeName and NextUpdate", "m")
    assert after(page) == [("paragraph", full("The elements are") + " SchemeName and NextUpdate")]


def test_rotated_print_is_kept_as_figure_text():
    page = sheet().prose(110, "Prose.").put(300, 300, "rotated label", upright=False)
    assert after(page) == [("paragraph", "Prose."), ("figure", "rotated label")]


def test_a_short_line_that_ends_a_statement_keeps_its_break():
    page = sheet().prose(110, "650 Route des Lucioles;", "F-06921 Sophia Antipolis;", "France.")
    assert after(page) == [("paragraph", "650 Route des Lucioles;\nF-06921 Sophia Antipolis;\nFrance.")]


def test_every_line_has_its_place_and_offsets_ascend():
    one = sheet().prose(110, full("First"), "second line.").put(70, 150, "NOTE:").put(113, 150, "A note")
    two = Sheet(2).put(113, 80, "goes on here.")
    text, found, lines = body(one, two)
    assert [text[line.start : line.end] for line in lines] == [
        OPENING,
        full("First"),
        "second line.",
        "NOTE:",
        "A note",
        "goes on here.",
    ]
    assert [(line.rect.page, round(line.rect.y1, 1)) for line in lines] == [
        (1, 82.5), (1, 112.5), (1, 124.0), (1, 152.5), (1, 152.5), (2, 82.5),
    ]  # fmt: skip
    assert all(a.end <= b.start for a, b in itertools.pairwise(lines))
    assert all(a.end + 2 == b.start for a, b in itertools.pairwise(found))


def test_no_lines_make_an_empty_body():
    assert body(Sheet()) == ("", (), ())


def letters(text: str) -> Counter[str]:
    """Letters and digits of a text, marks of scripts left out."""
    return Counter(c for c in re.sub(r"</?sub>", "", text).lower() if c.isalnum())


@pytest.mark.shared
@pytest.mark.parametrize("name", ["ts_10260603v010101p.pdf", "etsi_qkd_standard_definition.pdf", "en_300472v010401p.pdf"])
def test_nothing_is_lost_or_doubled_on_real_pages(shared_corpus, name):
    import pymupdf

    from normrag_core.ingest.bodies import build_body
    from normrag_core.ingest.layout import read_pages
    from normrag_core.ingest.scripts import plain

    with pymupdf.open(shared_corpus / name) as document:
        pages = {page.number: page for page in read_pages(document)}
    for page in pages.values():
        text, _, lines = build_body(page.lines, pages)
        assert letters(text) == letters(plain("\n".join(line.text for line in page.lines))), page.number
        assert all(a.end <= b.start for a, b in itertools.pairwise(lines))
