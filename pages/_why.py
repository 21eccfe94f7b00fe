"""Why this rank: what every stage gave one chunk, worked out in figures that add up."""

from __future__ import annotations

from normrag_core.config import RetrieverConfig
from normrag_core.explain import Bm25Part, DensePart, ExpansionPart, Explanation, FusionPart, RerankPart, explain
from normrag_core.model import Chunk
from normrag_core.trace import Trace
from pages import _escape as escape
from pages import _state as state
from pages import _theme as theme
from pages import _words as words

MOST_NEIGHBOURS = 8


def rank(trace: Trace, index: int) -> None:
    """The explanation of one chunk's rank, in Streamlit."""
    import streamlit as st

    found = explain(state.retriever(), trace, index)
    st.html(html(trace, found, state.retriever().chunks(trace.config)))


def html(trace: Trace, found: Explanation, chunks: tuple[Chunk, ...]) -> str:
    """All parts of an explanation as HTML."""
    config = trace.config
    parts = []
    if found.bm25 is not None:
        parts.append(_part("bm25", _place(trace, "bm25", found.index), _bm25(found.bm25, config)))
    if found.dense is not None:
        parts.append(_part("dense", _place(trace, "dense", found.index), _dense(found.dense, config, chunks)))
    if found.fusion is not None:
        parts.append(_part("fusion", _place(trace, "fusion", found.index), _fusion(found.fusion, trace)))
    if found.expansion is not None:
        parts.append(_part("expansion", _place(trace, "expansion", found.index), _expansion(found.expansion, config, chunks)))
    if found.rerank is not None:
        parts.append(_part("rerank", _place(trace, "rerank", found.index), _rerank(found.rerank, config)))
    parts += [
        _part(n, _place(trace, n, found.index), f'<p class="nr-small">{words.STAGE_HELP[n]}.</p>')
        for n in ("rerank", "edition")
        if trace.stage(n) and (n != "rerank" or found.rerank is None)
    ]
    return f'<div class="nr-why" data-testid="why">{"".join(parts)}</div>'


def _part(stage: str, place: str, inner: str) -> str:
    tone = theme.STAGE[stage]
    return (
        f'<section class="nr-part" style="--nr-tone:{tone.css}" data-stage="{stage}">'
        f'<h4>{theme.dot(stage)} {tone.label} <span class="nr-small nr-num">{place}</span></h4>{inner}</section>'
    )


def _place(trace: Trace, stage: str, index: int) -> str:
    ran = trace.stage(stage)
    if ran is None:
        return "did not run"
    held = ran.position(index)
    return f"rank {held[0]} of {len(ran.order):,}" if held else f"not among the {len(ran.order):,} it ranked"


def _bar(share: float, most: float) -> str:
    wide = 100 * max(0.0, share) / most if most > 0 else 0.0
    return f'<span class="nr-bar"><i style="width:{wide:.1f}%;background:var(--nr-tone)"></i></span>'


def _table(head: list[tuple[str, str]], rows: list[list[str]], total: list[str] | None = None) -> str:
    """head: (words, "num" or ""); cells are HTML."""

    def line(cells: list[str], tag: str, css: str = "") -> str:
        inner = "".join(
            f"<{tag}{' class=nr-num' if kind == 'num' else ''}>{cell}</{tag}>"
            for cell, (_, kind) in zip(cells, head, strict=True)
        )
        return f"<tr{css}>{inner}</tr>"

    body = "".join(line(r, "td") for r in rows) + (line(total, "td", ' class="nr-total"') if total else "")
    return f'<div class="nr-scroll"><table class="nr-table nr-figures">{line([w for w, _ in head], "th")}{body}</table></div>'


def _bm25(part: Bm25Part, config: RetrieverConfig) -> str:
    if not part.shares:
        return '<p class="nr-small">It holds no word of the question.</p>'
    most = max(s.share for s in part.shares)
    rows = [
        [
            f"<b>{escape.html(s.term)}</b>{f' × {s.asked:g}' if s.asked != 1 else ''}",
            _bar(s.share, most),
            f"{s.text}",
            f"{s.context}",
            f"{s.idf:.2f}{' (raised)' if s.floored else ''}",
            f"{s.share:.3f}",
        ]
        for s in part.shares
    ]
    head = [("term", ""), ("", ""), ("in text", "num"), ("in context", "num"), ("rarity (idf)", "num"), ("share", "num")]
    missing = ""
    whole = f"Counted on part {part.part[0]} of {part.part[1]}, the clause's best. " if part.part else ""
    if part.missing:
        missing = f'<p class="nr-small">Not in it: {", ".join(f"<q>{escape.html(t)}</q>" for t in part.missing)}.</p>'
    bent = f"; idf as highest · (idf / highest)^{config.idf_power:g}" if config.idf_power != 1 else ""
    return (
        _table(head, rows, ["sum", "", "", "", "", f"<b>{part.score:.3f}</b>"])
        + f'<p class="nr-tiny">{whole}share = idf · f·(k₁+1) / (f + k₁·(1 − b + b·length/mean length)), f = in text + '
        f"{config.context_weight:g} · in context; k₁ = {config.bm25_k1:g}, b = {config.bm25_b:g}; {part.length:g} terms, "
        f"{part.mean_length:.0f} on average{bent}. Terms are stems.</p>{missing}"
    )


def _dense(part: DensePart, config: RetrieverConfig, chunks: tuple[Chunk, ...]) -> str:
    if not config.smoothing:
        return f'<p class="nr-num">cosine(question, chunk) = <b>{part.after:.4f}</b></p>'
    moved = part.after - part.before
    head = f'<p class="nr-num">cosine {part.before:.4f} before smoothing, <b>{part.after:.4f}</b> after ({moved:+.4f})</p>'
    if not part.neighbours:
        return (
            head + '<p class="nr-small">It has no neighbour by the relations that are smoothed over, so its vector stays.</p>'
        )
    most = max(part.own, *(abs(n.share) for n in part.neighbours))
    rows = [["the chunk itself", _bar(part.own, most), "", f"{part.own:.4f}"]]
    for n in part.neighbours[:MOST_NEIGHBOURS]:
        marks = "".join(theme.dot(r) for r in n.relations)
        rows.append([f"{marks} {_name(chunks[n.index])}", _bar(n.share, most), f"{n.cosine:.3f}", f"{n.share:+.4f}"])
    if rest := part.neighbours[MOST_NEIGHBOURS:]:
        share = sum(n.share for n in rest)
        rows.append([f"{len(rest)} more neighbours", _bar(share, most), "", f"{share:+.4f}"])
    table = _table(
        [("vector", ""), ("", ""), ("its own cosine", "num"), ("share", "num")],
        rows,
        ["sum", "", "", f"<b>{part.after:.4f}</b>"],
    )
    return f'{head}{table}<p class="nr-tiny">e ← α·e + (1−α)·mean(neighbours), made length 1 again; α = {config.alpha:g}</p>'


def _fusion(part: FusionPart, trace: Trace) -> str:
    config = trace.config
    if config.ranking != "rrf":
        terms = " + ".join(f"{s.share:.4f}" for s in part.shares)
        rows = [
            [theme.STAGE[s.stage].label, f"{s.rank}", f"{s.score:.4f}", f"{s.weight:g}", f"{s.share:.4f}"] for s in part.shares
        ]
        head = [("order", ""), ("rank", "num"), ("score", "num"), ("weight", "num"), ("weight × score on one scale", "num")]
        return (
            _table(head, rows, ["sum", "", "", "", f"<b>{part.score:.4f}</b>"])
            + f'<p class="nr-num">{terms} = {part.score:.4f}</p>'
        )
    sums = " + ".join(f"{s.weight:g} / ({config.rrf_k} + {s.rank})" for s in part.shares)
    values = " + ".join(f"{s.share:.5f}" for s in part.shares)
    named = ", ".join(f"{theme.STAGE[s.stage].label} rank {s.rank}" for s in part.shares)
    return (
        f'<p class="nr-num nr-sum" data-testid="rrf">{sums} = {values} = <b>{part.score:.5f}</b></p>'
        f'<p class="nr-tiny">{named}; k = {config.rrf_k}; the larger sum ranks higher</p>'
    )


def _expansion(part: ExpansionPart, config: RetrieverConfig, chunks: tuple[Chunk, ...]) -> str:
    via = {v.seed: v for v in part.via}
    shown = sorted(part.shares, key=lambda s: -s.share)
    rows = []
    for s in shown[:MOST_NEIGHBOURS]:
        link = via.get(s.seed)
        how = (
            f"{theme.dot(link.relation)} {theme.RELATION[link.relation].label}{f', {link.hops} hops' if link.hops > 1 else ''}"
            if link
            else ""
        )
        rows.append([_name(chunks[s.seed]), how, f"{s.question:.3f}", f"{s.similarity:.3f}", f"{s.degree}", f"{s.share:.5f}"])
    if rest := shown[MOST_NEIGHBOURS:]:
        rows.append([f"{len(rest)} more seeds", "", "", "", "", f"{sum(s.share for s in rest):.5f}"])
    if config.formula == "best-seed":
        rows.insert(0, ["its own fused score", "", "", "", "", f"{part.own:.5f}"])
    formula = (
        "S(v) = Σ sim(seed, question) · sim(v, seed) / degree(v)"
        if config.formula == "paper"
        else f"S(v) = its own fused score + {config.expansion_weight:g} · the fused score of its best seed"
    )
    head = [
        ("seed", ""),
        ("linked by", ""),
        ("seed's score", "num"),
        ("similarity", "num"),
        ("degree", "num"),
        ("share", "num"),
    ]
    return _table(head, rows, ["sum", "", "", "", "", f"<b>{part.score:.5f}</b>"]) + f'<p class="nr-tiny">{formula}</p>'


def _rerank(part: RerankPart, config: RetrieverConfig) -> str:
    weights = (1 - config.rerank_weight, config.rerank_weight)
    rows = [
        [f"{theme.STAGE[part.stage].label}, rank {part.rank}", f"{weights[0]:g}", f"{part.before:.4f}"],
        ["what the cross-encoder reads", f"{weights[1]:g}", f"{part.reading:.4f}"],
    ]
    head = [("", ""), ("weight", "num"), (f"weight × score on one scale, over the {config.rerank_n} results read", "num")]
    return _table(head, rows, ["sum", "", f"<b>{part.score:.4f}</b>"])


def _name(chunk: Chunk) -> str:
    part = f" ({chunk.id.rsplit('/', 1)[-1]})" if chunk.kind == "part" else ""
    return f"{escape.html(state.corpus().by_key[chunk.document].label)} · {escape.html(chunk.title)}{part}"
