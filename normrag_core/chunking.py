"""Module 1, second half: InfoUnits into the chunks that are ranked, in three ways.

Vanilla: flat windows over the document's text, blind to structure. Structured: one chunk a unit. Structured + chunks: a unit
over the limit becomes a head (its title) and parts, cut between blocks or sentences; a table is never cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from normrag_core.config import Chunking, Context
from normrag_core.model import Block, Chunk, Corpus, Document, InfoUnit, Span
from normrag_core.tokenize import words

_SENTENCE_END = re.compile(r"(?<=[.;:!?])\s+(?=[^a-z\s])|\n+")
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch `body[start:end]` that stays whole."""

    start: int
    end: int
    words: int


def make_chunks(
    corpus: Corpus, chunking: Chunking = "structured+chunks", max_words: int = 300, context: Context = "path"
) -> tuple[Chunk, ...]:
    """All chunks of a corpus, documents by key and units in printed order, whatever order they were loaded in.

    A word is what stands between spaces, bars and rules of tables not counted (`tokenize.words`).
    """
    documents = sorted(corpus.documents, key=lambda d: d.key)
    return tuple(c for document in documents for c in document_chunks(corpus, document, chunking, max_words, context))


def document_chunks(
    corpus: Corpus, document: Document, chunking: Chunking, max_words: int, context: Context
) -> Iterator[Chunk]:
    """The chunks of one document of the corpus. They depend on no other document."""
    if chunking == "vanilla":
        yield from _windows(corpus, document, max_words, context)
        return
    for unit in corpus.units_of(document.key):
        pieces = _parts(unit, max_words) if chunking == "structured+chunks" else []
        beside = context_of(corpus, document, unit, context)
        if pieces:
            yield _chunk(unit, unit.id, "head", unit.heading, beside, ())
            for n, (start, end) in enumerate(pieces, 1):
                span = Span(unit.id, start, end)
                yield _chunk(unit, f"{unit.id}/{n}", "part", unit.body[start:end], beside, (span,))
        else:
            text = f"{unit.heading}\n{unit.body}" if unit.body else unit.heading
            spans = (Span(unit.id, 0, len(unit.body)),) if unit.body else ()
            yield _chunk(unit, unit.id, "unit", text, beside, spans)


def context_of(corpus: Corpus, document: Document, unit: InfoUnit, context: Context) -> str:
    """What the rankers are told beside a chunk's own words: nothing, the document's id and title, or the title path too."""
    if context == "none":
        return ""
    name = f"{document.label} {document.title}".strip()
    if context == "document":
        return name
    return " › ".join([name, *(u.heading for u in corpus.path(unit)[1:])])


def passage(chunk: Chunk) -> str:
    """What is embedded of a chunk: its context, where it has one, then its text."""
    return f"{chunk.context}\n{chunk.text}" if chunk.context else chunk.text


def _chunk(unit: InfoUnit, name: str, kind: str, text: str, context: str, spans: tuple[Span, ...]) -> Chunk:
    pages = tuple(sorted({p for s in spans for p in _pages(unit, s.start, s.end)})) or (unit.page,)
    if kind in ("unit", "head") and unit.page not in pages:
        pages = tuple(sorted({unit.page, *pages}))
    return Chunk(name, unit.document, unit.id, kind, text, context, unit.heading, spans, pages)  # type: ignore[arg-type]


def _pages(unit: InfoUnit, start: int, end: int) -> set[int]:
    """Physical pages on which a stretch of the body is printed; the unit's first page where its lines are not known."""
    return {line.rect.page for line in unit.lines if line.start < end and start < line.end} or {unit.page}


def _parts(unit: InfoUnit, max_words: int) -> list[tuple[int, int]]:
    """Where to cut a body over the limit: [(start, end)]; empty where the unit stays whole."""
    length = len(words(unit.body))
    if len(words(unit.heading)) + length <= max_words:
        return []
    parts: list[tuple[int, int]] = []
    start, end, filled = -1, -1, 0
    for piece in _pieces(unit, max_words):
        if start >= 0 and filled + piece.words > max_words:
            parts.append((start, end))
            start, filled = -1, 0
        if start < 0:
            start = piece.start
        end = piece.end
        filled += piece.words
    if start >= 0:
        parts.append((start, end))
    # One part over the limit is a single table: nothing is gained by taking its title away.
    return [] if len(parts) == 1 and length > max_words else parts


def _pieces(unit: InfoUnit, max_words: int) -> Iterator[_Piece]:
    """The body in pieces to be kept whole: blocks up to the limit, sentences of longer ones, tables with their captions."""
    for start, end, whole in _stretches(unit):
        count = len(words(unit.body[start:end]))
        if not count:
            continue
        if whole or count <= max_words:
            yield _Piece(start, end, count)
        else:
            yield from _sentences(unit.body, start, end, max_words)


def _stretches(unit: InfoUnit) -> Iterator[tuple[int, int, bool]]:
    """(start, end, never to be cut) over the whole body; text between blocks counts as a block of its own."""
    blocks = sorted(unit.blocks, key=lambda b: b.start)
    at, i = 0, 0
    while i < len(blocks):
        run = _table_run(blocks, i)
        start, end = max(blocks[i].start, at), max(b.end for b in blocks[i : i + run])
        if start > at:
            yield at, start, False
        if end > start:
            yield start, end, any(b.kind == "table" for b in blocks[i : i + run])
            at = end
        i += run
    if at < len(unit.body):
        yield at, len(unit.body), False


def _table_run(blocks: list[Block], i: int) -> int:
    """How many blocks from the i-th belong together: a table with the caption before it, else one after it."""
    kinds = [b.kind for b in blocks[i : i + 3]]
    if kinds[:2] == ["caption", "table"]:
        return 2
    # A caption between two tables is the second one's: ETSI prints table captions above.
    if kinds[:2] == ["table", "caption"] and kinds[2:] != ["table"]:
        return 2
    return 1


def _sentences(body: str, start: int, end: int, max_words: int) -> Iterator[_Piece]:
    """Sentences of a long block; one that is itself over the limit is cut between words."""
    at = start
    borders = [m.end() for m in _SENTENCE_END.finditer(body, start, end)]
    for border in [*borders, end]:
        if not (found := list(_WORD.finditer(body, at, border))):
            continue
        for first in range(0, len(found), max_words):
            last = found[min(first + max_words, len(found)) - 1]
            yield _Piece(found[first].start(), last.end(), len(words(body[found[first].start() : last.end()])))
        at = border


def _windows(corpus: Corpus, document: Document, max_words: int, context: Context) -> Iterator[Chunk]:
    """Flat windows of max_words over titles and bodies in printed order, without overlap."""
    stream: list[tuple[InfoUnit, int, int]] = []  # (unit, start, end) of a word; start −1: a word of the heading
    headings: list[str] = []
    for unit in corpus.units_of(document.key):
        for word in unit.heading.split():
            stream.append((unit, -1, len(headings)))
            headings.append(word)
        found = [(unit, *m.span()) for m in _WORD.finditer(unit.body)]
        if "|" in unit.body:  # Only bars and rules of tables are no words, and looking at every word for them takes long.
            found = [w for w in found if "|" not in (word := unit.body[w[1] : w[2]]) or words(word)]
        stream += found
    for n, first in enumerate(range(0, len(stream), max_words), 1):
        yield _window(corpus, document, stream[first : first + max_words], headings, n, context)


def _window(
    corpus: Corpus, document: Document, taken: list[tuple[InfoUnit, int, int]], headings: list[str], n: int, context: Context
) -> Chunk:
    lines: list[str] = []
    spans: list[Span] = []
    pages: set[int] = set()
    share: dict[str, int] = {}
    i = 0
    while i < len(taken):
        unit, start, _ = taken[i]
        j = i
        while j < len(taken) and taken[j][0] is unit and (taken[j][1] < 0) == (start < 0):
            j += 1
        share[unit.id] = share.get(unit.id, 0) + j - i
        if start < 0:
            lines.append(" ".join(headings[w[2]] for w in taken[i:j]))
            pages.add(unit.page)
        else:
            end = taken[j - 1][2]
            lines.append(unit.body[start:end])
            spans.append(Span(unit.id, start, end))
            pages |= _pages(unit, start, end)
        i = j
    unit = corpus.by_id[max(share, key=lambda u: share[u])]
    return Chunk(
        f"{document.key}@{n}",
        document.key,
        unit.id,
        "window",
        "\n".join(lines),
        context_of(corpus, document, unit, context),
        unit.heading,
        tuple(spans),
        tuple(sorted(pages)),
    )
