"""A result of the search as HTML: where it stands, what it says, how it was ranked, what is next to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from normrag_core.config import RELATIONS, Relation
from normrag_core.graph import Graph
from normrag_core.model import Corpus, InfoUnit
from normrag_core.movement import Change
from normrag_core.trace import Result, Trace
from pages import _change as change
from pages import _escape as escape
from pages import _reader as reader
from pages import _text as text
from pages import _theme as theme
from pages import _words as words

MOST_TEXT = 12_000
EMPTY = '<p class="nr-small">No text of its own: a heading followed at once by sub-clauses.</p>'
MOST_CHIPS = 12
_KIND = {
    "part": theme.badge("part of the clause", title="A long clause is ranked in parts; this is one of them"),
    "head": theme.badge("by its heading", title="A long clause is ranked in parts; its heading and place were the match"),
    "window": theme.badge(
        "window", title="Words cut from the document without regard to clauses; named is the one most are of"
    ),
}
_MARK = {
    "right": theme.badge("✓ marked right", "good", "You said that it answers this question; take it back under Inspect"),
    "wrong": theme.badge("✗ marked wrong", "bad", "You said that it does not answer this question; take it back under Inspect"),
}
JUMP = "reference"  # What a clause is opened under that a typed reference led to.


@dataclass(frozen=True)
class Page:
    """What every card of one list of results needs. rank_of: unit id → best rank among the results shown.

    marked: chunk id → "right" or "wrong", as the user marked it for the question. moved: unit id → how the setting changed last
    moved it.
    """

    corpus: Corpus
    graph: Graph
    trace: Trace
    mark: text.Mark
    rank_of: dict[str, int]
    newer: dict[str, str]
    readable: bool
    marked: Mapping[str, str]
    moved: Mapping[str, Change]

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        graph: Graph,
        trace: Trace,
        newer: dict[str, str],
        readable: bool,
        marked: Mapping[str, str] = MappingProxyType({}),
        moved: Mapping[str, Change] = MappingProxyType({}),
    ) -> Page:
        """newer: document key → label of the latest loaded edition of the same standard, where that is another one."""
        rank_of: dict[str, int] = {}
        for result in trace.results:
            rank_of.setdefault(result.chunk.unit, result.rank)
        mark = text.marker(trace.query_tokens, trace.config)
        return cls(corpus, graph, trace, mark, rank_of, newer, readable, marked, moved)


def card(page: Page, result: Result, opened: bool) -> str:
    """One result. opened: whether something is opened under it, so that its neighbours stay unfolded."""
    unit = page.corpus.by_id[result.chunk.unit]
    document = page.corpus.by_key[result.chunk.document]
    part = _KIND.get(result.chunk.kind, "")
    newer = page.newer.get(document.key)
    warn = theme.badge(f"newer edition loaded: {newer}", "warn") if newer else ""
    informative = theme.badge("informative") if unit.informative else ""
    pages = page_range(result.chunk.pages or (unit.page,))
    return (
        f'<article class="nr-card nr-result" tabindex="0" aria-label="Result {result.rank}">'
        f'<div class="nr-row nr-spread"><div class="nr-row nr-small">'
        f'<span class="nr-rank nr-num">{result.rank}</span>{_moved(page, result)}<b>{escape.html(document.label)}</b>'
        f"<span>{pages}</span>{informative}{part}{warn}{_role(page, result)}"
        f"{_MARK.get(page.marked.get(result.chunk.id, ''), '')}</div>"
        f'<div class="nr-row">{_inspect_link(result)}{_read_link(page, unit)}</div></div>'
        f"{heading(page.corpus, unit)}"
        f"{_body(text.pieces_of_chunk(page.corpus, result.chunk), page.mark)}"
        f"{_moves(page.trace, result)}"
        f"{neighbours(page, unit, at=result.chunk.id, unfolded=opened)}"
        "</article>"
    )


def clause(page: Page, unit: InfoUnit, at: str, relation: str = "", marked: bool = True) -> str:
    """A clause opened in place. relation: how it is next to what it was opened from, in words. at: see `neighbours`."""
    closable = at != JUMP or bool(relation)
    document = page.corpus.by_key[unit.document]
    close = '<button class="nr-link" data-nr="close" data-value="">Close</button>' if closable else ""
    rank = page.rank_of.get(unit.id)
    return (
        f'<article class="nr-card nr-opened"><div class="nr-row nr-spread"><div class="nr-row nr-small">'
        f"{theme.badge(relation) if relation else ''}<b>{escape.html(document.label)}</b>"
        f"<span>{page_range((unit.page,))}</span>"
        f"{theme.badge(f'result {rank}', 'info') if rank else ''}</div>"
        f'<div class="nr-row">{_read_link(page, unit)}{close}</div></div>'
        f"{heading(page.corpus, unit)}{_whole(text.pieces_of(unit), page.mark if marked else text.no_mark)}"
        f"{neighbours(page, unit, at, unfolded=False)}</article>"
    )


def choice(page: Page, units: list[InfoUnit], at: str) -> str:
    """Several clauses to choose from: what a reference without a document's number may mean."""
    chips = "".join(
        f'<button class="nr-chip" data-nr="open" data-value="{escape.html(json.dumps([at, u.id]))}">'
        f"<b>{escape.html(page.corpus.by_key[u.document].label)}</b> {escape.html(u.heading)}</button>"
        for u in units[:60]
    )
    head = '<div class="nr-small">Several documents have this clause</div>'
    return f'<div class="nr-card nr-opened">{head}<div class="nr-row">{chips}</div></div>'


def heading(corpus: Corpus, unit: InfoUnit) -> str:
    """The title path, the document left out, and the heading itself."""
    above = " › ".join(escape.html(u.heading) for u in corpus.path(unit)[1:-1])
    own = escape.html(unit.heading or corpus.by_key[unit.document].title)
    return f'{f"""<div class="nr-path">{above} ›</div>""" if above else ""}<h3 class="nr-heading">{own}</h3>'


def page_range(pages: tuple[int, ...]) -> str:
    """ "page 45" or "pages 45–46"."""
    low, high = min(pages), max(pages)
    return f"page {low}" if low == high else f"pages {low}–{high}"


def _body(pieces: list[text.Piece], mark: text.Mark) -> str:
    shown, cut = text.excerpt(pieces, mark)
    if not cut:
        return text.render(shown, mark) or EMPTY
    count = sum(len(p.text.split()) for p in pieces)
    return (
        f"{text.render(shown, mark)}"
        f'<details class="nr-whole"><summary>Whole text, {count} words</summary>{_whole(pieces, mark)}</details>'
    )


def _whole(pieces: list[text.Piece], mark: text.Mark) -> str:
    """All of a text, up to a limit that keeps one page of results light."""
    length, kept = 0, 0
    while kept < len(pieces) and length < MOST_TEXT:
        length += len(pieces[kept].text)
        kept += 1
    rest = sum(len(p.text.split()) for p in pieces[kept:])
    more = f'<p class="nr-small">… and {rest:,} more words.</p>' if rest else ""
    return (text.render(pieces[:kept], mark) or EMPTY) + more


def _role(page: Page, result: Result) -> str:
    if result.role == "seed":
        return theme.badge("seed", "info", "Expansion started from this result")
    if result.role != "neighbour" or not result.via:
        return ""
    via = result.via[0]
    seed = next((r for r in page.trace.results if r.index == via.seed), None)
    label = theme.RELATION[via.relation].label
    return theme.badge(f"joined by expansion: {label}{f' of result {seed.rank}' if seed else ''}", "info")


def _moved(page: Page, result: Result) -> str:
    """How the clause moved under the setting changed last, at its first result."""
    return change.sign(page.moved.get(result.chunk.unit)) if page.rank_of.get(result.chunk.unit) == result.rank else ""


def _moves(trace: Trace, result: Result) -> str:
    """The ranks at each stage, and how they moved from one to the next."""
    cells: list[str] = []
    before: int | None = None
    for stage in trace.stages:
        tone = theme.STAGE[stage.name]
        held = result.ranks.get(stage.name)
        if held is None:
            cells.append(
                f'<span class="nr-stage nr-out" title="{words.STAGE_HELP[stage.name]}: not ranked">{tone.label} –</span>'
            )
            continue
        rank, score = held
        moved = ""
        if before is not None and before != rank:
            sign, css = ("▲", "nr-up") if rank < before else ("▼", "nr-down")
            moved = f'<small class="{css}">{sign}{abs(before - rank)}</small>'
        cells.append(
            f'<span class="nr-stage" style="--nr-tone:{tone.css}" '
            f'title="{words.STAGE_HELP[stage.name]}: {rank}, score {score:.4g}">'
            f"{tone.label} <b>{rank}</b>{moved}</span>"
        )
        before = rank
    return f'<div class="nr-row nr-moves nr-num">{"<span class=nr-then>→</span>".join(cells)}</div>'


def neighbours(page: Page, unit: InfoUnit, at: str, unfolded: bool) -> str:
    """What is next to a unit, by relation; those that are results too come first and carry their rank."""
    groups = {r: page.graph.neighbours(unit.id, r) for r in RELATIONS}
    groups = {r: units for r, units in groups.items() if units}
    if not groups:
        return ""
    counts = "".join(
        f'<span class="nr-count" style="color:{theme.RELATION[r].css}">'
        f"{theme.RELATION[r].sign} {len(units)} {_label(r, len(units))}</span>"
        for r, units in groups.items()
    )
    hits = sorted({page.rank_of[u.id] for units in groups.values() for u in units if u.id in page.rank_of})
    also = f'<span class="nr-also">results {", ".join(map(str, hits))} among them</span>' if len(hits) > 1 else ""
    also = also or (f'<span class="nr-also">result {hits[0]} among them</span>' if hits else "")
    rows = "".join(_group(page, r, units, at) for r, units in groups.items())
    return (
        f'<details class="nr-neighbours"{" open" if unfolded else ""}><summary class="nr-row">'
        f"<span>Neighbours</span>{counts}{also}</summary>{rows}</details>"
    )


def _label(relation: Relation, count: int) -> str:
    if count == 1:
        return {"child": "child", "sibling": "sibling"}.get(relation, theme.RELATION[relation].label)
    return theme.RELATION[relation].label


def _group(page: Page, relation: Relation, units: list[InfoUnit], at: str) -> str:
    tone = theme.RELATION[relation]
    ordered = sorted(units, key=lambda u: page.rank_of.get(u.id, 1_000_000))
    chips = "".join(_chip(page, u, tone, at) for u in ordered[:MOST_CHIPS])
    if len(ordered) > MOST_CHIPS:
        more = "".join(_chip(page, u, tone, at) for u in ordered[MOST_CHIPS:200])
        summary = f"<summary>{len(ordered) - MOST_CHIPS} more</summary>"
        chips += f'<details class="nr-more">{summary}<div class="nr-row">{more}</div></details>'
    return (
        f'<div class="nr-group"><span class="nr-tiny" style="color:{tone.css}">{tone.sign} {tone.label}</span>'
        f'<div class="nr-row">{chips}</div></div>'
    )


def _chip(page: Page, unit: InfoUnit, tone: theme.Tone, at: str) -> str:
    rank = page.rank_of.get(unit.id)
    elsewhere = "" if at.startswith(unit.document) else f"{page.corpus.by_key[unit.document].id} "
    name = escape.html(f"{elsewhere}{unit.heading or 'the document'}")
    badge = f"<b>{rank}</b> " if rank else ""
    tip = f"{name}{f' (result {rank})' if rank else ''}"
    return (
        f'<button class="nr-chip{" nr-hit" if rank else ""}" style="--nr-tone:{tone.css}" data-nr="open" '
        f'data-value="{escape.html(json.dumps([at, unit.id]))}" title="{tip}">{badge}{name}</button>'
    )


def _inspect_link(result: Result) -> str:
    return (
        f'<button class="nr-link" data-nr="inspect" data-value="{escape.html(result.chunk.id)}" '
        'title="See it on its page, and why it is ranked here">Inspect</button>'
    )


def _read_link(page: Page, unit: InfoUnit) -> str:
    if not page.readable:
        return ""
    return (
        f'<a class="nr-link" {reader.address(unit.id)} data-nr="read" data-value="{escape.html(unit.id)}" '
        'title="Open the document at this clause">Read</a>'
    )
