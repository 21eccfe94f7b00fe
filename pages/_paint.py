"""Colour, size and legend of a graph picture: what each means stands in the legend beside it."""

from __future__ import annotations

import colorsys
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from normrag_core.graph.table import STATES
from normrag_core.graph.views import Edge, Node, View
from pages import _escape as escape
from pages import _theme as theme

COLOUR_BY = {"document": "Standard", "depth": "Depth", "size": "Importance", "state": "Citation state"}
SIZE_BY = {"in-degree": "Citations received", "pagerank": "PageRank", "betweenness": "Betweenness", "folded": "Units in it"}
_EDITION = re.compile(r" V\d+(\.\d+)+$")
BOX = {"hierarchy": 300, "result": 430}  # pixels, the width of a node that is a line of text


def colours(
    view: View, by: str, scores: Mapping[str, float], worst: Mapping[str, str], dark: bool
) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """(colour of every node id and edge relation, legend entries (colour, words)).

    scores: node id → importance from 0 to 1. worst: node id → worst state of its citations.
    """
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
        tone = {s: theme.STATE[s].dark if dark else theme.STATE[s].light for s in STATES}
        tone |= {"": _ramp(1.0, dark)}
        chosen |= {n.id: tone[worst.get(n.id, "")] for n in own}
        legend = [(tone[s], f"worst citation: {theme.STATE[s].label}") for s in STATES] + [(tone[""], "cites nothing")]
    chosen |= {n.id: hollow for n in view.nodes if n.kind == "foreign"}
    return chosen, legend


def radii(view: View, scores: Mapping[str, float]) -> dict[str, float]:
    """Radius of every node in pixels; its area follows the score."""
    return {n.id: 6.0 if n.kind == "foreign" else 7.0 + 17.0 * scores.get(n.id, 0.0) ** 0.5 for n in view.nodes}


def shape(view: View) -> dict[str, Any]:
    """How `_network.js` draws: boxed is the width of boxes that hold a line of text, 0 for dots with a label beside them; a
    tree begins at the left; around a clause, labels stand outside."""
    return {
        "boxed": BOX.get(view.name, 0),
        "leftmost": view.name == "hierarchy",
        "sided": view.name == "neighbourhood",
    }


def vis_nodes(view: View, colour: Mapping[str, str], radius: Mapping[str, float]) -> list[dict[str, Any]]:
    """Nodes as `_network.js` takes them, the most important first: those get a label where there is no room for all."""
    boxes, large, short = view.name in BOX, _grown(view), _numbers(view)
    important = sorted(view.nodes, key=lambda n: (n.role != "centre", n.kind == "foreign", -radius[n.id], -n.degree))
    return [
        {
            "id": n.id,
            "label": _line(n, view.name) if boxes else short.get(n.id) or _label(n),
            "more": "" if boxes else _more(n),
            "tip": _tooltip(n),
            "x": n.x,
            "y": n.y,
            "size": round(radius[n.id] * (1.0 if boxes else large), 1),
            "colour": colour[n.id],
            "hollow": n.kind == "foreign" or n.informative,
            "strong": n.role == "centre",
            "frame": 3 if n.role == "seed" else round(radius[n.id] / 8) if view.name == "hierarchy" else 2,
            "soft": n.kind == "foreign",
        }
        for n in important
    ]


def _grown(view: View) -> float:
    """A large picture is shown small: its nodes grow with it, so that they can be told apart before zooming in."""
    wide = max((n.x for n in view.nodes), default=0.0) - min((n.x for n in view.nodes), default=0.0)
    high = max((n.y for n in view.nodes), default=0.0) - min((n.y for n in view.nodes), default=0.0)
    return min(1.9, max(1.0, wide / 1000, high / 560))


def _numbers(view: View) -> dict[str, str]:
    """Node id → the label of a standard without its edition, where only one edition of it is drawn."""
    loaded = [n for n in view.nodes if n.depth == 0 and n.kind == "document" and n.rank is None]
    number = {n.id: without_edition(n.label) for n in loaded}
    drawn = Counter([*number.values(), *(n.label for n in view.nodes if n.kind == "foreign")])
    return {key: escape.plain(short) for key, short in number.items() if short and drawn[short] == 1}


def without_edition(label: str) -> str:
    """ "EN 300 421 V1.1.2" → "EN 300 421"."""
    return _EDITION.sub("", label)


def vis_edges(view: View, colour: Mapping[str, str]) -> list[dict[str, Any]]:
    """Edges as `_network.js` takes them; width grows with the number of citations, dashes mean that they lead nowhere."""
    centre = next((n.id for n in view.nodes if n.role == "centre"), "")
    return [
        {
            "from": e.source,
            "to": e.target,
            "relation": e.relation,
            "tip": _edge_tip(e),
            "width": (2.5 if view.name == "result" else 1.0)
            if e.relation != "cites"
            else round(1 + min(7.0, e.count**0.5 / 1.6), 1),
            "colour": colour.get(e.relation, "#888888"),
            "faint": (e.relation in ("parent", "sibling") and view.name != "result")
            or bool(centre and centre not in (e.source, e.target)),
            "dashed": e.state != "resolved",
        }
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
    if node.kind == "annex":
        text = f"Annex {text}"
    if node.folded > 1 and node.children and node.depth:
        text += f" +{node.folded - 1}"
    return text


def _more(node: Node) -> str:
    """What a label says where there is room for it."""
    if not node.depth or node.title == node.label:
        return ""
    title = escape.plain(node.title)
    return f"{_label(node)}  {title if len(title) <= 24 else title[:23] + '…'}"


def _line(node: Node, view: str) -> str:
    """Number and title on one line, for a box; a result with its rank and its standard."""
    title = "" if node.title == node.label or not node.depth else node.title
    name = f"Annex {node.label}" if node.kind == "annex" else node.label
    text = escape.plain(f"{name}  {title}".rstrip())
    if view == "result":
        standard = without_edition(escape.plain(node.document))
        text = f"{f'{node.rank}.' if node.rank is not None else '–'}  {f'{standard} · ' if node.depth else ''}{text}"
        return text if len(text) <= 58 else text[:57] + "…"
    text = text if len(text) <= 40 else text[:39] + "…"
    return f"{text}  +{node.folded - 1}" if node.children and not node.opened else text


def _tooltip(node: Node) -> str:
    lines = [escape.plain(node.title), escape.plain(node.document) + (f", page {node.page}" if node.page else "")]
    if node.folded > 1:
        lines.append(f"{node.folded:,} units shown by it")
    if node.degree:
        lines.append(f"{node.degree:,} citations from and to it here")
    if node.role and node.role not in ("result",):
        lines.append(node.role)
    if node.kind == "foreign":
        lines = [escape.plain(node.label), "cited, but not loaded"]
    return "\n".join(lines)


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
