"""A clause as a reader's HTML: blocks by their kind, cross-references as links, terms and modal verbs marked.

Everything is cut out of `InfoUnit.body` by offset, so that a mark of the core falls exactly on its words, in table cells too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from urllib.parse import quote_plus

from normrag_core.model import Block, Corpus, InfoUnit
from normrag_core.reading import Mark, Reading
from pages import _escape as escape
from pages import _theme as theme

MOST_ROWS = 400
MOST_TREE = 3000
_SCRIPT = re.compile(r"&lt;(/?su[bp])&gt;")
_CELL = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[\s|:-]+")
_RAISED = re.compile(r"(?<=[\w)\]])\^(\([^()\n]{1,24}\)|-?\w{1,6})")


def body(unit: InfoUnit, marks: Sequence[Mark], modals: bool = False) -> str:
    """The unit's own text. modals: whether modal verbs stand out."""
    shown = [m for m in marks if modals or m.kind != "modal"]
    blocks = unit.blocks or (Block("paragraph", 0, len(unit.body)),)
    parts = [_block(unit.body, b, shown) for b in blocks if unit.body[b.start : b.end].strip()]
    return f'<div class="nr-clause nr-read">{"".join(parts)}</div>' if parts else ""


def _block(text: str, block: Block, marks: Sequence[Mark]) -> str:
    if block.kind == "table":
        return _table(text, block, marks)
    words = _stretch(text, block.start, block.end, marks)
    if block.kind == "code":
        return f"<pre>{words}</pre>"
    if block.kind == "list":
        return f'<p class="nr-item" style="--level:{block.level}">{words}</p>'
    return f"<p>{words}</p>" if block.kind == "paragraph" else f'<p class="nr-{block.kind}">{words}</p>'


def _table(text: str, block: Block, marks: Sequence[Mark]) -> str:
    """A table block: lines of cells between bars, each cell where it stands in the body."""
    rows: list[list[str]] = []
    at = block.start
    for line in text[block.start : block.end].split("\n"):
        bars = [at + m.start() for m in _CELL.finditer(line)]
        if len(bars) < 2:
            if line.strip():
                rows.append([_stretch(text, at, at + len(line), marks)])
        elif not _RULE.fullmatch(line):
            cells = [_stretch(text, a + 1, b, marks).strip() for a, b in pairwise(bars)]
            rows.append([c.replace("\\|", "|") for c in cells])
        at += len(line) + 1
    if not rows:
        return ""

    def tr(cells: list[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{c}</{tag}>" for c in cells) + "</tr>"

    rest = f'<p class="nr-tiny">and {len(rows) - MOST_ROWS:,} more rows</p>' if len(rows) > MOST_ROWS else ""
    inner = "".join(tr(r, "td") for r in rows[1:MOST_ROWS])
    return f'<div class="nr-scroll"><table class="nr-table">{tr(rows[0], "th")}{inner}</table></div>{rest}'


def _stretch(text: str, start: int, end: int, marks: Sequence[Mark]) -> str:
    """`text[start:end]` as HTML with the marks that lie in it."""
    parts: list[str] = []
    at = start
    for mark in marks:
        if mark.start < at or mark.end > end:
            continue
        parts += [_plain(text[at : mark.start]), _marked(mark, _plain(text[mark.start : mark.end]))]
        at = mark.end
    return "".join([*parts, _plain(text[at:end])])


def _plain(text: str) -> str:
    """Escaped; raised and lowered figures as what they are."""
    return _RAISED.sub(lambda m: f"<sup>{m.group(1).strip('()')}</sup>", _SCRIPT.sub(r"<\1>", escape.html(text)))


def _marked(mark: Mark, words: str) -> str:
    tip = _plain(mark.tip)
    if mark.kind == "citation" and mark.target:
        card = f'<span class="nr-tip" role="tooltip">{tip}</span>'
        return f'<a class="nr-ref" {_goes_to(mark.target)}>{words}{card}</a>'
    if mark.kind == "citation":
        tone = theme.STATE.get(mark.style, theme.STATE["not-loaded"]).css
        return f'<span class="nr-lost" style="--nr-tone:{tone}" tabindex="0">{words}<span class="nr-tip">{tip}</span></span>'
    if mark.kind == "term":
        return f'<abbr class="nr-term" tabindex="0">{words}<span class="nr-tip">{tip}</span></abbr>'
    return f'<b class="nr-modal nr-{mark.style}" title="{escape.html(mark.tip)}">{words}</b>'


def _goes_to(unit: str) -> str:
    """Attributes of a link to a unit: its address for a new tab, its id for a click inside the app."""
    return f'{address(unit)} data-nr="go" data-value="{escape.html(unit)}"'


def address(unit: str) -> str:
    """The attribute that leads to a unit on the Read page, written as Streamlit writes it: see `_components`."""
    return f'href="read?unit={quote_plus(unit)}"'


def link(corpus: Corpus, unit: InfoUnit, own: str = "") -> str:
    """A unit as a link on the Read page; with its document where that is not `own`."""
    document = corpus.by_key[unit.document]
    name = unit.heading if unit.parent is not None else document.title
    where = "" if unit.document == own else f"<b>{escape.html(document.label)}</b> "
    return f'<a class="nr-chip" {_goes_to(unit.id)}>{where}{escape.html(name)}</a>'


def breadcrumb(corpus: Corpus, unit: InfoUnit) -> str:
    """Document › clause › … › unit, each a link."""
    steps = []
    for step in corpus.path(unit):
        name = corpus.by_key[unit.document].label if step.parent is None else (step.code or step.title)
        if step is unit:
            steps.append(f'<b aria-current="page">{escape.html(name)}</b>')
        else:
            steps.append(f'<a class="nr-link" {_goes_to(step.id)}>{escape.html(name)}</a>')
    return f'<nav class="nr-path" aria-label="Where this clause stands">{" › ".join(steps)}</nav>'


def contents(corpus: Corpus, document: str, here: InfoUnit | None, words: str = "") -> str:
    """The contents tree: folded but for the way to the current clause; with `words`, what matches and the way to it."""
    units = corpus.units_of(document)
    on_path = {u.id for u in corpus.path(here)} if here is not None and here.document == document else set()
    wanted = words.lower().split()
    kept: set[str] | None = None
    if wanted:
        kept = set()
        for unit in units:
            if all(w in f"{unit.code} {unit.title}".lower() for w in wanted):
                kept |= {u.id for u in corpus.path(unit)}
    root = units[0]
    inner = _branch(corpus, root, here, on_path, kept)
    if kept is not None and len(kept) < 2:
        inner = '<p class="nr-small">No heading has these words.</p>'
    return f'<nav class="nr-tree" aria-label="Contents">{inner}</nav>'


def _branch(corpus: Corpus, unit: InfoUnit, here: InfoUnit | None, on_path: set[str], kept: set[str] | None) -> str:
    items = []
    for child in corpus.children(unit)[:MOST_TREE]:
        if kept is not None and child.id not in kept:
            continue
        current = here is not None and child.id == here.id
        code = f'<span class="nr-num">{escape.html(child.code)}</span> ' if child.code and child.code != child.title else ""
        label = f"<a {_goes_to(child.id)}{' aria-current=page' if current else ''}>{code}{escape.html(child.title)}</a>"
        if corpus.children(child):
            is_open = child.id in on_path or kept is not None
            branch = _branch(corpus, child, here, on_path, kept)
            items.append(f"<li><details{' open' if is_open else ''}><summary>{label}</summary>{branch}</details></li>")
        else:
            items.append(f"<li>{label}</li>")
    return f"<ul>{''.join(items)}</ul>"


def cited_by(reading: Reading, unit: InfoUnit) -> str:
    """Who cites this clause, with the sentences."""
    pairs = reading.cited_by(unit)
    if not pairs:
        return '<div class="nr-small">Nothing that is loaded cites this clause.</div>'
    rows = "".join(
        f'<div class="nr-cited">{link(reading.corpus, source, unit.document)} <span class="nr-tiny">page {citations[0].page}'
        f"{f', {len(citations)} times' if len(citations) > 1 else ''}</span>"
        f'<div class="nr-small">{_sentence(citations[0].context, citations[0].text)}</div></div>'
        for source, citations in pairs[:100]
    )
    more = f'<div class="nr-tiny">and {len(pairs) - 100} more</div>' if len(pairs) > 100 else ""
    return rows + more


def _sentence(context: str, words: str) -> str:
    at = context.find(words)
    if at < 0:
        return _plain(context)
    end = at + len(words)
    return f"{_plain(context[:at])}<b>{_plain(words)}</b>{_plain(context[end:])}"
