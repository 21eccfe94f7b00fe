"""Colour, size and legend of a graph picture: what each means stands in the legend beside it."""

from __future__ import annotations

import colorsys
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from normrag_core.graph.views import Edge, Node, View
from pages import _escape as escape
from pages import _theme as theme

COLOUR_BY = {"document": "Standard", "depth": "Depth", "size": "Importance", "state": "Citation state"}
SIZE_BY = {"in-degree": "Citations received", "pagerank": "PageRank", "betweenness": "Betweenness", "folded": "Units in it"}
_EDITION = re.compile(r" V\d+(\.\d+)+$")
BOX = 270  # pixels, the width of a node in a tree
_STATE_ORDER = ("resolved", "version-mismatch", "missing-clause", "not-loaded")


def colours(view: View, by: str, scores: Mapping[str, float], dark: bool) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """(colour of every node id and edge relation, legend entries (colour, words))."""
    shade = {name: theme.RELATION[name].dark if dark else theme.RELATION[name].light for name in theme.RELATION}
    hollow = theme.STATE["not-loaded"].dark if dark else theme.STATE["not-loaded"].light
    chosen: dict[str, str] = dict(shade)
    own = [n for n in view.nodes if n.kind != "foreign"]
    legend: list[tuple[str, str]] = []
    if by == "document":
        documents = sorted({n.document for n in own})
        hue = {d: _hue(i, len(documents), dark) for i, d in enumerate(documents)}
        chosen |= {n.id: hue[n.document] for n in own}
        legend = [(hue[d], d) for d in documents[:12]] + (
            [("", f"and {len(documents) - 12} more")] if len(documents) > 12 else []
        )
    elif by == "depth":
        deepest = max((n.depth for n in own), default=0)
        chosen |= {n.id: _ramp(n.depth / max(1, deepest), dark) for n in own}
        legend = [(_ramp(d / max(1, deepest), dark), "document" if d == 0 else f"level {d}") for d in range(deepest + 1)]
    elif by == "size":
        chosen |= {n.id: _ramp(1 - scores.get(n.id, 0.0), dark) for n in own}
        legend = [(_ramp(1.0, dark), "least important"), (_ramp(0.0, dark), "most important")]
    else:
        worst = _worst_states(view)
        tone = {s: theme.STATE[s].dark if dark else theme.STATE[s].light for s in _STATE_ORDER}
        chosen |= {n.id: tone[worst.get(n.id, "resolved")] for n in own}
        legend = [(tone[s], f"worst citation: {theme.STATE[s].label}") for s in _STATE_ORDER]
    chosen |= {n.id: hollow for n in view.nodes if n.kind == "foreign"}
    return chosen, legend


def radii(view: View, scores: Mapping[str, float]) -> dict[str, float]:
    """Radius of every node in pixels; its area follows the score."""
    return {n.id: 6.0 if n.kind == "foreign" else 7.0 + 17.0 * scores.get(n.id, 0.0) ** 0.5 for n in view.nodes}


def vis_nodes(view: View, colour: Mapping[str, str], radius: Mapping[str, float], back: str) -> list[dict[str, Any]]:
    """Nodes in vis-network's form. Labels and tooltips are shown as plain text by the library."""
    boxed = view.name in ("hierarchy", "result")
    # A large picture is shown small: its labels and nodes grow with it, so that they can be read before zooming in.
    wide = max((n.x for n in view.nodes), default=0.0) - min((n.x for n in view.nodes), default=0.0)
    high = max((n.y for n in view.nodes), default=0.0) - min((n.y for n in view.nodes), default=0.0)
    grown = 1.0 if boxed else min(1.9, max(1.0, wide / 1000, high / 560))
    short = _numbers(view)
    return [
        _vis_node(n, colour[n.id], radius[n.id] * grown, back, boxed, round(12 * grown)) | short.get(n.id, {})
        for n in view.nodes
    ]


def _numbers(view: View) -> dict[str, dict[str, str]]:
    """Node id → the label of a standard without its edition, where only one edition of it is drawn: long labels overlap."""
    loaded = [n for n in view.nodes if n.depth == 0 and n.kind == "document" and n.rank is None]
    number = {n.id: _EDITION.sub("", n.label) for n in loaded}
    drawn = Counter([*number.values(), *(n.label for n in view.nodes if n.kind == "foreign")])
    return {key: {"label": escape.plain(short)} for key, short in number.items() if short and drawn[short] == 1}


def _vis_node(node: Node, colour: str, radius: float, back: str, boxed: bool, font: int) -> dict[str, Any]:
    faint = node.kind == "foreign" or node.informative
    made: dict[str, Any] = {
        "id": node.id,
        "label": _label(node),
        "title": _tooltip(node),
        "x": node.x,
        "y": node.y,
        "size": radius,
        "color": {"background": back if faint or boxed else colour, "border": colour}
        | {"highlight": {"background": back if boxed else colour, "border": colour}}
        | {"hover": {"background": back if boxed else colour, "border": colour}},
        "shapeProperties": {"borderDashes": [4, 3] if faint else False, "borderRadius": 4},
        "borderWidth": 4 if node.role in ("centre", "seed") else 2,
        "borderWidthSelected": 5,
        "font": {"size": font},
    }
    if boxed:  # a tree is read line by line: number and title in a box, all boxes alike in width
        made |= {"shape": "box", "label": _line(node), "margin": 5, "widthConstraint": {"minimum": BOX, "maximum": BOX}}
        made["font"] = {"align": "left", "size": 13}
    return made


def vis_edges(view: View, colour: Mapping[str, str]) -> list[dict[str, Any]]:
    """Edges in vis-network's form; width grows with the number of citations, dashes mean that they lead nowhere."""
    across = view.name == "hierarchy"
    return [
        {
            "id": f"{e.source}\n{e.target}\n{e.relation}",
            "from": e.source,
            "to": e.target,
            "title": _edge_tip(e),
            "width": 1.0 if e.relation != "cites" else 1 + min(7.0, e.count**0.5 / 1.6),
            "color": {
                "color": colour.get(e.relation, "#888888"),
                "opacity": 0.35 if e.relation in ("parent", "sibling") else 0.6,
            },
            "dashes": e.state != "resolved",
            "arrows": {"to": {"enabled": e.relation not in ("parent", "sibling"), "scaleFactor": 0.45}},
        }
        | (
            {"smooth": {"enabled": True, "type": "cubicBezier", "forceDirection": "horizontal", "roundness": 0.5}}
            if across
            else {}
        )
        for e in view.edges
    ]


def _edge_tip(edge: Edge) -> str:
    ends = f"{edge.source.split('#')[0]} → {edge.target.split('#')[0].lstrip('?')}"
    return f"{ends}: {edge.count} × cites, {theme.STATE[edge.state].label}" if edge.relation == "cites" else edge.relation


def legend_html(view: View, legend: list[tuple[str, str]], colour: Mapping[str, str], size: str) -> str:
    """The legend as HTML: node colours, kinds of edges that occur, what size means."""
    parts = [_key(c, w) for c, w in legend]
    relations = {e.relation for e in view.edges}
    parts += [
        _key(colour[r], f"{theme.RELATION[r].sign} {theme.RELATION[r].label}", "line") for r in theme.RELATION if r in relations
    ]
    if any(e.state != "resolved" for e in view.edges):
        parts.append(_key(colour["cites"], "leads nowhere", "dashed"))
    if any(n.kind == "foreign" for n in view.nodes):
        parts.append(_key(theme.STATE["not-loaded"].css, "cited, not loaded", "ring"))
    if any(n.informative for n in view.nodes):
        parts.append(_key("currentColor", "informative", "ring"))
    parts.append(f'<span class="nr-tiny">size: {escape.html(size)}; edge width: number of citations</span>')
    return f'<div class="nr-row nr-tiny" style="gap:4px 14px">{"".join(parts)}</div>'


def _key(colour: str, word: str, shape: str = "dot") -> str:
    style = {
        "dot": f"width:10px;height:10px;border-radius:50%;background:{colour}",
        "ring": f"width:7px;height:7px;border-radius:50%;border:2px solid {colour}",
        "line": f"width:18px;height:0;border-top:3px solid {colour}",
        "dashed": f"width:18px;height:0;border-top:3px dashed {colour}",
    }[shape]
    mark = f'<i style="display:inline-block;margin-right:5px;vertical-align:middle;{style}"></i>' if colour else ""
    return f"<span>{mark}{escape.html(word)}</span>"


def _label(node: Node) -> str:
    text = escape.plain(node.label)
    text = text if len(text) <= 26 else text[:25] + "…"
    if node.rank is not None:
        text = f"{node.rank}. {text}"
    return f"{text} +" if node.children and not node.opened and node.depth else text


def _line(node: Node) -> str:
    """Number and title on one line, for a box."""
    start = f"{node.rank}.  " if node.rank is not None else ""
    title = "" if node.title == node.label else node.title
    text = escape.plain(f"{start}{node.label}  {title}" if node.depth else f"{start}{node.label}")
    text = text if len(text) <= 34 else text[:33] + "…"
    return text if not node.children or node.opened else f"{text}  +"


def _tooltip(node: Node) -> str:
    lines = [escape.plain(node.title), escape.plain(node.document) + (f", page {node.page}" if node.page else "")]
    if node.folded > 1:
        lines.append(f"{node.folded:,} units in it")
    if node.degree:
        lines.append(f"{node.degree:,} citations from and to it here")
    if node.role and node.role not in ("result",):
        lines.append(node.role)
    if node.kind == "foreign":
        lines = [escape.plain(node.label), "cited, but not loaded"]
    return "\n".join(lines)


def _worst_states(view: View) -> dict[str, str]:
    worst: dict[str, str] = {}
    for edge in view.edges:
        if edge.relation == "cites":
            worst[edge.source] = max(worst.get(edge.source, "resolved"), edge.state, key=_STATE_ORDER.index)
    return worst


def _hue(i: int, n: int, dark: bool) -> str:
    """Hues as far apart as the number allows; every second one of another lightness, so that neighbours differ in two ways."""
    light = (0.68, 0.56)[i % 2] if dark else (0.42, 0.54)[i % 2]
    return _hex(colorsys.hls_to_rgb(i / max(1, n), light, 0.55))


def _ramp(share: float, dark: bool) -> str:
    """From strong (0) to faint (1)."""
    light = 0.75 - 0.45 * share if dark else 0.32 + 0.45 * share
    return _hex(colorsys.hls_to_rgb(0.58, light, 0.6 - 0.3 * share))


def _hex(rgb: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * v):02x}" for v in rgb)
