"""Printed numbers of standards, their one form, and names that mean one document."""

from __future__ import annotations

import pytest

from normrag_core.identifiers import canonical, find_documents, first_document, same_document, tidy_version


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see ETSI EN 300 421 (V1.1.2) here", [("EN 300 421", "V1.1.2")]),
        ("ETSI EN 300 421 (V.1.1.2)", [("EN 300 421", "V1.1.2")]),
        ("EN 300421 and EN\u00a0301\u00a0489\u20111", [("EN 300 421", None), ("EN 301 489-1", None)]),
        ("TS 102 606-\n1", [("TS 102 606-1", None)]),
        ("ETS 300 103 (1990)", [("ETS 300 103", "1990")]),
        ("I-ETS 300 010-1, TBR 21, ETR 154", [("I-ETS 300 010-1", None), ("TBR 21", None), ("ETR 154", None)]),
        ("ETSI GS QKD 014 and GS NFV-SOL 003", [("GS QKD 014", None), ("GS NFV-SOL 003", None)]),
        (
            "3GPP TS 29.272, TR36.873, 3GPP 29.229",
            [("3GPP TS 29.272", None), ("3GPP TR 36.873", None), ("3GPP TS 29.229", None)],
        ),
        ("IETF RFC 3261 and RFC3588", [("RFC 3261", None), ("RFC 3588", None)]),
        ("ISO/IEC 13818-1:2000", [("ISO/IEC 13818-1", "2000")]),
        ("ISO 639.2/B, TS/TR 102 825 and ISO639", [("ISO 639-2", None), ("ISO 639", None)]),
        ("ISO 639-2 and IEC 60529", [("ISO 639-2", None), ("IEC 60529", None)]),
        ("CCITT Recommendation X.25", [("ITU-T X.25", None)]),
        ("Recommendation ITU-R BT.653", [("ITU-R BT.653", None)]),
        ("ITU-R Recommendation SNG.770-1", [("ITU-R SNG.770-1", None)]),
        ("Recommendations H.221 and H.242", [("ITU-T H.221", None), ("ITU-T H.242", None)]),
        ("EN 301 489-1 and -3", [("EN 301 489-1", None), ("EN 301 489-3", None)]),
        ("IEEE 1003.1-2004", [("IEEE 1003.1", "2004")]),
        ("CENELEC EN 50083-9", [("EN 50083-9", None)]),
        ("CIR (EU) 2025/848", [("Regulation (EU) 2025/848", None)]),
        ("Directive 1999/93/EC", [("Directive 1999/93/EC", None)]),
        ("CCSDS 131.0-B-3", [("CCSDS 131.0-B-3", None)]),
        ("EN 300 421 - 5 dB", [("EN 300 421", None)]),
        ("64 800 bits, TS 1, GSE 12, table TS 16 200", []),
    ],
)
def test_find_documents(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert [(d.id, d.version) for d in find_documents(text)] == expected


def test_the_span_holds_the_printed_version() -> None:
    text = "in EN 300 421 (V1.1.2), clause 4"
    found = first_document(text)
    assert found is not None
    assert text[found.start : found.end] == "EN 300 421 (V1.1.2)"


def test_names_of_one_document() -> None:
    assert same_document("3GPP TS 29.272", "TS 129 272")
    assert same_document("ETSI TS 129 272", "3GPP TS 29.272")
    assert same_document("3GPP TS 38.101-1", "TS 138 101-1")
    assert same_document("CCITT X.25", "ITU-T X.25")
    assert not same_document("EN 301 489-1", "EN 301 489-17")
    assert not same_document("", "")
    assert canonical("en 300\u2011421") == "EN 300-421"


def test_tidy_version() -> None:
    assert [tidy_version(v) for v in ("V.1.1.2", "v01.04.01", "version 16.4.0", "May  1997")] == [
        "V1.1.2",
        "V1.4.1",
        "V16.4.0",
        "May 1997",
    ]
