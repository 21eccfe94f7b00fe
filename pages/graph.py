"""Graph: what cites what, which standards hang together, what is cited most, what is broken."""

from __future__ import annotations

import streamlit as st

from normrag_core.config import RELATIONS
from normrag_core.graph.table import STATES
from normrag_core.graph.views import View
from pages import _components as components
from pages import _escape as escape
from pages import _graph_matrix as matrix
from pages import _graph_state as kept
from pages import _graph_tables as tables
from pages import _network as network
from pages import _paint as paint
from pages import _state as state
from pages import _theme as theme

_HINT = {
    "documents": "Click selects a node; Shift-click, or o, opens it in place.",
    "hierarchy": "Click selects a clause and unfolds it, or folds it again.",
    "neighbourhood": "Click selects a node; Shift-click, or o, opens one with others in it.",
    "result": "Click selects a clause.",
}


def page() -> None:
    if not state.corpus().documents:
        st.html(
            '<div class="nr-empty"><b>No standards loaded</b>Add PDFs of standards, or the sample, on the Corpus page; '
            "then this page draws what cites what.</div>"
        )
        return
    kept.settle(components.history("graph"))
    network.library()
    with st.sidebar:
        _filters(kept.APPLIES[st.session_state.graph_view])
    kept.widget(
        "segmented_control",
        "View",
        "graph_view",
        list(kept.VIEWS),
        format_func=kept.VIEWS.__getitem__,
        required=True,
        label_visibility="collapsed",
    )
    _body(st.session_state.graph_view)


def _filters(on: set[str]) -> None:
    """The settings that say something in the view chosen."""
    if "documents" in on:
        corpus = state.corpus()
        kept.widget(
            "multiselect",
            "Standards",
            "graph_documents",
            [d.key for d in corpus.documents],
            format_func=lambda k: escape.plain(corpus.by_key[k].label),
            placeholder="All",
            help="Only these take part. Nothing chosen means all.",
        )
    if "text" in on:
        kept.widget(
            "text_input",
            "Number or title contains",
            "graph_text",
            placeholder="e.g. immunity",
            help="Keeps units whose number or title has all these words, with the units above them.",
        )
    if "states" in on:
        kept.widget(
            "pills",
            "Citations",
            "graph_states",
            STATES,
            selection_mode="multi",
            format_func=lambda s: theme.STATE[s].label,
            help="Resolved ones lead to a loaded clause; the other three lead nowhere, each for its own reason.",
        )
    if "force" in on:
        kept.widget(
            "segmented_control",
            "Force",
            "graph_force",
            ["all", "normative", "informative"],
            required=True,
            help="Informative: by an informative reference, or standing in an informative part, a note or an example.",
        )
    if "relations" in on:
        kept.widget(
            "pills",
            "Relations",
            "graph_relations",
            RELATIONS,
            selection_mode="multi",
            format_func=lambda r: theme.RELATION[r].label,
            help="Which steps are drawn and, around a clause, may be walked from it.",
        )
    if "hops" in on:
        kept.widget("slider", "Hops", "graph_hops", 1, 3, help="How many steps away from the clause.")
    if "degree" in on:
        kept.widget(
            "slider",
            "At least this many citations",
            "graph_degree",
            0,
            50,
            help="Hides what has fewer citations from and to it: standards in their picture, clauses in the others.",
        )
    if "colour" in on:
        kept.widget(
            "selectbox",
            "Colour",
            "graph_colour",
            list(paint.COLOUR_BY),
            format_func=paint.COLOUR_BY.__getitem__,
            help="What the colour of a node means; the legend under the picture explains it.",
        )
        kept.widget(
            "selectbox",
            "Size",
            "graph_size",
            list(paint.SIZE_BY),
            format_func=paint.SIZE_BY.__getitem__,
            help="The area of a node; in a tree, whose boxes are alike, the strength of the frame. PageRank: importance passed "
            "on along citations (damping 0.85). Betweenness: share of shortest citation paths that run through it, estimated "
            "from 64 sources in large corpora.",
        )
    else:
        st.caption(
            "In the matrix, colour is the number of citations that lead to a loaded clause; nodes have none, nor a size."
        )


@st.fragment
def _body(name: str) -> None:
    if st.session_state.graph_view != name:  # a click in the picture led to another view, which has other filters
        st.rerun()
    if name == "matrix":
        view = None
        matrix.section()
    else:
        _pickers(name)
        view = kept.drawn(name)
        if view is None:
            st.html(
                '<div class="nr-empty"><b>No question asked yet</b>Ask one on the Search page; this view then shows its '
                "results and how expansion travelled from them.</div>"
            )
            st.page_link("pages/search.py", label="Go to the Search page", icon=":material/search:")
        else:
            _picture(view)
    kept.sync_link()
    tables.section(view)


def _pickers(name: str) -> None:
    """Of which standard the tree is; around which clause."""
    if name not in ("hierarchy", "neighbourhood"):
        return
    corpus = state.corpus()
    left, right = st.columns([1, 1] if name == "hierarchy" else [1, 2])
    with left:
        kept.widget(
            "selectbox",
            "Standard",
            "graph_document",
            [d.key for d in corpus.documents],
            format_func=lambda k: escape.plain(f"{corpus.by_key[k].label} · {corpus.by_key[k].title}"),
            label_visibility="collapsed",
        )
    if name == "hierarchy":
        return
    ids = [u.id for u in corpus.units_of(st.session_state.graph_document)]
    unit = st.session_state.graph_unit
    st.session_state.w_graph_pick = unit if corpus.by_id[unit].document == st.session_state.graph_document else None

    def take() -> None:
        if st.session_state.w_graph_pick:
            kept.centre(st.session_state.w_graph_pick)

    with right:
        st.selectbox(
            "Clause",
            ids,
            index=None,
            key="w_graph_pick",
            format_func=lambda i: escape.plain(corpus.by_id[i].heading or corpus.by_key[corpus.by_id[i].document].title),
            placeholder="Type a number or a title",
            on_change=take,
            label_visibility="collapsed",
        )


def _picture(view: View) -> None:
    s = st.session_state
    left, right = st.columns([2, 1], vertical_alignment="center")
    left.html(f'<div class="nr-small" data-testid="graph-sentence">{escape.html(view.sentence)}</div>')
    if not view.nodes:
        st.html('<div class="nr-empty"><b>Nothing to draw</b>The filters leave nothing; loosen them in the sidebar.</div>')
        return
    with right:
        _finder(view)
    dark = st.context.theme.type == "dark"
    scores = kept.scores(view)
    worst = kept.table().worst([n.id for n in view.nodes])
    colour, legend = paint.colours(view, s.graph_colour, scores, worst, dark)
    radius = paint.radii(view, scores)
    shown = {n.id for n in view.nodes}

    unfolds = {n.id for n in view.nodes if n.children and view.name != "result"}

    def clicked(what: str, node: str) -> None:
        if what == "around":
            kept.go_around(node)
            return
        kept.choose(node)
        if node in unfolds and (what == "unfold" or (view.name == "hierarchy" and node.rpartition("#")[2])):
            kept.toggle(node)

    network.picture(
        {
            "nodes": paint.vis_nodes(view, colour, radius),
            "edges": paint.vis_edges(view, colour),
            **paint.shape(view),
            "view": _identity(view),
            "selected": _shown(s.graph_node, shown),
            "fly": _shown(s.graph_fly, shown),
            "label": view.sentence,
            "colours": {name: theme.colour(tone) for name, tone in (("text", "text"), ("soft", "soft"), ("back", "card"))},
        },
        clicked,
    )
    s.graph_fly = ""
    st.html(paint.legend_html(view, legend, colour, paint.SIZE_BY[s.graph_size]))
    _selected(view)
    s.graph_drawing = (view, colour, radius)


def _shown(node: str, shown: set[str]) -> str:
    """The node itself, or the shown one that it is folded into; "" for none."""
    corpus = state.corpus()
    if node in shown or node not in corpus.by_id:
        return node if node in shown else ""
    return next((u.id for u in reversed(corpus.path(corpus.by_id[node])) if u.id in shown), "")


def _finder(view: View) -> None:
    """Search a node and fly to it."""
    names = {n.id: f"{n.label} · {n.title}" for n in view.nodes}

    def fly() -> None:
        chosen = st.session_state.pop("w_graph_find", None)
        if chosen:
            st.session_state.graph_fly = chosen
            kept.choose(chosen)

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


def _selected(view: View) -> None:
    """What is known of the chosen node, and where to go from it."""
    corpus, s = state.corpus(), st.session_state
    node = next((n for n in view.nodes if n.id == s.graph_node), None)
    if node is not None and node.kind == "foreign":
        _hollow(view, node.id)
        return
    unit = corpus.by_id.get(s.graph_node)
    if unit is None:
        st.html(
            f'<div class="nr-tiny">{_HINT[view.name]} Double-click, or Enter, shows what is around it. The wheel, + and − '
            "zoom; dragging and the arrow keys move.</div>"
        )
        return
    table = kept.table()
    at = table.index[unit.id]
    cites, cited = int((table.source == at).sum()), int((table.target == at).sum())
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
        if view.name != "neighbourhood" or unit.id != _centre(view):
            st.button("What is around it", icon=":material/hub:", key="graph_around", on_click=kept.go_around, args=(unit.id,))
        if view.name != "result" and node is not None and node.children:
            words, icon = ("Fold", "unfold_less") if node.opened else ("Open in place", "unfold_more")
            st.button(words, icon=f":material/{icon}:", key="graph_toggle", on_click=kept.toggle, args=(unit.id,))
        if any(n.opened and n.depth for n in view.nodes) or (view.name == "documents" and any(n.opened for n in view.nodes)):
            st.button("Fold all", icon=":material/unfold_less:", key="graph_fold", on_click=_fold_all)


def _hollow(view: View, node: str) -> None:
    """Who cites something that is not there."""
    names = {n.id: n.label if n.depth == 0 else f"{n.document} {n.label}" for n in view.nodes}
    citing = sorted(((e.count, e.source) for e in view.edges if e.target == node), reverse=True)
    state_of = {e.state for e in view.edges if e.target == node}
    badges = "".join(theme.badge(theme.STATE[s].label) for s in sorted(state_of))
    st.html(
        f'<div class="nr-card" data-testid="graph-selected"><div class="nr-row"><b>{escape.html(node[1:])}</b>'
        f"{badges}{theme.badge(f'cited {sum(n for n, _ in citing):,} times here')}</div>"
        f'<div class="nr-small">by {escape.html(", ".join(f"{names.get(s, s)} ({n})" for n, s in citing[:12]))}. '
        "Broken references below has the sentences; Not loaded says what to add next.</div></div>"
    )


def _centre(view: View) -> str:
    return next((n.id for n in view.nodes if n.role == "centre"), "")


def _fold_all() -> None:
    st.session_state.graph_opened = ()


page()
components.keys(box="w_graph_find", cards=".nr-card")
