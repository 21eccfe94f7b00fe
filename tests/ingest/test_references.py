"""The references clause as data."""

from __future__ import annotations

from normrag_core.ingest.references import read_references
from normrag_core.model import Block, InfoUnit, Line, Rect


def unit(code: str, title: str, body: str, **more: object) -> InfoUnit:
    return InfoUnit(f"D#{code}", "D", code, code, title, "clause", "", 6, body, **more)  # type: ignore[arg-type]


BODY = """The following referenced documents are necessary.
[1] ETSI EN 300 421 (V1.1.2): "Framing structure; Part 1: modulation".
NOTE: Available at http://example.org/[x].
[2] 3GPP TS 29.228: "Cx interface".
[3] Void.
[4] Travis, D. 1991: "Effective displays".
[12a] ISO/IEC 13818-1:2000 | Recommendation ITU-T H.222.0: "Systems"."""


def test_entries() -> None:
    references = read_references([unit("2.1", "Normative references", BODY)])
    assert [(r.label, r.document, r.version, r.title, r.void) for r in references] == [
        ("1", "EN 300 421", "V1.1.2", "Framing structure; Part 1: modulation", False),
        ("2", "3GPP TS 29.228", None, "Cx interface", False),
        ("3", "", None, "Void", True),
        ("4", "", None, "Effective displays", False),
        ("12a", "ISO/IEC 13818-1", "2000", "Systems", False),
    ]
    assert not any(r.informative for r in references)
    assert references[0].text == 'ETSI EN 300 421 (V1.1.2): "Framing structure; Part 1: modulation".'


def test_informative_labels_and_blocks_without_line_breaks() -> None:
    first, second = '[i.1] ETSI TR 101 211: "Guidelines". ', "[i.2]Void."
    blocks = (Block("reference", 0, len(first)), Block("reference", len(first), len(first) + len(second)))
    lines = (Line(0, len(first), Rect(6, 0, 0, 1, 1)), Line(len(first), len(first) + len(second), Rect(7, 0, 0, 1, 1)))
    references = read_references([unit("2.2", "Informative references", first + second, blocks=blocks, lines=lines)])
    assert [(r.label, r.page, r.informative, r.void) for r in references] == [("i.1", 6, True, False), ("i.2", 7, True, True)]


def test_names_as_labels() -> None:
    first = '[RFC2119]  Bradner, S., "Key words", BCP 14, RFC 2119, March 1997.'
    body = f'{first}\n[ITU-T X.25] Recommendation ITU-T X.25 (1996), "Interface".'
    references = read_references([unit("9", "Normative References", body)])
    assert [(r.label, r.document, r.title) for r in references] == [
        ("RFC2119", "RFC 2119", "Key words"),
        ("ITU-T X.25", "ITU-T X.25", "Interface"),
    ]


def test_only_reference_clauses_are_read_and_the_first_of_a_label_counts() -> None:
    units = [
        unit("2", "References", '[1] ETSI EN 300 421: "A".\n[1] ETSI EN 300 744: "B".'),
        unit("5", "Reference model", '[2] ETSI EN 300 468: "C".'),
    ]
    assert [(r.label, r.document) for r in read_references(units)] == [("1", "EN 300 421")]
    assert read_references([]) == ()
