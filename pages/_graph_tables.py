"""The tables beside the graph picture: the same facts for those who cannot use a picture, the analysis, and the exports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from normrag_core.graph import analysis, export
from normrag_core.graph.table import CitationTable
from normrag_core.graph.views import View
from pages import _escape as escape
from pages import _graph_state as kept
from pages import _state as state
from pages import _theme as theme

SHOWN = {
    "picture": "Picture as table",
    "cited": "Most cited",
    "documents": "Cited standards",
    "broken": "Broken references",
    "missing": "Not loaded",
    "quiet": "Never cited",
    "cycles": "Circles",
    "export": "Export",
}


@st.fragment
def section(view: View | None) -> None:
    """One table at a time: only the chosen one is computed. A row that is chosen is selected in the picture."""
    if st.session_state.pop("graph_from_table", False):
        st.rerun()
    table = kept.table()
    st.session_state.setdefault("graph_tab", "picture")
    st.session_state.w_graph_tab = st.session_state.graph_tab

    def take() -> None:
        st.session_state.graph_tab = st.session_state.w_graph_tab

    st.segmented_control(
        "Tables",
        list(SHOWN),
        key="w_graph_tab",
        format_func=SHOWN.__getitem__,
        required=True,
        label_visibility="collapsed",
        on_change=take,
    )
    {
        "picture": lambda: _picture(view),
        "cited": lambda: _cited(table),
        "documents": lambda: _documents(table),
        "broken": lambda: _broken(table),
        "missing": lambda: _missing(table),
        "quiet": lambda: _quiet(table),
        "cycles": lambda: _cycles(table),
        "export": lambda: _export(table),
    }[st.session_state.graph_tab]()


def pair(table: CitationTable, document: str | None, citing: int | None, cited: int | None) -> None:
    """The citations behind one cell of the matrix."""
    if citing is None or cited is None:
        return
    corpus = table.corpus
    roots = [d.key for d in corpus.documents] if document is None else [u.id for u in corpus.children(corpus.root(document))]
    place = {d.key: i for i, d in enumerate(corpus.documents)} if document is None else {i: k for k, i in enumerate(roots)}

    def row(unit_id: str) -> int:
        unit = corpus.by_id[unit_id]
        if document is None:
            return place[unit.document]
        return next((place[u.id] for u in corpus.path(unit) if u.id in place), -1)

    hits = [c for c in corpus.citations if c.target and row(c.source) == citing and row(c.target) == cited]
    _frame(
        [(corpus.by_id[c.source].heading, c.page, c.text, c.context, corpus.by_id[c.target or ""].heading) for c in hits],
        ("from", "page", "text", "sentence", "to"),
        [c.source for c in hits],
        "graph_pair",
    )


def _picture(view: View | None) -> None:
    if view is None:
        st.caption("No nodes are drawn in this view. The other lists beside this one do not need any.")
        return
    names = {n.id: f"{n.document} {n.label}" if n.kind not in ("document", "foreign") else n.label for n in view.nodes}
    st.caption(f"{len(view.nodes):,} nodes")
    _frame(
        [(names[n.id], n.title, n.document, n.page or None, n.folded, n.degree, n.role, n.rank) for n in view.nodes],
        ("node", "title", "standard", "page", "units in it", "citations", "role", "rank"),
        [n.id for n in view.nodes],
        "graph_nodes",
    )
    st.caption(f"{len(view.edges):,} edges")
    _frame(
        [
            (
                names.get(e.source, e.source),
                theme.RELATION[e.relation].label,
                names.get(e.target, e.target),
                e.count,
                theme.STATE[e.state].label,
            )
            for e in view.edges
        ],
        ("from", "relation", "to", "citations", "state"),
        [e.source for e in view.edges],
        "graph_edges",
    )


def _cited(table: CitationTable) -> None:
    rows = analysis.cited_units(table)
    st.caption(f"{len(rows):,} units that cite or are cited; the most cited first. Citing units count a source once.")
    _frame(
        [(r.label, r.title, r.incoming, r.sources, r.documents, r.outgoing) for r in rows],
        ("unit", "title", "times cited", "citing units", "citing standards", "times citing"),
        [r.id for r in rows],
        "graph_cited",
    )


def _documents(table: CitationTable) -> None:
    rows = analysis.cited_documents(table)
    st.caption("Citations between loaded standards; those inside one standard are not counted.")
    _frame(
        [(r.label, r.title, r.incoming, r.sources, r.documents, r.outgoing) for r in rows],
        ("standard", "title", "times cited", "citing units", "citing standards", "times citing"),
        [f"{r.id}#" for r in rows],
        "graph_documents_table",
    )


def _broken(table: CitationTable) -> None:
    rows = analysis.broken_references(table.corpus)
    counts = {s: sum(r.state == s for r in rows) for s in ("missing-clause", "version-mismatch", "not-loaded")}
    st.html(
        '<div class="nr-row">'
        + "".join(
            f'{theme.dot(s)}<span class="nr-small">{theme.STATE[s].label}: <b>{n:,}</b></span>' for s, n in counts.items()
        )
        + "</div>"
    )
    chosen = st.segmented_control(
        "Reason",
        list(counts),
        default="missing-clause",
        format_func=lambda s: theme.STATE[s].label,
        key="graph_reason",
        help="No such clause: the cited standard is loaded and has no clause of that number — often a mistake of the standard "
        "itself. Other version: only another edition than the dated one is loaded.",
    )
    shown = [r for r in rows if chosen is None or r.state == chosen]
    head = ("standard", "clause", "page", "text", "sentence", "cited standard", "cited clause", "reason")
    values = [(r.document, r.clause, r.page, r.text, r.sentence, r.cited, r.cited_clause, r.reason) for r in shown]
    _frame(values, head, [r.source for r in shown], "graph_broken")
    _download("Broken reference report (CSV)", lambda: export.table_csv(head, values), "broken-references.csv", "text/csv")


def _missing(table: CitationTable) -> None:
    rows = analysis.missing_documents(table.corpus)
    st.caption(f"{len(rows):,} standards are cited but not loaded; the most cited first: what to add next.")
    _frame(
        [(r.id, r.title, r.citations, len(r.citing), ", ".join(r.citing)) for r in rows],
        ("standard", "title", "citations", "citing standards", "cited by"),
        [f"?{r.id}" for r in rows],
        "graph_missing",
    )


def _quiet(table: CitationTable) -> None:
    units = analysis.unreferenced(table)
    st.caption(f"{len(units):,} clauses and annexes that nothing cites, neither themselves nor a clause above or below them.")
    corpus = table.corpus
    _frame(
        [(corpus.by_key[u.document].label, u.code, u.title, u.page) for u in units],
        ("standard", "clause", "title", "page"),
        [u.id for u in units],
        "graph_quiet",
    )


def _cycles(table: CitationTable) -> None:
    level = st.segmented_control("Between", ["document", "unit"], default="document", key="graph_cycle_level", required=True)
    circles = analysis.cycles(table, level or "document")
    st.caption(f"{len(circles):,} groups that cite each other in a circle; one shortest circle of each.")
    corpus = table.corpus

    def name(i: str) -> str:
        if level == "document":
            return corpus.by_key[i].label
        return f"{corpus.by_key[corpus.by_id[i].document].label} {corpus.by_id[i].code}"

    _frame(
        [(len(c), " → ".join(name(i) for i in (*c, c[0]))) for c in circles],
        ("length", "circle"),
        [c[0] if level == "unit" else f"{c[0]}#" for c in circles],
        "graph_circles",
    )


def _export(table: CitationTable) -> None:
    corpus, graph = table.corpus, state.graph()
    st.caption("The whole graph of the loaded standards, and the picture as it is shown.")
    with st.container(horizontal=True):
        _download("GraphML", lambda: export.to_graphml(graph), "normrag.graphml", "application/xml")
        _download("GEXF", lambda: export.to_gexf(graph), "normrag.gexf", "application/xml")
        _download("JSON", lambda: export.to_json(graph), "normrag-graph.json", "application/json")
        _download("Citations with sentences (CSV)", lambda: export.citations_csv(corpus), "citations.csv", "text/csv")
        drawing = st.session_state.get("graph_drawing")
        if drawing is not None:
            view, colour, radius = drawing
            _download("Picture (SVG)", lambda: export.to_svg(view, colour, radius), "normrag-graph.svg", "image/svg+xml")
            _download(
                "Picture (stand-alone HTML)", lambda: export.to_html(view, colour, radius), "normrag-graph.html", "text/html"
            )
    st.html('<div class="nr-tiny">PNG: the button in the corner of the picture.</div>')


def _download(label: str, make: Callable[[], str | bytes], name: str, mime: str) -> None:
    """A download that is made only when it is clicked."""
    st.download_button(label, make, file_name=name, mime=mime, on_click="ignore", icon=":material/download:")


def _frame(rows: Sequence[Sequence[Any]], head: Sequence[str], ids: Sequence[str], key: str) -> None:
    """A sortable table; choosing a row selects its unit in the picture."""
    if not rows:
        st.html('<div class="nr-empty"><b>Nothing here</b></div>')
        return
    import pandas as pd  # here, for the picture need not wait for it

    frame = pd.DataFrame([[escape.plain(v) if isinstance(v, str) else v for v in row] for row in rows], columns=list(head))

    def chosen() -> None:
        rows = st.session_state[key].selection.rows
        if rows and rows[0] < len(ids) and (ids[rows[0]] in state.corpus().by_id or ids[rows[0]].startswith("?")):
            kept.choose(ids[rows[0]])
            st.session_state.graph_fly = ids[rows[0]]
            st.session_state.graph_from_table = True

    st.dataframe(frame, hide_index=True, key=key, width="stretch", on_select=chosen, selection_mode="single-row")
