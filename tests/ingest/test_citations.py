"""Citations in running text: one table of sentences and what they cite, then properties of the output."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from normrag_core.ingest.citations import find_citations
from normrag_core.model import Block, Document, InfoUnit, Line, Rect, Reference

OWN = "EN 300 100"
KEY = "EN 300 100 V1.2.1"
CODES = [
    "1",
    "2",
    "3",
    "3.1",
    "4",
    "4.2",
    "5",
    "5.1",
    "5.2",
    "5.3",
    "5.3A",
    "5.4",
    "6",
    "6.2",
    "7",
    "7.1",
    "7.2.1",
    "9",
    "A",
    "A.1",
    "B",
]
CODES += ["C", "D", "H", "H.1", "I", "I.1", "I.2", "6.1.3", "4.4.1"]


def reference(label: str, document: str, version: str | None = None, **more: bool) -> Reference:
    return Reference(label, document, document, version, "", 6, informative=label.startswith("i."), **more)


REFERENCES = (
    reference("1", "EN 301 489-1", "V2.2.3"),
    reference("2", "EN 300 421"),
    reference("3", "ISO/IEC 13818-1"),
    reference("4", "3GPP TS 29.228"),
    reference("5", "RFC 3261"),
    reference("6", "", void=True),
    reference("7", "ITU-T T.90"),
    reference("8", ""),
    reference("9", "ISO/IEC 13818"),
    reference("i.1", "EN 300 100", "V1.1.1"),
    reference("i.2", "", void=True),
    reference("i.3", "TS 102 831"),
)


def unit(code: str, body: str = "", kind: str = "clause", title: str = "T", **more: object) -> InfoUnit:
    if code.isalpha() and len(code) < 3:
        kind = "annex"
    return InfoUnit(f"{KEY}#{code}", KEY, code, code, title, kind, None if kind == "document" else "", 3, body, **more)  # type: ignore[arg-type]


def document(references: tuple[Reference, ...] = REFERENCES) -> Document:
    return Document(KEY, OWN, "V1.2.1", "2020-01", "A standard", 20, "a.pdf", references=references)


def corpus(body: str, blocks: tuple[Block, ...] = (), title: str = "Text", **more: object) -> list[InfoUnit]:
    captions = "Table 12: Values"
    units = [unit("", kind="document")]
    for code in CODES:
        if code == "7.1":
            text = f"{captions}\nFigure H.3: Layout"
            at = len(captions) + 1
            units.append(unit(code, text, blocks=(Block("caption", 0, at - 1), Block("caption", at, len(text)))))
        elif code == "6.2":
            text = "x = y + z (3)\nGEN-6.2-04: The terminal shall answer."
            units.append(unit(code, text, blocks=(Block("formula", 0, 13), Block("paragraph", 14, len(text)))))
        else:
            units.append(unit(code))
    return [*units, unit("10", body, title=title, blocks=blocks, **more)]


def cited(body: str, **more: object) -> list[tuple[str, str, str]]:
    """(text, document, code) of every citation; the own document is written "own"."""
    found = find_citations(document(), corpus(body, **more), {})  # type: ignore[arg-type]
    return [
        (c.text, "own" if c.document == OWN and c.edition is None else c.document, c.code)
        for c in found
        if c.source.endswith("#10")
    ]


TABLE: list[tuple[str, list[tuple[str, str, str]]]] = [
    # internal
    ("as given in clause 7.1.", [("clause 7.1", "own", "7.1")]),
    ("Clause 7.1 applies.", [("Clause 7.1", "own", "7.1")]),
    ("See annex D for more.", [("annex D", "own", "D")]),
    ("in Annex D; and in subclause 5.2", [("Annex D", "own", "D"), ("subclause 5.2", "own", "5.2")]),
    ("see § 5.2 and §5.3", [("§ 5.2", "own", "5.2"), ("§5.3", "own", "5.3")]),
    ("clauses 5.1, 5.2 and 6.2 apply", [("clauses 5.1", "own", "5.1"), ("5.2", "own", "5.2"), ("6.2", "own", "6.2")]),
    ("clauses 5, 6 or 7", [("clauses 5", "own", "5"), ("6", "own", "6"), ("7", "own", "7")]),
    (
        "clauses I.1 (separate signalling circuit) or I.2 apply",
        [("clauses I.1", "own", "I.1"), ("I.2", "own", "I.2")],
    ),
    (
        "clauses 5 to 7",
        [("clauses 5 to 7", "own", "5"), ("clauses 5 to 7", "own", "6"), ("clauses 5 to 7", "own", "7")],
    ),
    (
        "clauses 5.2 to 5.4 hold",
        [("clauses 5.2 to 5.4", "own", c) for c in ("5.2", "5.3", "5.3A", "5.4")],
    ),
    ("annexes A and B", [("annexes A", "own", "A"), ("B", "own", "B")]),
    ("annexes A to C", [("annexes A to C", "own", "A"), ("annexes A to C", "own", "B"), ("annexes A to C", "own", "C")]),
    ("clause A.1 says", [("clause A.1", "own", "A.1")]),
    ("the clause\n7.2.1 over a line break", [("clause 7.2.1", "own", "7.2.1")]),
    ("see table 12 for values", [("table 12", "own", "7.1")]),
    ("Table 12 shows the values.", [("Table 12", "own", "7.1")]),
    ("in figure H.3", [("figure H.3", "own", "7.1")]),
    ("see table 6.1.3.2", [("table 6.1.3.2", "own", "6.1.3")]),
    ("see table 4.4.1-2", [("table 4.4.1-2", "own", "4.4.1")]),
    ("by equation (3)", [("equation (3)", "own", "6.2")]),
    ("as required in GEN-6.2-04.", [("GEN-6.2-04", "own", "6.2")]),
    ("as described in clause 8.8", [("clause 8.8", "own", "8.8")]),
    ("clause 5.2 of the present document", [("clause 5.2", "own", "5.2")]),
    ("clause 5.2 of EN 300 100", [("clause 5.2", "own", "5.2")]),
    ("clause 5.2 of the previous version [i.1]", [("clause 5.2 of the previous version [i.1]", OWN, "5.2")]),
    ("(see 7.2.1)", [("7.2.1", "own", "7.2.1")]),
    ("clause 5.2.", [("clause 5.2", "own", "5.2")]),
    ("table 12 in clause 7.1", [("table 12", "own", "7.1"), ("clause 7.1", "own", "7.1")]),
    # other documents
    ("clauses 5.1 and 6.2 of EN 300 421 [2]", [("clauses 5.1", "EN 300 421", "5.1"), ("6.2", "EN 300 421", "6.2")]),
    ("clause 7.2 of EN 300 421 [2]", [("clause 7.2 of EN 300 421 [2]", "EN 300 421", "7.2")]),
    ("ETSI EN 301 489-1 [1], clause 8.2", [("ETSI EN 301 489-1 [1], clause 8.2", "EN 301 489-1", "8.2")]),
    ("EN 300 421 [2] clause 4 says", [("EN 300 421 [2] clause 4", "EN 300 421", "4")]),
    ("clause 5.1.2 in ISO/IEC 13818-1 [3]", [("clause 5.1.2 in ISO/IEC 13818-1 [3]", "ISO/IEC 13818-1", "5.1.2")]),
    ("3GPP TS 29.228 [4] clause 6.3", [("3GPP TS 29.228 [4] clause 6.3", "3GPP TS 29.228", "6.3")]),
    ("see TS 29.213.", [("TS 29.213", "3GPP TS 29.213", "")]),
    ("as in [2].", [("[2]", "EN 300 421", "")]),
    ("as in [2], [3] and [i.3]", [("[2]", "EN 300 421", ""), ("[3]", "ISO/IEC 13818-1", ""), ("[i.3]", "TS 102 831", "")]),
    ("as in [2, 3]", [("2", "EN 300 421", ""), ("3", "ISO/IEC 13818-1", "")]),
    (
        "in [2] to [4]",
        [("[2] to [4]", "EN 300 421", ""), ("[2] to [4]", "ISO/IEC 13818-1", ""), ("[2] to [4]", "3GPP TS 29.228", "")],
    ),
    ("clause 5.1 of [i.3]", [("clause 5.1 of [i.3]", "TS 102 831", "5.1")]),
    ("annex B of EN 300 421 [2]", [("annex B of EN 300 421 [2]", "EN 300 421", "B")]),
    ("table 58 of [2]", [("table 58 of [2]", "EN 300 421", "table 58")]),
    (
        "tables 17a to 17c of [2]",
        [
            ("tables 17a to 17c", "EN 300 421", "table 17a"),
            ("tables 17a to 17c", "EN 300 421", "table 17b"),
            ("tables 17a to 17c", "EN 300 421", "table 17c"),
        ],
    ),
    ("table 2/T.90", [("table 2/T.90", "ITU-T T.90", "table 2")]),
    ("clause 5.3 of the T2 specification [i.3]", [("clause 5.3 of the T2 specification [i.3]", "TS 102 831", "5.3")]),
    ("table 3 in clause 7 of [2]", [("table 3", "EN 300 421", "table 3"), ("clause 7 of [2]", "EN 300 421", "7")]),
    (
        "EN 300 421 [2] clauses 5.1 to 5.3 for MPEG-2 and 5.5 to 5.6 for others",
        [("clauses 5.1 to 5.3", "EN 300 421", c) for c in ("5.1", "5.2", "5.3")]
        + [("5.5 to 5.6", "EN 300 421", c) for c in ("5.5", "5.6")],
    ),
    ("the TS 129 228 [4] procedures", [("TS 129 228 [4]", "3GPP TS 29.228", "")]),
    ("EN 300421 [2] prints it otherwise", [("EN 300421 [2]", "EN 300 421", "")]),
    ("in RFC 3261 [5] and RFC 2045", [("RFC 3261 [5]", "RFC 3261", ""), ("RFC 2045", "RFC 2045", "")]),
    ("ITU-T Recommendation T.90 [7], table 2", [("ITU-T Recommendation T.90 [7], table 2", "ITU-T T.90", "table 2")]),
    ("EN 301 489-\n1 [1]", [("EN 301 489- 1 [1]", "EN 301 489-1", "")]),
    ("EN 300 468 V1.16.1 says", [("EN 300 468 V1.16.1", "EN 300 468", "")]),
    ("see [i.2] for nothing", [("[i.2]", "", "")]),
    ("clause 4.2 of that standard", [("clause 4.2", "", "4.2")]),
    ("by clause 4.2 and by EN 300 421 [2]", [("clause 4.2", "own", "4.2"), ("EN 300 421 [2]", "EN 300 421", "")]),
    ("According to [2], figure H.3 shows it", [("[2]", "EN 300 421", ""), ("figure H.3", "own", "7.1")]),
    ("as defined in EN 300 421 [2] (see clause 4.2)", [("EN 300 421 [2]", "EN 300 421", ""), ("clause 4.2", "own", "4.2")]),
    ("the terminal of EN 300 100 itself", [("EN 300 100", "own", "")]),
    ("rate adaption T.90 is a name", []),
    ("ISO/IEC 13818-1 [9]", [("ISO/IEC 13818-1 [9]", "ISO/IEC 13818-1", "")]),
    ("see TS 29.228 [4], 5.3.3.4", [("TS 29.228 [4], 5.3.3.4", "3GPP TS 29.228", "5.3.3.4")]),
    (
        "as in [4, 5.7.1] and TS 29.228 [4, 6.3]",
        [("[4, 5.7.1]", "3GPP TS 29.228", "5.7.1"), ("TS 29.228 [4, 6.3]", "3GPP TS 29.228", "6.3")],
    ),
    ("in ISO/IEC13818-1 [3], table 9-2", [("ISO/IEC13818-1 [3], table 9-2", "ISO/IEC 13818-1", "table 9-2")]),
    ("ETSI EN 301 489-1 [1], clause 7, shall apply", [("ETSI EN 301 489-1 [1], clause 7", "EN 301 489-1", "7")]),
    ("CENELEC EN 61000-4-3 and EN 55022", [("CENELEC EN 61000-4-3", "EN 61000-4-3", ""), ("EN 55022", "EN 55022", "")]),
    ("CCITT Recommendation Q.931, § 5.2", [("CCITT Recommendation Q.931, § 5.2", "ITU-T Q.931", "5.2")]),
    (
        "as in clause 8.1 of EN 301 489-1 [1] and in clause 9.1 of the same document",
        [("clause 8.1 of EN 301 489-1 [1]", "EN 301 489-1", "8.1"), ("clause 9.1", "EN 301 489-1", "9.1")],
    ),
    (
        "EN 301 489-1 [1], clause 4.3.1 or clause 4.9 of EN 300 421 [2]",
        [("EN 301 489-1 [1], clause 4.3.1", "EN 301 489-1", "4.3.1"), ("clause 4.9 of EN 300 421 [2]", "EN 300 421", "4.9")],
    ),
    ("asked for in clause A.2 of\n\nEN 300 421 [2]", [("clause A.2 of EN 300 421 [2]", "EN 300 421", "A.2")]),
    ("limits of that clause AC mains and Clause RF field", []),
    ("the limit in EN 300 421 [2], annex B is common", [("EN 300 421 [2], annex B", "EN 300 421", "B")]),
    ("- as in EN 300 421 [2]\n\nTable 12 shows it", [("EN 300 421 [2]", "EN 300 421", ""), ("Table 12", "own", "7.1")]),
    (
        "EN 300 421 [2], clause 5.1, annex D",
        [("EN 300 421 [2], clause 5.1", "EN 300 421", "5.1"), ("annex D", "EN 300 421", "D")],
    ),
    ("Clause 5.1/Q.931 says", [("Clause 5.1/Q.931", "ITU-T Q.931", "5.1")]),
    ("in [1][2] and bits [2], array[2], acm[1][2]", [("[1]", "EN 301 489-1", ""), ("[2]", "EN 300 421", "")]),
    ("see 5.2 and 5.3", [("5.2", "own", "5.2"), ("5.3", "own", "5.3")]),
    ("clause 5.2-5.3", [("clause 5.2-5.3", "own", "5.2"), ("clause 5.2-5.3", "own", "5.3")]),
    ("RFC 3261 [2] is a slip", [("RFC 3261 [2]", "RFC 3261", "")]),
    ("but EN 300 412 [2] is not", [("EN 300 412 [2]", "EN 300 421", "")]),
    (
        "Version 1.3.1 of [i.3], specifies (in clause 8.9) it",
        [("[i.3]", "TS 102 831", ""), ("clause 8.9", "TS 102 831", "8.9")],
    ),
    (
        "the subclauses of EN 300 421 [2]: - in subclause 4.5.5 for a; - in subclause 4.5.7 for b",
        [
            ("EN 300 421 [2]", "EN 300 421", ""),
            ("subclause 4.5.5", "EN 300 421", "4.5.5"),
            ("subclause 4.5.7", "EN 300 421", "4.5.7"),
        ],
    ),
    ("with its relevant annexes (E, F and G) of old", [("annexes (E", "own", "E"), ("F", "own", "F"), ("G", "own", "G")]),
    ("[2] lists it in its table 51", [("[2]", "EN 300 421", ""), ("table 51", "EN 300 421", "table 51")]),
    (
        "Annex V paragraph 3 of CIR (EU) 2025/848",
        [("Annex V paragraph 3 of CIR (EU) 2025/848", "Regulation (EU) 2025/848", "V")],
    ),
    ("clause 12.3.2 of CORBA V2.0", [("clause 12.3.2", "", "12.3.2")]),
    ("TS 38.202 and 38.211", [("TS 38.202", "3GPP TS 38.202", ""), ("38.211", "3GPP TS 38.211", "")]),
    ("as described in section 5 of the present document", [("section 5", "own", "5")]),
    ("See clause 5.This means it", [("clause 5", "own", "5")]),
    ("in the following clause (7.2.1), it", [("clause (7.2.1", "own", "7.2.1")]),
    ("(see section 7)", [("section 7", "own", "7")]),
    # none
    ("sections C and B of the P1 symbol", []),
    ("it corresponds to section A of the symbol", []),
    ("a following event is described in section 1 of the present/following table", []),
    ("the parity bytes carried in section 1", []),
    ("character code table 00 - Latin", []),
    ("The present document applies.", []),
    ("clause 3.2 of the ETSI Drafting Rules", []),
    ("found in ETSI SR 000 314", []),
    ("bits acm[1] and acm[2]", []),
    ("x in the range [1, 2]", []),
    ("the value [0] and [10]", []),
    ("16 sections 0 and 1 of a table", []),
    ("the table id 0x4E", []),
    ("this clause and the next annex describe it", []),
    ("an annex a little longer", []),
]


@pytest.mark.parametrize(("sentence", "expected"), TABLE, ids=[row[0][:50] for row in TABLE])
def test_sentence(sentence: str, expected: list[tuple[str, str, str]]) -> None:
    assert cited(sentence) == expected


@pytest.mark.parametrize(
    "title",
    ["Intellectual Property Rights", "Modal verbs terminology", "History", "Change history", "Change History (informative)"],
)
def test_boilerplate_units_cite_nothing(title: str) -> None:
    assert cited("See clause 7.1 and EN 300 421 [2].", title=title) == []


def test_the_reference_list_cites_nothing() -> None:
    assert cited("[2] ETSI EN 300 421: see clause 7.1.", title="Normative references") == []


def test_a_caption_does_not_cite_itself_but_what_it_names() -> None:
    body = "Table 13: Values beside table 12"
    assert cited(body, blocks=(Block("caption", 0, len(body)),)) == [("table 12", "own", "7.1")]


def test_column_heads_name_documents_and_announce_numbers() -> None:
    head = "| Part of EN 300 100 | Clause defined | Field of EN 300 421 [2] |"
    rows = f"{head}\n| --- | --- | --- |\n| a (clause 4) | 5.2 | b (clause 5.3) |"
    assert cited(rows, blocks=(Block("table", 0, len(rows)),)) == [
        ("EN 300 100", "own", ""),
        ("EN 300 421 [2]", "EN 300 421", ""),
        ("clause 4", "own", "4"),
        ("5.2", "own", "5.2"),
        ("clause 5.3", "EN 300 421", "5.3"),
    ]


def test_requirements_are_cited_where_they_are_not_defined() -> None:
    assert cited("Requirement\nGEN-6.2-04\nREQ-9.9-01: The terminal shall wait.") == [("GEN-6.2-04", "own", "6.2")]


def test_code_and_formulas_hold_no_brackets() -> None:
    body = "a = b[1] + [2] -- see clause 7.1"
    assert cited(body, blocks=(Block("code", 0, len(body)),)) == [("clause 7.1", "own", "7.1")]


def test_notes_and_informative_references_are_informative() -> None:
    body = "NOTE: See clause 7.1."
    (note,) = find_citations(document(), corpus(body, blocks=(Block("note", 0, len(body)),)), {})
    (label,) = find_citations(document(), corpus("See [i.3]."), {})
    (plain,) = find_citations(document(), corpus("See [2]."), {})
    assert (note.informative, label.informative, plain.informative) == (True, True, False)


def test_states_targets_and_editions() -> None:
    found = find_citations(document(), corpus("See clause 7.1, clause 8.8 and [1]."), {})
    assert [(c.state, c.target, c.edition, c.label) for c in found] == [
        ("resolved", f"{KEY}#7.1", None, None),
        ("missing-clause", None, None, None),
        ("not-loaded", None, "V2.2.3", "1"),
    ]


def test_an_annex_that_only_another_document_has_is_that_documents() -> None:
    body = "See annex F of EN 300 421 [2]. Table F.1 of [2] and table F.1 apply with annex F, annex E and clause 8.8."
    assert cited(body)[-4:] == [
        ("table F.1", "EN 300 421", "table F.1"),
        ("annex F", "EN 300 421", "F"),
        ("annex E", "own", "E"),
        ("clause 8.8", "own", "8.8"),
    ]
    two = cited(f"{body} But annex F of ISO/IEC 13818-1 [3] is another.")
    assert ("annex F", "own", "F") in two  # of which of the two is not known


def test_clause_numbers_of_another_document_are_not_taken_for_it_later() -> None:
    assert cited("See clause 8.8 of EN 300 421 [2]. It is as in clause 8.8.")[-1] == ("clause 8.8", "own", "8.8")


def test_place_over_a_page_break_is_where_the_number_stands() -> None:
    body = "as in clause\n7.1 here"
    lines = (Line(0, 12, Rect(4, 50, 700, 110, 710)), Line(13, 21, Rect(5, 50, 60, 90, 70)))
    (found,) = find_citations(document(), corpus(body, lines=lines), {})
    assert (found.text, found.page, found.context) == ("7.1", 5, "as in clause 7.1 here")
    assert found.rects == (Rect(5, 50, 60, 65.0, 70),)


_PART = st.sampled_from(
    [
        "clause ",
        "clauses ",
        "annex ",
        "table ",
        "5.1",
        "7",
        "A",
        "B.1",
        ", ",
        " and ",
        " to ",
        " of ",
        "EN 300 421",
        " [2]",
        "[i.3]",
        "[",
        "]",
        "\n",
        ".",
        " (",
        ")",
        "RFC 3261",
        "the ",
        "§",
        "/T.90",
        "-",
        "H.3",
        "figure ",
        "[1, 2]",
        "ITU-T X.25",
        "see ",
        "GEN-6.2-04",
        ":",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(_PART, st.text(max_size=4)), max_size=25).map("".join))
def test_any_text_gives_consistent_offsets(body: str) -> None:
    for citation in find_citations(document(), corpus(body), {}):
        assert re.sub(r"\s+", " ", body[citation.start : citation.end]) == citation.text
        assert 0 <= citation.start < citation.end <= len(body)
        assert (citation.state == "resolved") == (citation.target is not None)
        assert citation.text.strip()
