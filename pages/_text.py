"""A clause's text as HTML: paragraphs, lines, tables; the question's terms marked; nothing from the document is markup.

The reader writes a table as lines of cells between bars, `| a | b |`, and raised or lowered figures as <sup> and <sub>.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from normrag_core.config import RetrieverConfig
from normrag_core.tokenize import tokenize
from pages import _escape as escape

_WORD = re.compile(r"\w+(?:[-./_‑–]\w+)*")
_ROW = re.compile(r"^\s*\|.*\|\s*$")
_RULE = re.compile(r"^[\s|:-]+$")
_SCRIPT = re.compile(r"&lt;(/?su[bp])&gt;")
_CELL = re.compile(r"(?<!\\)\|")

Mark = Callable[[str], bool]


def marker(query_tokens: tuple[str, ...], config: RetrieverConfig) -> Mark:
    """A test whether BM25 counts a word of the text as one of the question's."""
    wanted = frozenset(query_tokens)
    stem = config.stem

    @lru_cache(maxsize=20_000)
    def hit(word: str) -> bool:
        return not wanted.isdisjoint(tokenize(word, "domain", stem)) or word.lower() in wanted

    return hit


def inline(text: str, mark: Mark | None = None) -> str:
    """One stretch of text as HTML, escaped, hits inside <mark>."""
    if mark is None:
        out = escape.html(text)
    else:
        parts: list[str] = []
        end = 0
        for word in _WORD.finditer(text):
            if mark(word.group()):
                parts += [escape.html(text[end : word.start()]), f'<mark class="nr-mark">{escape.html(word.group())}</mark>']
                end = word.end()
        out = "".join([*parts, escape.html(text[end:])])
    return _SCRIPT.sub(r"<\1>", out)


def block(text: str, mark: Mark | None = None) -> str:
    """A whole body as HTML: bar lines become tables, everything else keeps its line breaks."""
    out: list[str] = []
    prose: list[str] = []
    rows: list[str] = []

    def flush() -> None:
        if prose and (words := "\n".join(prose).strip("\n")):
            out.append(f'<div class="nr-clause">{inline(words, mark)}</div>')
        if rows:
            out.append(_table(rows, mark))
        prose.clear()
        rows.clear()

    for line in text.split("\n"):
        if bool(_ROW.match(line)) != bool(rows) and (rows or _ROW.match(line)):
            flush()
        (rows if _ROW.match(line) else prose).append(line)
    flush()
    return "".join(out)


def _table(lines: list[str], mark: Mark | None) -> str:
    body = "".join(
        "<tr>" + "".join(f"<td>{inline(cell.strip(), mark)}</td>" for cell in _CELL.split(line.strip()[1:-1])) + "</tr>"
        for line in lines
        if not _RULE.match(line)
    )
    return f'<div class="nr-scroll"><table class="nr-table">{body}</table></div>'


def excerpt(text: str, mark: Mark, size: int = 560) -> tuple[str, bool]:
    """(the stretch of about `size` characters with the most different hits, whether something was left out)."""
    if len(text) <= size * 1.25:
        return text, False
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
    return f"{'… ' if start else ''}{text[start:end].strip()}{' …' if end < len(text) else ''}", True


def _sentence_start(text: str, at: int) -> int:
    """Start of the sentence or line that holds `at`, at most 200 characters before it."""
    if at < 120:
        return 0
    low = max(0, at - 200)
    starts = [text.rfind(end, low, at) + len(end) for end in (". ", "\n") if text.rfind(end, low, at) >= 0]
    return max(starts) if starts else max(text.rfind(" ", low, at - 60) + 1, 0)
