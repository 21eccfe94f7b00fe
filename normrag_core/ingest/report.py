"""The parse report: what was found, what was left out, and where the reader should look before trusting the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from normrag_core.ingest.headings import Heading, Headings
from normrag_core.ingest.identity import Identity, clean
from normrag_core.ingest.layout import Page
from normrag_core.ingest.numbering import ancestors
from normrag_core.model import Document, Finding, InfoUnit, ParseReport

SURE = 0.7
ALIKE = 0.9


def make_report(
    document: Document,
    identity: Identity,
    pages: Sequence[Page],
    found: Headings,
    units: Sequence[InfoUnit],
    citations: int,
    seconds: float,
) -> ParseReport:
    """Counts and findings of one document. found: its headings as they were found; units: what was made of them."""
    unread = [page.number for page in pages if not page.lines]
    sources = Counter(heading.source for heading in found.headings)
    counts = {
        "pages": len(pages),
        "pages without text": len(unread),
        "bookmarks": found.bookmarks,
        "contents entries": len(found.contents.entries),
        "headings": len(found.headings),
        "headings from the body alone": sources["body"],
        "headings not printed": sum(heading.alike == 0 for heading in found.headings),
        "contents entries not found": len(found.unlisted),
        "tables": sum(block.kind == "table" for unit in units for block in unit.blocks),
        "references": len(document.references),
        "terms": len(document.terms),
        "citations": citations,
    }
    findings = [
        *_of_pages(pages, unread),
        *_of_identity(identity, document),
        *_of_headings(found),
        *_of_numbers(units),
        *_of_omissions(pages, found),
    ]
    return ParseReport(counts, tuple(findings), seconds)


def _of_pages(pages: Sequence[Page], unread: Sequence[int]) -> Iterator[Finding]:
    scanned = [number for number in unread if pages[number - 1].images]
    empty = [number for number in unread if not pages[number - 1].images]
    if scanned:
        whole = len(scanned) > 0.5 * len(pages)
        yield Finding(
            "page-without-text",
            scanned[0],
            f"{_ranges(scanned)}: pictures without text, so a scan. Run text recognition (OCR) on the PDF and load it again",
            "error" if whole else "warning",
        )
    if empty:
        yield Finding("page-empty", empty[0], f"{_ranges(empty)}: no text")


def _of_identity(identity: Identity, document: Document) -> Iterator[Finding]:
    if identity.source == "file name":
        yield Finding(
            "identity-uncertain", 1, f"Number taken from the file name: no page and no metadata names {document.id}", "warning"
        )
    if identity.draft:
        yield Finding("draft", 1, "The document calls itself a draft, not a published edition", "warning")
    if identity.also:
        yield Finding("also-published-as", 1, f"The same text is {identity.also}")
    for other in identity.disagree:
        yield Finding("identity-disagrees", 1, f"{identity.source or 'document'} says {document.label}, {other}")


def _of_headings(found: Headings) -> Iterator[Finding]:
    if not found.headings:
        yield Finding("no-structure", 1, "No headings were recognised: read page by page", "warning")
    for heading in found.headings:
        name = _name(heading)
        if heading.source == "bookmark" and heading.alike == 0:
            yield Finding(
                "heading-not-printed",
                heading.page,
                f"{name}: in the bookmarks but not printed on its page; placed where the bookmark points",
                "warning",
            )
        elif heading.source == "body" and heading.alike < SURE:
            yield Finding("heading-uncertain", heading.page, f"{name}: taken for a heading by its look alone", "warning")
        elif heading.source != "bookmark" and found.bookmarks:
            listed = "in the contents" if heading.source == "contents" else "found in the body"
            yield Finding("heading-unlisted", heading.page, f"{name}: {listed}, not in the bookmarks")
        elif heading.source == "body" and found.contents.entries:
            yield Finding("heading-unlisted", heading.page, f"{name}: found in the body, not in the contents")
        elif heading.source != "body" and heading.alike < ALIKE:
            yield Finding("heading-differs", heading.page, f"{name}: printed differently from the list that names it")
    for mark in found.unlisted:
        yield Finding(
            "contents-not-found", max(mark.page, 1), f"{mark.text}: listed in the contents, not found in the body", "warning"
        )


def _of_numbers(units: Sequence[InfoUnit]) -> Iterator[Finding]:
    codes = {unit.code for unit in units}
    for unit in units:
        if unit.key != unit.code and unit.kind in ("clause", "annex"):
            yield Finding(
                "duplicate-number", unit.page, f"{unit.heading}: number {unit.code} occurs twice; kept as {unit.key}", "warning"
            )
        wanted = ancestors(unit.code)[0] if unit.kind == "clause" and "." in unit.code else None
        if wanted is not None and wanted not in codes:
            yield Finding(
                "parent-missing",
                unit.page,
                f"{unit.heading}: there is no {wanted}; placed under {unit.parent or 'the document'}",
            )


def _of_omissions(pages: Sequence[Page], found: Headings) -> Iterator[Finding]:
    if found.contents.pages:
        yield Finding(
            "contents-left-out",
            found.contents.pages[0],
            f"{_ranges(found.contents.pages)}: contents and lists of figures or tables, left out of the text",
        )
    running: Counter[str] = Counter()
    first: dict[str, int] = {}
    for page in pages:
        for line in page.furniture:
            text = "page number" if clean(line.text).isdigit() else f"“{clean(line.text)}”"
            running[text] += 1
            first.setdefault(text, page.number)
    for text, times in running.most_common(6):
        yield Finding("running-print", first[text], f"{text}: running header or footer, left out on {times} pages")


def _name(heading: Heading) -> str:
    return heading.title if heading.kind == "heading" else f"{heading.code} {heading.title}".strip()


def _ranges(numbers: Sequence[int]) -> str:
    """[3, 4, 5, 9] → "pages 3–5, 9"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    shown = ", ".join(f"{part[0]}–{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)
    return f"{'page' if len(numbers) == 1 else 'pages'} {shown}"
