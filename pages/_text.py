"""A clause's text as HTML: paragraphs, lists, notes and tables by their blocks; the question's terms marked.

Nothing from the document is markup: every piece goes through `_escape`. The reader writes raised and lowered figures as <sup>
and <sub>; these two come through as what they mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from normrag_core.config import RetrieverConfig
from normrag_core.model import Chunk, Corpus, InfoUnit
from normrag_core.tokenize import tokenize
from pages import _escape as escape

EXCERPT = 560  # Characters shown of a long text before it is unfolded.
MOST_ROWS = 400
_WORD = re.compile(r"\w+(?:[-./_‑–]\w+)*")
_DOTS = re.compile(r"(?:\s*[.·…_‑–—-]){3,}\s*")  # Linear: each step eats one mark.
_ROW = re.compile(r"\s*\|.*\|\s*")
_RULE = re.compile(r"[\s|:-]+")
_CELL = re.compile(r"(?<!\\)\|")
_SCRIPT = re.compile(r"&lt;(/?su[bp])&gt;")

Mark = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Piece:
    """A block of text of one kind, as `model.Block` has it."""

    kind: str
    text: str
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


def no_mark(_: str) -> bool:
    return False


def marker(query_tokens: tuple[str, ...], config: RetrieverConfig) -> Mark:
    """A test whether BM25 counts a word of the text as one of the question's."""
    wanted = frozenset(query_tokens)
    stem = config.stem

    @lru_cache(maxsize=20_000)
    def hit(word: str) -> bool:
        if len(word) == 1 and word.isalpha():
            return False  # The "I" of a question is every index i of a formula.
        return not wanted.isdisjoint(tokenize(word, "domain", stem)) or word.lower() in wanted

    return hit


def words_of(question: str, terms: Sequence[str], config: RetrieverConfig) -> list[str]:
    """The question's own words all of whose index terms are among `terms`: "overstepped", where the index knows "overstep"."""
    asked = set(terms)
    found = []
    for word in dict.fromkeys(_WORD.findall(question)):
        made = tokenize(word, config.tokenizer, config.stem)
        if made and asked.issuperset(made):
            found.append(word)
    return found


def pieces_of(unit: InfoUnit, start: int = 0, end: int | None = None) -> list[Piece]:
    """The blocks of `body[start:end]`; text outside any block counts as paragraphs."""
    body, end = unit.body, len(unit.body) if end is None else end
    found: list[Piece] = []
    at = start
    for block in unit.blocks:
        if block.end <= start or block.start >= end:
            continue
        found += _loose(body[at : max(at, block.start)])
        whole = start <= block.start and block.end <= end
        text = body[max(block.start, at) : min(block.end, end)].strip("\n")
        if text:
            found.append(Piece(block.kind, text, block.level, block.rows if whole else ()))
        at = max(at, min(block.end, end))
    return [*found, *_loose(body[at:end])]


def pieces_of_chunk(corpus: Corpus, chunk: Chunk) -> list[Piece]:
    """The blocks of a chunk without its heading. A window knows no clauses: its words stay as they were cut.

    The head of a clause that is ranked in parts has no text of its own to rank; shown is the clause it stands for.
    """
    if chunk.kind == "window":
        return [Piece("paragraph", chunk.text)]
    if chunk.kind == "head":
        return pieces_of(corpus.by_id[chunk.unit])
    return [p for s in chunk.spans for p in pieces_of(corpus.by_id[s.unit], s.start, s.end)]


def _loose(text: str) -> Iterator[Piece]:
    """Paragraphs, and tables written as lines of cells between bars."""
    rows: list[str] = []
    for line in text.split("\n"):
        if _ROW.fullmatch(line):
            rows.append(line)
            continue
        if rows:
            yield _bar_table(rows)
            rows = []
        if line.strip():
            yield Piece("paragraph", line.strip())
    if rows:
        yield _bar_table(rows)


def _bar_table(lines: list[str]) -> Piece:
    cells = tuple(
        tuple(c.strip() for c in _CELL.split(line.strip()[1:-1])) for line in lines if not _RULE.fullmatch(line.strip())
    )
    return Piece("table", "\n".join(lines), rows=cells)


def render(pieces: Sequence[Piece], mark: Mark = no_mark) -> str:
    """Pieces as HTML inside one element of class nr-clause."""
    return f'<div class="nr-clause">{"".join(_render(p, mark) for p in pieces)}</div>' if pieces else ""


def _render(piece: Piece, mark: Mark) -> str:
    if piece.kind == "table":
        rows = piece.rows or _bar_table(piece.text.split("\n")).rows if _ROW.match(piece.text) or piece.rows else ()
        return _table(rows, mark) if rows else f'<p class="nr-figure">{inline(piece.text, mark)}</p>'
    words = inline(piece.text, mark)
    if piece.kind == "code":
        return f"<pre>{words}</pre>"
    if piece.kind == "list":
        return f'<p class="nr-item" style="--level:{piece.level}">{words}</p>'
    return f'<p class="nr-{piece.kind}">{words}</p>' if piece.kind != "paragraph" else f"<p>{words}</p>"


def _table(rows: Sequence[Sequence[str]], mark: Mark) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{inline(c, mark)}</{tag}>" for c in cells) + "</tr>"

    shown = "".join(line(cells, "td") for cells in rows[1:MOST_ROWS])
    rest = f'<p class="nr-tiny">and {len(rows) - MOST_ROWS} more rows</p>' if len(rows) > MOST_ROWS else ""
    return f'<div class="nr-scroll"><table class="nr-table">{line(rows[0], "th")}{shown}</table></div>{rest}'


def inline(text: str, mark: Mark = no_mark) -> str:
    """One stretch of text as HTML, escaped, hits inside <mark>."""
    parts: list[str] = []
    end = 0
    for word in _WORD.finditer(text) if mark is not no_mark else ():
        if mark(word.group()):
            parts += [escape.html(text[end : word.start()]), f'<mark class="nr-mark">{escape.html(word.group())}</mark>']
            end = word.end()
    return _SCRIPT.sub(r"<\1>", "".join([*parts, escape.html(text[end:])]))


def excerpt(pieces: Sequence[Piece], mark: Mark, size: int = EXCERPT) -> tuple[list[Piece], bool]:
    """(the run of pieces of about `size` characters with the most different hits, whether anything was left out)."""
    pieces = [kept for p in pieces if (kept := _without_rules(p)).text or kept.rows]
    if sum(len(p.text) for p in pieces) <= size * 1.25:
        return list(pieces), False
    hits = [frozenset(w.lower() for w in _WORD.findall(p.text) if mark(w)) for p in pieces]
    best: tuple[int, int, int] = (-1, 0, 1)
    for first in range(len(pieces)):
        length, seen, last = 0, frozenset[str](), first
        while last < len(pieces) and (last == first or length + len(pieces[last].text) <= size):
            length += len(pieces[last].text)
            seen |= hits[last]
            last += 1
        if len(seen) > best[0]:
            best = (len(seen), first, last)
    return [_shorten(p, mark, size) for p in pieces[best[1] : best[2]]], True


def _without_rules(piece: Piece) -> Piece:
    """A piece without its lines of dots or dashes alone: what is left of a drawing pushes the hits out of sight."""
    if piece.rows or piece.kind == "code" or _ROW.match(piece.text):
        return piece
    lines = [line for line in piece.text.split("\n") if not _DOTS.fullmatch(line)]
    return Piece(piece.kind, "\n".join(lines), piece.level)


def _shorten(piece: Piece, mark: Mark, size: int) -> Piece:
    if len(piece.text) <= size * 1.25:
        return piece
    if piece.rows:
        hit = [row for row in piece.rows[1:] if any(mark(w) for cell in row for w in _WORD.findall(cell))]
        return Piece(piece.kind, piece.text, rows=(piece.rows[0], *(hit or piece.rows[1:])[:6]))
    return Piece(piece.kind, _stretch(piece.text, mark, size), piece.level)


def _stretch(text: str, mark: Mark, size: int) -> str:
    """About `size` characters of a long text, from the start of a sentence, with the most different hits."""
    hits = [(w.start(), w.group().lower()) for w in _WORD.finditer(text) if mark(w.group())]
    best, start = 0, 0
    for i, (at, _) in enumerate(hits):
        inside = {word for position, word in hits[i:] if position < at + size * 0.8}
        if len(inside) > best:
            best, start = len(inside), at
    start = _sentence_start(text, start)
    end = min(len(text), start + size)
    if end < len(text):
        end = max(text.rfind(" ", start, end), start + size // 2)
    return f"{'… ' if start else ''}{text[start:end].strip()}{' …' if end < len(text) else ''}"


def _sentence_start(text: str, at: int) -> int:
    """Start of the sentence or line that holds `at`, at most 200 characters before it."""
    if at < 120:
        return 0
    low = max(0, at - 200)
    starts = [text.rfind(end, low, at) + len(end) for end in (". ", "\n") if text.rfind(end, low, at) >= 0]
    return max(starts) if starts else max(text.rfind(" ", low, at - 60) + 1, 0)
