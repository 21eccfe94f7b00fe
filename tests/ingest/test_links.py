"""Link annotations beside the text: confirming, adding, and not being believed."""

from __future__ import annotations

from normrag_core.ingest.citations import find_citations
from normrag_core.ingest.layout import Link, Page
from normrag_core.model import Citation, Document, InfoUnit, Line, Rect

KEY = "EN 300 100 V1.2.1"
DOCUMENT = Document(KEY, "EN 300 100", "V1.2.1", "2020-01", "T", 9, "a.pdf")


def found(body: str, *boxes: tuple[float, float, int]) -> list[Citation]:
    """Citations of a body printed in one line of 6 points a character; boxes: left, right (in characters), page led to."""
    line = Line(0, len(body), Rect(4, 100, 700, 100 + 6 * len(body), 710))
    units = [
        InfoUnit(f"{KEY}#", KEY, "", "", "T", "document", None, 1),
        InfoUnit(f"{KEY}#5", KEY, "5", "5", "T", "clause", "", 4, body, lines=(line,)),
        InfoUnit(f"{KEY}#7.1", KEY, "7.1", "7.1", "T", "clause", "", 8),
    ]
    links = tuple(Link(4, (100 + 6 * a, 699, 100 + 6 * b, 711), page, 50.0, None) for a, b, page in boxes)
    return list(find_citations(DOCUMENT, units, {4: Page(4, 595, 842, (), (), links, (), 0)}))


def test_a_link_confirms_what_the_text_shows() -> None:
    (citation,) = found("as given in clause 7.1 below", (12, 22, 8))
    assert (citation.text, citation.code, citation.evidence) == ("clause 7.1", "7.1", "text+link")


def test_without_links_the_text_alone_does() -> None:
    (citation,) = found("as given in clause 7.1 below")
    assert citation.evidence == "text"


def test_a_link_brings_in_a_bare_number() -> None:
    body = "the rules 7.1 hold"
    (citation,) = found(body, (10, 13, 8))
    assert (citation.text, citation.target, citation.evidence) == ("7.1", f"{KEY}#7.1", "link")
    assert body[citation.start : citation.end] == "7.1"


def test_a_link_that_leads_elsewhere_is_not_believed() -> None:
    assert found("the rules 7.1 hold", (10, 13, 5)) == []
    assert found("Table 7.1: rules", (6, 9, 8)) == []
    assert found("the rules 9.9 hold", (10, 13, 8)) == []
    assert found("the rules 7.1 hold", (0, 5, 8)) == []
