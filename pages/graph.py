"""Graph: what cites what, which standards hang together, what is cited most, what is broken."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from normrag_core.config import RELATIONS
from normrag_core.graph import analysis, views
from normrag_core.graph.table import STATES, CitationTable
from normrag_core.graph.views import Filters, View
from pages import _components as components
from pages import _escape as escape
from pages import _graph_tables as tables
from pages import _network as network
from pages import _paint as paint
from pages import _state as state
from pages import _theme as theme

VIEWS = {
    "documents": "Standards",
    "hierarchy": "Clause tree",
    "neighbourhood": "Around a clause",
    "result": "Result",
    "matrix": "Matrix",
}
KEEP = {
    "graph_view": "documents",
    "graph_unit": "",
    "graph_document": "",
    "graph_opened": (),
    "graph_hops": 1,
    "graph_colour": "document",
    "graph_size": "in-degree",
    "graph_documents": (),
    "graph_states": STATES,
    "graph_force": "all",
    "graph_degree": 0,
    "graph_text": "",
    "graph_relations": RELATIONS,
    "graph_fly": "",
}


def page() -> None:
    for name, value in KEEP.items():
        st.session_state.setdefault(name, value)
    corpus = state.corpus()
    if not corpus.documents:
        st.html(
            '<div class="nr-empty"><b>No standards loaded</b>Add PDFs of standards, or the sample, on the Corpus page; '
            "then this page draws what cites what.</div>"
        )
        return
    _take_link()
    network.library()
    with st.sidebar:
        _filters()
    _body()


def _take_link() -> None:
    """A link may name the view and the unit; a unit that is gone is forgotten."""
    corpus = state.corpus()
    asked = st.query_params.get("unit", "")
    if asked in corpus.by_id and asked != st.session_state.graph_unit:
        st.session_state.graph_unit = asked
        st.session_state.graph_view = "neighbourhood"
    if st.session_state.graph_unit not in corpus.by_id:
        st.session_state.graph_unit = ""
    if st.session_state.graph_document not in corpus.by_key:
        st.session_state.graph_document = corpus.documents[0].key
    st.session_state.graph_documents = tuple(k for k in st.session_state.graph_documents if k in corpus.by_key)


def table() -> CitationTable:
    """Index arrays of the loaded corpus, made once per corpus and session."""
    corpus = state.corpus()
    kept = st.session_state.get("graph_table")
    if kept is None or kept.corpus is not corpus:
        kept = st.session_state.graph_table = CitationTable.of(corpus)
        st.session_state.graph_scores = {}
    return kept


def _filters() -> None:
    corpus = state.corpus()
    _widget(
        "multiselect",
        "Standards",
        "graph_documents",
        [d.key for d in corpus.documents],
        format_func=lambda k: escape.plain(corpus.by_key[k].label),
        placeholder="All",
        help="Only these take part. Nothing chosen means all.",
    )
    _widget(
        "text_input",
        "Number or title contains",
        "graph_text",
        placeholder="e.g. immunity",
        help="Keeps units whose number or title has all these words, with the units above them.",
    )
    _widget(
        "pills",
        "Citations",
        "graph_states",
        STATES,
        selection_mode="multi",
        format_func=lambda s: theme.STATE[s].label,
        help="Resolved ones lead to a loaded clause; the other three lead nowhere, each for its own reason.",
    )
    _widget(
        "segmented_control",
        "Force",
        "graph_force",
        ["all", "normative", "informative"],
        required=True,
        help="Informative: by an informative reference, or standing in an informative part, a note or an example.",
    )
    if st.session_state.graph_view == "neighbourhood":
        _widget(
            "pills",
            "Relations",
            "graph_relations",
            RELATIONS,
            selection_mode="multi",
            format_func=lambda r: theme.RELATION[r].label,
            help="Which steps may be walked from the clause.",
        )
        _widget("slider", "Hops", "graph_hops", 1, 3, help="How many steps away from the clause.")
    if st.session_state.graph_view == "documents":
        _widget(
            "slider", "At least this many citations", "graph_degree", 0, 50, help="Hides standards with fewer in this picture."
        )
    _widget(
        "selectbox",
        "Colour",
        "graph_colour",
        list(paint.COLOUR_BY),
        format_func=paint.COLOUR_BY.__getitem__,
        help="What the colour of a node means; the legend under the picture explains it.",
    )
    _widget(
        "selectbox",
        "Size",
        "graph_size",
        list(paint.SIZE_BY),
        format_func=paint.SIZE_BY.__getitem__,
        help="The area of a node. PageRank: importance passed on along citations (damping 0.85). Betweenness: share of "
        "shortest citation paths that run through it, estimated from 200 sources in large corpora.",
    )


def _widget(kind: str, label: str, name: str, *args: object, **more: object) -> None:
    """A control over a value that survives page changes: its widget key is set from the value, its change written back."""
    key = f"w_{name}"
    value = st.session_state[name]
    st.session_state[key] = list(value) if isinstance(value, tuple) else value

    def take() -> None:
        new = st.session_state[key]
        st.session_state[name] = tuple(new) if isinstance(new, list) else new

    getattr(st, kind)(label, *args, key=key, on_change=take, **more)


def _current_filters() -> Filters:
    s = st.session_state
    return Filters(
        documents=s.graph_documents,
        states=s.graph_states or STATES,
        force=s.graph_force,
        min_degree=s.graph_degree if s.graph_view == "documents" else 0,
        text=s.graph_text,
        relations=s.graph_relations or RELATIONS,
    )


@st.fragment
def _body() -> None:
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        _widget(
            "segmented_control",
            "View",
            "graph_view",
            list(VIEWS),
            format_func=VIEWS.__getitem__,
            required=True,
            label_visibility="collapsed",
        )
    view_name = st.session_state.graph_view
    if view_name == "matrix":
        _matrix()
        view = None
    else:
        view = _view(view_name)
        if view is not None:
            _picture(view, right)
    tables.section(table(), view)


def _view(name: str) -> View | None:
    corpus, s = state.corpus(), st.session_state
    if name == "documents":
        return views.documents_view(table(), _current_filters(), s.graph_opened)
    if name == "hierarchy":
        _widget(
            "selectbox",
            "Standard",
            "graph_document",
            [d.key for d in corpus.documents],
            format_func=lambda k: escape.plain(f"{corpus.by_key[k].label} · {corpus.by_key[k].title}"),
        )
        return views.hierarchy_view(table(), s.graph_document, s.graph_opened, _current_filters())
    if name == "neighbourhood":
        if not s.graph_unit:  # something to start from: what is cited most
            cited = [r.id for r in analysis.cited_units(table()) if corpus.by_id[r.id].parent is not None]
            s.graph_unit = cited[0] if cited else corpus.units[0].id
        _pick_unit()
        return views.neighbourhood_view(table(), s.graph_unit, s.graph_hops, _current_filters())
    trace = state.search()
    if trace is None:
        st.html(
            '<div class="nr-empty"><b>No question asked yet</b>Ask one on the Search page; this view then shows its results '
            "and how expansion travelled from them.</div>"
        )
        st.page_link("pages/search.py", label="Go to the Search page", icon=":material/search:")
        return None
    return views.result_view(table(), trace, state.retriever().chunks(trace.config))


def _pick_unit() -> None:
    corpus = state.corpus()
    left, right = st.columns([1, 3])
    chosen = corpus.by_id.get(st.session_state.graph_unit)
    if chosen is not None and st.session_state.get("graph_last_unit") != chosen.id:
        st.session_state.graph_document = chosen.document
    st.session_state.graph_last_unit = chosen.id if chosen else ""
    with left:
        _widget(
            "selectbox",
            "Standard",
            "graph_document",
            [d.key for d in corpus.documents],
            format_func=lambda k: escape.plain(corpus.by_key[k].label),
        )
    units = corpus.units_of(st.session_state.graph_document)
    ids = [u.id for u in units]
    st.session_state.w_graph_pick = st.session_state.graph_unit if st.session_state.graph_unit in set(ids) else None

    def take() -> None:
        if st.session_state.w_graph_pick:
            st.session_state.graph_unit = st.session_state.w_graph_pick

    with right:
        st.selectbox(
            "Clause",
            ids,
            index=None,
            key="w_graph_pick",
            format_func=lambda i: escape.plain(corpus.by_id[i].heading or corpus.by_key[corpus.by_id[i].document].title),
            placeholder="Type a number or a title",
            on_change=take,
        )


def _picture(view: View, corner: DeltaGenerator) -> None:
    s = st.session_state
    dark = st.context.theme.type == "dark"
    scores = _scores(view)
    colour, legend = paint.colours(view, s.graph_colour, scores, dark)
    radius = paint.radii(view, scores)
    back = theme.colour("card")
    st.html(f'<div class="nr-small" data-testid="graph-sentence">{escape.html(view.sentence)}</div>')
    if not view.nodes:
        st.html('<div class="nr-empty"><b>Nothing to draw</b>The filters leave nothing; loosen them in the sidebar.</div>')
        return
    with corner:
        _finder(view)
    clicked = network.picture(
        {
            "nodes": paint.vis_nodes(view, colour, radius, back),
            "edges": paint.vis_edges(view, colour),
            "view": _identity(view),
            "selected": s.graph_unit,
            "fly": s.graph_fly,
            "label": view.sentence,
            "colours": {"text": theme.colour("text"), "back": back},
        }
    )
    s.graph_fly = ""
    st.html(paint.legend_html(view, legend, colour, paint.SIZE_BY[s.graph_size]))
    if clicked is not None:
        _clicked(view, *clicked)
    _selected(view)
    s.graph_drawing = (view, colour, radius)


def _finder(view: View) -> None:
    """Search a node and fly to it."""
    names = {n.id: f"{n.label} · {n.title}" for n in view.nodes}

    def fly() -> None:
        chosen = st.session_state.pop("w_graph_find", None)
        if chosen:
            st.session_state.graph_fly = chosen
            if not chosen.startswith("?"):
                st.session_state.graph_unit = chosen

    st.selectbox(
        "Find in the picture",
        list(names),
        index=None,
        key="w_graph_find",
        format_func=lambda i: escape.plain(names.get(i, "")),
        placeholder="Find a node and fly to it",
        label_visibility="collapsed",
        on_change=fly,
    )


def _identity(view: View) -> str:
    """Changes when the picture should be fitted into the frame anew."""
    s = st.session_state
    detail = {"hierarchy": s.graph_document, "neighbourhood": f"{s.graph_unit} {s.graph_hops}", "result": state.view().question}
    return f"{view.name} {detail.get(view.name, '')}"


def _scores(view: View) -> dict[str, float]:
    """Node id → importance from 0 to 1."""
    measure = st.session_state.graph_size
    if measure == "folded":
        most = max((n.folded for n in view.nodes), default=1)
        return {n.id: n.folded / most for n in view.nodes}
    made = st.session_state.setdefault("graph_scores", {})
    if measure not in made:
        made[measure] = analysis.centrality(table(), measure)
    return table().folded([n.id for n in view.nodes], made[measure])


def _clicked(view: View, what: str, node: str) -> None:
    """One click selects; a double click opens the node in place, or its neighbourhood where it has nothing in it."""
    s = st.session_state
    if node.startswith("?") or node not in state.corpus().by_id:
        return
    s.graph_unit = node
    if what == "open":
        found = next((n for n in view.nodes if n.id == node), None)
        if view.name in ("documents", "hierarchy") and found is not None and found.children:
            _toggle(node)
        else:
            s.graph_view = "neighbourhood"
            s.graph_document = state.corpus().by_id[node].document
    st.rerun(scope="fragment")


def _toggle(node: str) -> None:
    opened = st.session_state.graph_opened
    st.session_state.graph_opened = tuple(i for i in opened if i != node) if node in opened else (*opened, node)


def _selected(view: View) -> None:
    """What is known of the chosen node, and where to go from it."""
    corpus, s = state.corpus(), st.session_state
    unit = corpus.by_id.get(s.graph_unit)
    if unit is None:
        st.html('<div class="nr-tiny">Click a node to select it; double-click to open it. Arrow keys move, + and − zoom.</div>')
        return
    at = table().index[unit.id]
    cites, cited = int((table().source == at).sum()), int((table().target == at).sum())
    document = corpus.by_key[unit.document]
    path = " › ".join(escape.html(u.heading) for u in corpus.path(unit)[1:]) or escape.html(document.title)
    start = escape.html(" ".join(unit.body.split())[:260])
    st.html(
        f'<div class="nr-card" data-testid="graph-selected"><div class="nr-row"><b>{escape.html(document.label)}</b>'
        f"{theme.badge(f'page {unit.page}')}{theme.badge(f'cites {cites}')}{theme.badge(f'cited by {cited}')}"
        f"{theme.badge('informative') if unit.informative else ''}</div>"
        f'<div class="nr-path">{path}</div><div class="nr-small">{start}{"…" if len(unit.body) > 260 else ""}</div></div>'
    )
    with st.container(horizontal=True, gap="small"):
        if state.page_exists("read") and st.button("Read", icon=":material/menu_book:", key="graph_read"):
            state.open_unit(unit.id)
        if view.name != "neighbourhood":
            st.button("What is around it", icon=":material/hub:", key="graph_around", on_click=_go_around)
        if view.name in ("documents", "hierarchy") and corpus.children(unit):
            words = "Fold" if unit.id in s.graph_opened else "Open in place"
            st.button(words, icon=":material/unfold_more:", key="graph_toggle", on_click=_toggle, args=(unit.id,))
        if s.graph_opened and view.name in ("documents", "hierarchy"):
            st.button("Fold all", icon=":material/unfold_less:", key="graph_fold", on_click=_fold_all)


def _go_around() -> None:
    st.session_state.graph_view = "neighbourhood"


def _fold_all() -> None:
    st.session_state.graph_opened = ()


def _matrix() -> None:
    """Who cites whom as a heat map; a click on a cell lists its citations."""
    corpus = state.corpus()
    inside = st.selectbox(
        "Between",
        [None, *[d.key for d in corpus.documents]],
        key="graph_matrix_of",
        format_func=lambda k: "all standards" if k is None else f"the clauses of {escape.plain(corpus.by_key[k].label)}",
    )
    labels, counts = views.matrix(table(), _current_filters(), inside)
    rows, columns = np.nonzero(counts)
    st.html(
        f'<div class="nr-small" data-testid="graph-sentence">Who cites whom: {int(counts.sum()):,} resolved citations in '
        f"{len(rows):,} of {len(labels) ** 2:,} cells. A row cites a column; the diagonal is inside one "
        f"{'standard' if inside is None else 'clause'}.</div>"
    )
    if not len(rows):
        st.html('<div class="nr-empty"><b>No citations here</b>None of the chosen ones leads to a loaded clause.</div>')
        return
    short = [escape.plain(label[:40]) for label in labels]
    cells = pd.DataFrame(
        {"citing": [short[i] for i in rows], "cited": [short[i] for i in columns], "citations": counts[rows, columns]}
    )
    size = max(14, min(34, 760 // max(1, len(labels))))
    pick = alt.selection_point(fields=["citing", "cited"], name="cell")
    chart = (
        alt.Chart(cells)
        .mark_rect(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X(
                "cited:N",
                sort=short,
                title="cited",
                axis=alt.Axis(orient="top", labelAngle=-60, labelLimit=160, labelOverlap=False),
            ),
            y=alt.Y("citing:N", sort=short, title="citing", axis=alt.Axis(labelLimit=220)),
            color=alt.Color("citations:Q", scale=alt.Scale(type="symlog", scheme="blues"), title="citations"),
            opacity=alt.condition(pick, alt.value(1), alt.value(0.35)),
            tooltip=["citing", "cited", "citations"],
        )
        .properties(width=alt.Step(size), height=alt.Step(size))
        .add_params(pick)
    )
    event = st.altair_chart(chart, key="graph_matrix", on_select="rerun", width="content")
    chosen = (event.selection or {}).get("cell") if event else None
    if chosen:
        where = {name: i for i, name in reversed(list(enumerate(short)))}
        tables.pair(table(), inside, where.get(chosen[0].get("citing", "")), where.get(chosen[0].get("cited", "")))


page()
components.keys(box="w_graph_find", cards=".nr-card")
