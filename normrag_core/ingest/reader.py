"""One PDF file → ParsedDocument: opens the file, runs the stages in order, and tells what went wrong in words."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymupdf

from normrag_core.ingest.bodies import build_body
from normrag_core.ingest.citations import find_citations
from normrag_core.ingest.drafts import Vocabulary
from normrag_core.ingest.errors import IngestError
from normrag_core.ingest.furniture import split_furniture
from normrag_core.ingest.headings import Heading, by_page, find_headings
from normrag_core.ingest.identity import Identity, identify
from normrag_core.ingest.layout import PageLine, read_pages
from normrag_core.ingest.outline import bookmarks
from normrag_core.ingest.references import read_references
from normrag_core.ingest.report import make_report
from normrag_core.ingest.rows import document_lines, document_rows
from normrag_core.ingest.terms import read_terms
from normrag_core.ingest.tree import build_tree
from normrag_core.model import Document, ParsedDocument

MAX_PAGES = 3000
_BROKEN = (pymupdf.mupdf.FzErrorFormat, pymupdf.mupdf.FzErrorSyntax)
REPORTS = frozenset({"TR", "ETR", "SR", "GR", "TCRTR"})  # deliverables without normative parts


def read_pdf(
    path: str | Path, *, progress: Callable[[int, int], None] | None = None, max_pages: int = MAX_PAGES
) -> ParsedDocument:
    """Parses a PDF of at most `max_pages` pages. progress(pages done, pages) is called after each page.

    Raises IngestError where the file is no PDF, is empty, is protected by a password, has no pages or too many.
    """
    started = time.perf_counter()
    path = Path(path)
    data = _bytes(path)
    with _open(path, data, max_pages) as pdf:
        try:
            pages = split_furniture(read_pages(pdf, progress))
        except _BROKEN as error:  # "cycle in page tree", "cannot find page 3 in page tree"
            raise IngestError(
                f"{path.name}: the PDF is damaged inside ({error}): save the PDF anew from another program and load that"
            ) from None
        identity = identify(pages, pdf.metadata or {}, path.name)
        marks = bookmarks(pdf)
    lines = document_lines(pages)
    by_number = {page.number: page for page in pages}
    found = find_headings(marks, lines, document_rows(lines), by_number)
    headings = found.headings or by_page(pages, lines)
    key = document_key(identity)
    units = build_tree(key, identity.title or identity.id, headings, identity.id.split(" ")[0] in REPORTS)
    vocabulary = Vocabulary(by_number)
    for index, unit in enumerate(units):
        body, blocks, placed = build_body(_lines_of(index, headings, lines, found.left_out), by_number, vocabulary)
        units[index] = replace(unit, body=body, blocks=blocks, lines=placed)
    document = Document(
        key=key,
        id=identity.id,
        version=identity.version,
        date=identity.date,
        title=identity.title,
        pages=len(pages),
        file=path.name,
        sha256=hashlib.sha256(data).hexdigest(),
        references=read_references(units),
        terms=read_terms(units),
        page_sizes=tuple((page.width, page.height) for page in pages),
    )
    citations = find_citations(document, units, by_number)
    seconds = round(time.perf_counter() - started, 3)
    report = make_report(document, identity, pages, found, units, len(citations), seconds)
    return ParsedDocument(replace(document, report=report), tuple(units), citations)


def document_key(identity: Identity) -> str:
    """ "EN 302 755 V1.4.1"; drafts say so, so that draft and final of one version differ."""
    return " ".join(part for part in (identity.id, identity.version, "draft" if identity.draft else "") if part)


def _lines_of(index: int, headings: Sequence[Heading], lines: Sequence[PageLine], left_out: frozenset[int]) -> list[PageLine]:
    """Lines between heading `index` (0: the root) and the next one."""
    start = headings[index - 1].stop if index else 0
    stop = headings[index].start if index < len(headings) else len(lines)
    return [lines[i] for i in range(start, stop) if i not in left_out]


def _bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise IngestError(f"{path.name}: cannot be opened ({error.strerror}): check the path and its permissions") from None
    if not data:
        raise IngestError(f"{path.name}: the file is empty: download or export it again")
    if b"%PDF-" not in data[:1024]:
        raise IngestError(f"{path.name}: expected a PDF, found another kind of file: convert it to PDF first")
    return data


def _open(path: Path, data: bytes, max_pages: int) -> Any:
    try:
        pdf = pymupdf.open(stream=data, filetype="pdf")
    except Exception:
        raise _damaged(path) from None
    if pdf.needs_pass:
        raise IngestError(f"{path.name}: protected by a password: save a copy without the password and load that")
    try:
        count = pdf.page_count
    except Exception:  # "Invalid number of pages": the library looks at the page tree only now
        raise _damaged(path) from None
    if not count:
        raise IngestError(f"{path.name}: the PDF has no pages: download or export it again")
    if count > max_pages:
        raise IngestError(f"{path.name}: has {count} pages, more than the limit of {max_pages}: split it or raise the limit")
    return pdf


def _damaged(path: Path) -> IngestError:
    return IngestError(f"{path.name}: the PDF is damaged and cannot be opened: download or export it again")
