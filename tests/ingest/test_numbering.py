"""Numbers of headings: taken apart, ordered, followed."""

from __future__ import annotations

import pytest

from normrag_core.ingest.numbering import ancestors, gap, order_key, take_apart


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("6.2.1 Scope", ("6.2.1", "Scope", "clause", None)),
        ("6.2.1\tScope", ("6.2.1", "Scope", "clause", None)),
        ("1. Introduction", ("1", "Introduction", "clause", None)),
        ("7.3.75A Void", ("7.3.75A", "Void", "clause", None)),
        ("10.5.2.21aa Group", ("10.5.2.21aa", "Group", "clause", None)),
        ("4a.5.4 Detail", ("4a.5.4", "Detail", "clause", None)),
        ("AA.2 General", ("AA.2", "General", "clause", None)),
        ("Annex A (normative): Tables", ("A", "Tables", "annex", False)),
        ("Annex X (informative):", ("X", "", "annex", True)),
        ("ANNEX AA: Notes", ("AA", "Notes", "annex", None)),
        ("Appendix II - Notes", ("II", "Notes", "annex", None)),
        ("Annex <I> (informative): Notes", ("I", "Notes", "annex", True)),
        ("Foreword", ("Foreword", "Foreword", "heading", None)),
        ("5G system", ("5G system", "5G system", "heading", None)),
        ("3GPP procedures", ("3GPP procedures", "3GPP procedures", "heading", None)),
        ("annex to the report", ("annex to the report", "annex to the report", "heading", None)),
        ("A note on tests", ("A note on tests", "A note on tests", "heading", None)),
        ("GEN-6.1.1-04 The device", ("GEN-6.1.1-04 The device", "GEN-6.1.1-04 The device", "heading", None)),
    ],
)
def test_take_apart(text: str, expected: tuple[object, ...]) -> None:
    parts = take_apart(text)
    assert (parts.code, parts.title, parts.kind, parts.informative) == expected


def test_order_is_that_of_the_document() -> None:
    codes = ["2", "4", "4a", "4a.1", "4a.10", "5", "5.1", "5.1A", "5.2", "5.10", "A", "A.1", "Z", "AA", "AA.2"]
    assert sorted(set(codes), key=order_key) == codes


def test_ancestors() -> None:
    assert ancestors("7.3.75A") == ["7.3", "7"]
    assert ancestors("A") == []


@pytest.mark.parametrize(
    ("before", "code", "skipped"),
    [
        (None, "1", 0),
        ("1", "2", 0),
        ("6.2", "6.2.1", 0),
        ("6.2", "6.2.0", 0),
        ("6.2.9", "6.3", 0),
        ("7.3.75", "7.3.75A", 0),
        ("7.3.75A", "7.3.76", 0),
        ("9.4", "A", 0),
        ("9.4", "A.1", 1),
        ("Z", "AA", 0),
        ("6.2", "6.5", 2),
        ("3.1", "8.2", 6),
        ("3.1", "3.1", None),
        ("5.2", "4.9", None),
        ("A.2", "7", None),
    ],
)
def test_gap(before: str | None, code: str, skipped: int | None) -> None:
    assert gap(before, code) == skipped
