"""A question that is a reference leads to its clause; anything more is a question."""

import pytest

from normrag_core.lookup import find_reference
from normrag_core.model import Block, Corpus, Document, InfoUnit


def _corpus() -> Corpus:
    documents, units = [], []
    for name, version in (("EN 399 001-1", "V1.1.1"), ("EN 399 001-1", "V2.1.1"), ("TS 139 272", "V16.4.0")):
        key = f"{name} {version}"
        documents.append(Document(key, name, version, "2020-01", "Title", 9, "f.pdf"))
        units.append(InfoUnit(f"{key}#", key, "", "", "Title", "document", None, 1))
        body = "Table 12: Limits"
        units.append(
            InfoUnit(f"{key}#4", key, "4", "4", "Four", "clause", "", 2, body, blocks=(Block("caption", 0, len(body)),))
        )
        units.append(InfoUnit(f"{key}#4.1A", key, "4.1A", "4.1A", "Sub", "clause", "4", 2))
        units.append(InfoUnit(f"{key}#A", key, "A", "A", "Annex", "annex", "", 3))
    return Corpus(tuple(documents), tuple(units), ())


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("EN 399 001-1 4.1A", ["EN 399 001-1 V2.1.1#4.1A"]),
        ("ETSI EN 399 001-1 V1.1.1, clause 4", ["EN 399 001-1 V1.1.1#4"]),
        ("EN 399 001-1 4 v1.1.1", ["EN 399 001-1 V1.1.1#4"]),
        ("clause 4 of EN 399 001-1", ["EN 399 001-1 V2.1.1#4"]),
        ("open table 12 in EN 399 001-1", ["EN 399 001-1 V2.1.1#4"]),
        ("EN399001-1", ["EN 399 001-1 V2.1.1#"]),
        ("3GPP TS 39.272 annex A", ["TS 139 272 V16.4.0#A"]),
        ("4.1a", ["EN 399 001-1 V2.1.1#4.1A", "TS 139 272 V16.4.0#4.1A"]),
        ("annex a", ["EN 399 001-1 V2.1.1#A", "TS 139 272 V16.4.0#A"]),
        # Not loaded, no such clause, or more than a reference.
        ("EN 399 001-1 V3.1.1 clause 4", []),
        ("EN 399 001-1 9.9", []),
        ("EN 399 999 4", []),
        ("what does EN 399 001-1 say about 4.1A", []),
        ("4", []),
        ("A", []),
        ("", []),
    ],
)
def test_references(question: str, found: list[str]) -> None:
    assert [u.id for u in find_reference(question, _corpus())] == found


def test_only_the_documents_searched_are_looked_in() -> None:
    found = find_reference("annex A", _corpus(), documents={"EN 399 001-1 V1.1.1"})
    assert [u.id for u in found] == ["EN 399 001-1 V1.1.1#A"]
