"""The graph as files: GraphML, GEXF and JSON of units and citations, CSV of citations, SVG and stand-alone HTML of a view."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from normrag_core.model import Corpus

if TYPE_CHECKING:
    from normrag_core.graph import Graph
    from normrag_core.graph.views import View

# A cell that starts like a formula would be run by a spreadsheet (OWASP, "CSV injection").
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
# Control characters, and those that turn the direction of the text after them.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


_NODE = {
    "label": "string",
    "document": "string",
    "code": "string",
    "title": "string",
    "kind": "string",
    "page": "int",
    "informative": "boolean",
}
_EDGE = {"kind": "string", "text": "string", "page": "int", "state": "string"}


def to_graphml(graph: Graph) -> bytes:
    """GraphML 1.0 (graphml.graphdrawing.org), UTF-8; written line by line, for a library takes ten times as long."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    for scope, types in (("node", _NODE), ("edge", _EDGE)):
        lines += [f'<key id="{scope[0]}_{n}" for="{scope}" attr.name="{n}" attr.type="{t}"/>' for n, t in types.items()]
    lines.append('<graph edgedefault="directed">')
    for name, attributes in graph.nodes():
        data = "".join(f'<data key="n_{k}">{_xml(v)}</data>' for k, v in attributes.items())
        lines.append(f'<node id="{_xml(name)}">{data}</node>')
    for number, (source, target, attributes) in enumerate(graph.edges()):
        data = "".join(f'<data key="e_{k}">{_xml(v)}</data>' for k, v in attributes.items())
        lines.append(f'<edge id="{number}" source="{_xml(source)}" target="{_xml(target)}">{data}</edge>')
    return "\n".join([*lines, "</graph>", "</graphml>"]).encode()


def to_gexf(graph: Graph) -> bytes:
    """GEXF 1.2 (gexf.net), UTF-8."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>', '<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">']
    lines.append('<graph defaultedgetype="directed" mode="static">')
    for scope, types in (("node", _NODE), ("edge", _EDGE)):
        kinds = (f'<attribute id="{n}" title="{n}" type="{"integer" if t == "int" else t}"/>' for n, t in types.items())
        lines.append(f'<attributes class="{scope}" mode="static">{"".join(kinds)}</attributes>')
    lines.append("<nodes>")
    for name, attributes in graph.nodes():
        lines.append(f'<node id="{_xml(name)}" label="{_xml(attributes["label"])}">{_attvalues(attributes)}</node>')
    lines += ["</nodes>", "<edges>"]
    for number, (source, target, attributes) in enumerate(graph.edges()):
        ends = f'source="{_xml(source)}" target="{_xml(target)}"'
        lines.append(f'<edge id="{number}" {ends}>{_attvalues(attributes)}</edge>')
    return "\n".join([*lines, "</edges>", "</graph>", "</gexf>"]).encode()


def to_json(graph: Graph) -> str:
    """Node-link JSON, as networkx.node_link_graph(data, edges="links") reads it."""
    nodes = [{"id": name} | attributes for name, attributes in graph.nodes()]
    links = [{"source": s, "target": t, "key": k} | attributes for k, (s, t, attributes) in enumerate(graph.edges())]
    head = {"directed": True, "multigraph": True, "graph": {"fingerprint": graph.corpus.fingerprint}}
    return json.dumps(head | {"nodes": nodes, "links": links}, ensure_ascii=False)


def _attvalues(attributes: Mapping[str, Any]) -> str:
    values = "".join(f'<attvalue for="{k}" value="{_xml(v)}"/>' for k, v in attributes.items())
    return f"<attvalues>{values}</attvalues>"


def _xml(value: Any) -> str:
    """A value as XML text or inside a quoted attribute, without the characters that XML refuses."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return escape(_clean(value)) if isinstance(value, str) else str(value)


def citations_csv(corpus: Corpus) -> str:
    """One row a citation with its sentence. Cells that a spreadsheet would run as a formula get a leading apostrophe."""
    head = ("document", "clause", "page", "text", "sentence", "cited document", "cited clause", "edition", "state", "form")
    rows = (
        (
            corpus.by_key[corpus.by_id[c.source].document].label,
            corpus.by_id[c.source].code,
            c.page,
            c.text,
            c.context,
            c.document,
            c.code,
            c.edition or "",
            c.state,
            c.form,
        )
        for c in corpus.citations
    )
    return table_csv(head, rows)


def table_csv(head: Any, rows: Any) -> str:
    """CSV text of any table, safe to open in a spreadsheet."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(head)
    writer.writerows([safe_cell(v) for v in row] for row in rows)
    return buffer.getvalue()


def safe_cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; numbers stay numbers."""
    if not isinstance(value, str):
        return value
    value = _CONTROL.sub("", value)
    return "'" + value if value.startswith(_FORMULA) else value


def to_svg(view: View, colours: Mapping[str, str], radius: Mapping[str, float]) -> str:
    """The view as a drawing. colours: node id or edge relation → CSS colour; radius: node id → pixels."""
    at = {n.id: (n.x, n.y) for n in view.nodes}
    pad = 120.0
    xs, ys = [x for x, _ in at.values()] or [0.0], [y for _, y in at.values()] or [0.0]
    box = (min(xs) - pad, min(ys) - pad, max(xs) - min(xs) + 2 * pad, max(ys) - min(ys) + 2 * pad)
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="{:.0f} {:.0f} {:.0f} {:.0f}" font-family="sans-serif">'.format(*box),
        f"<title>{escape(_clean(view.sentence))}</title>",
    ]
    for edge in view.edges:
        (x1, y1), (x2, y2) = at[edge.source], at[edge.target]
        width = 1 + min(6.0, edge.count**0.5 / 2)
        dash = ' stroke-dasharray="6 4"' if edge.state != "resolved" else ""
        lines.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colours.get(edge.relation, "#888")}" '
            f'stroke-width="{width:.1f}" stroke-opacity="0.6"{dash}/>'
        )
    for node in view.nodes:
        colour, r = colours.get(node.id, "#666"), radius.get(node.id, 8.0)
        label = escape(_clean(node.label))
        fill = "none" if node.kind == "foreign" else colour
        lines.append(
            f'<circle cx="{node.x:.1f}" cy="{node.y:.1f}" r="{r:.1f}" fill="{fill}" stroke="{colour}" stroke-width="2">'
            f"<title>{escape(_clean(node.title))}</title></circle>"
            f'<text x="{node.x:.1f}" y="{node.y + r + 12:.1f}" font-size="11" text-anchor="middle">{label}</text>'
        )
    return "\n".join([*lines, "</svg>"])


def to_html(view: View, colours: Mapping[str, str], radius: Mapping[str, float]) -> str:
    """A page that shows the view without any network, by pyvis with its scripts in line.

    pyvis leaves links to CDNs in the page even with `cdn_resources="in_line"` (its issues 159, 228, 229); they are cut out.
    And it shows all titles as HTML as soon as one of them has "href" in it: a word joiner stands inside that word.
    """
    from pyvis.network import Network

    network = Network(height="100vh", width="100%", directed=True, cdn_resources="in_line", heading="")
    network.toggle_physics(False)
    for node in view.nodes:
        colour = colours.get(node.id, "#666")
        network.add_node(
            node.id,
            label=_clean(node.label),
            title=_clean(f"{node.document} · {node.title} · page {node.page}").replace("href", "hre\u2060f"),
            x=node.x,
            y=node.y,
            size=radius.get(node.id, 8.0),
            color={"background": "#ffffff" if node.kind == "foreign" else colour, "border": colour},
            physics=False,
            shape="dot",
        )
    for edge in view.edges:
        network.add_edge(
            edge.source,
            edge.target,
            title=f"{edge.relation}, {edge.count}",
            width=1 + min(6.0, edge.count**0.5 / 2),
            color=colours.get(edge.relation, "#888"),
            dashes=edge.state != "resolved",
        )
    page = network.generate_html(notebook=False)
    page = re.sub(r"<link\b[^>]*\bhref=\"(?:https?:)?//[^>]*>", "", page)
    page = re.sub(r"<script\b[^>]*\bsrc=\"(?:https?:)?//[^>]*>\s*</script>", "", page)
    policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
    guard = f'<meta http-equiv="Content-Security-Policy" content="{policy}"><title>{escape(_clean(view.name))}</title>'
    note = f"<p style='font:14px sans-serif;margin:8px'>{escape(_clean(view.sentence))}</p>"
    return page.replace("<head>", f"<head>{guard}", 1).replace("<body>", f"<body>{note}", 1)


def _clean(text: str) -> str:
    return _CONTROL.sub("", text)
