"""Definitions, symbols and abbreviations in their printed layouts."""

from __future__ import annotations

from normrag_core.ingest.terms import read_terms
from normrag_core.model import Block, InfoUnit


def unit(code: str, title: str, body: str, blocks: tuple[Block, ...] = ()) -> InfoUnit:
    return InfoUnit(f"D#{code}", "D", code, code, title, "clause", "", 7, body, blocks=blocks)


def paragraphs(*texts: str, kind: str = "paragraph") -> tuple[str, tuple[Block, ...]]:
    blocks, at = [], 0
    for text in texts:
        blocks.append(Block("note" if text.startswith("NOTE") else kind, at, at + len(text)))  # type: ignore[arg-type]
        at += len(text) + 2
    return "\n\n".join(texts), tuple(blocks)


def test_definitions_are_paragraphs_with_a_colon() -> None:
    body, blocks = paragraphs(
        "For the purposes of the present document, the following terms apply:",
        "auxiliary stream: stream that carries\nlower layer data",
        "NOTE: It may be absent.",
        "cell: an area",
    )
    terms = read_terms([unit("3.1", "Terms", body, blocks)])
    assert [(t.term, t.text, t.kind, t.unit) for t in terms] == [
        ("auxiliary stream", "stream that carries lower layer data", "definition", "D#3.1"),
        ("cell", "an area", "definition", "D#3.1"),
    ]


def test_abbreviations_in_columns_lines_and_tables() -> None:
    body = "For the purposes of this document\nBB\tBaseBand\nFEC  Forward Error Correction\nT2-MI T2 Modulator Interface"
    assert [(t.term, t.text) for t in read_terms([unit("3.3", "Abbreviations", body)])] == [
        ("BB", "BaseBand"),
        ("FEC", "Forward Error Correction"),
        ("T2-MI", "T2 Modulator Interface"),
    ]
    table = "| AP | Application |\n| TS | Transport Stream |"
    rows = (("AP", "Application"), ("TS", "Transport Stream"))
    found = read_terms([unit("3.2", "Abbreviations", table, (Block("table", 0, len(table), 0, rows),))])
    assert [(t.term, t.text, t.kind) for t in found] == [
        ("AP", "Application", "abbreviation"),
        ("TS", "Transport Stream", "abbreviation"),
    ]


def test_kinds_follow_the_titles() -> None:
    units = [
        unit("3", "Definition of terms, symbols and abbreviations", ""),
        unit("3.2", "Symbols", "α  Roll-off factor"),
        unit("3.3", "Symbols and abbreviations", "AB  Alpha Beta"),
        unit("6.2", "Terms of delivery: none", "a: b"),
        unit("Foreword", "Foreword", "a: b"),
    ]
    assert [(t.term, t.kind) for t in read_terms(units)] == [("α", "symbol"), ("AB", "abbreviation")]
