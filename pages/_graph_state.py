"""What the Graph page remembers: its settings and their link, and the pictures and scores already computed for this corpus."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl
from weakref import WeakKeyDictionary

import numpy as np
import streamlit as st

from normrag_core.config import RELATIONS
from normrag_core.graph import analysis, views
from normrag_core.graph.table import STATES, CitationTable
from normrag_core.graph.views import Filters, View
from pages import _state as state
from pages._library import Loaded
from pages._view import to_query

VIEWS = {
    "documents": "Standards",
    "hierarchy": "Clause tree",
    "neighbourhood": "Around a clause",
    "result": "Result",
    "matrix": "Matrix",
}
# Which settings say something in which view; the others are not shown there.
APPLIES = {
    "documents": {"documents", "text", "states", "force", "degree", "colour", "size"},
    "hierarchy": {"text", "degree", "colour", "size"},
    "neighbourhood": {"documents", "text", "states", "force", "relations", "hops", "degree", "colour", "size"},
    "result": {"relations", "colour", "size"},
    "matrix": {"documents", "force"},
}
KEEP: dict[str, Any] = {
    "graph_view": "documents",
    "graph_node": "",  # the node chosen: a unit, something hollow, or nothing
    "graph_unit": "",  # the unit in the middle of "Around a clause"
    "graph_document": "",
    "graph_inside": "",
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
    "graph_link": {},  # the last one written or followed
    "graph_links": (),  # those before it
    "graph_hold": False,
    "graph_turn": 0,  # how often an address was followed
}
PICTURES = 48


@dataclass
class Made:
    """What was computed for one corpus: pictures by what they were asked with, the latest last; importance by measure."""

    pictures: OrderedDict[tuple[Any, ...], View] = field(default_factory=OrderedDict)
    scores: dict[str, np.ndarray] = field(default_factory=dict)


# Keyed by what is loaded, so that it goes with it and is never shown to somebody who has loaded something else.
_made: WeakKeyDictionary[Loaded, Made] = WeakKeyDictionary()


def table() -> CitationTable:
    """Index arrays of the loaded corpus."""
    return state.graph().table


def made() -> Made:
    return _made.setdefault(state.library().loaded, Made())


def picture(make: Callable[..., View], *asked: Any) -> View:
    """`make(table(), *asked)`, remembered: positions are computed once for what was asked."""
    pictures = made().pictures
    key = (make.__name__, *asked)
    view = pictures.pop(key, None) or make(table(), *asked)
    pictures[key] = view
    while len(pictures) > PICTURES:
        pictures.popitem(last=False)
    return view


def scores(view: View) -> dict[str, float]:
    """Node id → importance from 0 to 1, by the measure chosen."""
    measure = st.session_state.graph_size
    if measure == "folded":
        most = max((n.folded for n in view.nodes), default=1)
        return {n.id: n.folded / most for n in view.nodes}
    known = made().scores
    if measure not in known:
        known[measure] = analysis.centrality(table(), measure)
    return table().folded([n.id for n in view.nodes], known[measure])


def filters() -> Filters:
    """The filters that apply in the view chosen."""
    s = st.session_state
    on = APPLIES[s.graph_view]
    return Filters(
        documents=s.graph_documents if "documents" in on else (),
        states=(s.graph_states or STATES) if "states" in on else STATES,
        force=s.graph_force if "force" in on else "all",
        min_degree=s.graph_degree if "degree" in on else 0,
        text=s.graph_text.strip() if "text" in on else "",
        relations=(s.graph_relations or RELATIONS) if "relations" in on else RELATIONS,
    )


def settle(moved: str | None) -> None:
    """Sets what is not set, follows a link, and forgets what is no longer loaded. moved: see `_follow`."""
    corpus, s = state.corpus(), st.session_state
    for name, value in KEEP.items():
        s.setdefault(name, value)
    _follow(moved)
    if s.graph_unit not in corpus.by_id:
        s.graph_unit = ""
    if s.graph_document not in corpus.by_key:
        s.graph_document = corpus.documents[0].key
    if s.graph_inside not in corpus.by_key:
        s.graph_inside = ""
    s.graph_documents = tuple(k for k in s.graph_documents if k in corpus.by_key)
    if s.graph_view == "neighbourhood" and not s.graph_unit:  # something to start from: what is cited most
        cited = [r.id for r in analysis.cited_units(table()) if corpus.by_id[r.id].parent is not None]
        centre(cited[0] if cited else corpus.units[0].id)


def _follow(moved: str | None) -> None:
    """Takes the address's link where it is a new one, or where the browser's back or forward led to it (moved: "?view=...").

    A known link that is not the last one says one of two things: somebody went back, of which `moved` will tell in the next
    run, or a click was quicker than the address. In both cases the address is left alone for this run.
    """
    s = st.session_state
    query = dict(parse_qsl(moved.removeprefix("?"))) if moved is not None else dict(st.query_params)
    known = query in s.graph_links
    if moved is not None or (query and not known):
        take_link(query)
        s.graph_link = query
        s.graph_turn += 1
    s.graph_hold = known and moved is None and query != s.graph_link
    _remember(query)


def _remember(link: dict[str, str]) -> None:
    links = st.session_state.graph_links
    if link not in links:
        st.session_state.graph_links = (*links[-20:], link)


def take_link(query: Mapping[str, str]) -> None:
    """`?view=neighbourhood&unit=...&hops=2`, `?view=hierarchy&standard=...`; a unit alone means what is around it."""
    corpus, s = state.corpus(), st.session_state
    unit = query.get("unit", "")
    s.graph_node = ""
    if unit in corpus.by_id:
        centre(unit)
    asked = query.get("view", "neighbourhood" if unit in corpus.by_id else "documents")
    s.graph_view = asked if asked in VIEWS else "documents"
    if query.get("hops") in ("1", "2", "3"):
        s.graph_hops = int(query["hops"])
    if query.get("standard") in corpus.by_key:
        s.graph_document = query["standard"]


def sync_link() -> None:
    """Puts the view and the unit into the address."""
    s = st.session_state
    if s.graph_hold:
        s.graph_hold = False
        return
    link: dict[str, Any] = {"view": s.graph_view}
    if s.graph_view == "hierarchy":
        link["standard"] = s.graph_document
    if s.graph_view == "neighbourhood" and s.graph_hops > 1:
        link["hops"] = str(s.graph_hops)
    if s.graph_view == "result":
        link |= to_query(state.view())
    unit = s.graph_unit if s.graph_view == "neighbourhood" else s.graph_node
    if unit in state.corpus().by_id:
        link["unit"] = unit
    if link != {"view": "documents"} or st.query_params:
        wanted = {name: [v] if isinstance(v, str) else v for name, v in link.items()}
        if wanted != {name: st.query_params.get_all(name) for name in st.query_params}:
            st.query_params.from_dict(link)
            s.graph_link = dict(st.query_params)
            _remember(s.graph_link)


def choose(node: str) -> None:
    """Selects a node of a picture: a unit, which "Around a clause" then begins with, or something hollow."""
    if node in state.corpus().by_id and st.session_state.graph_view != "neighbourhood":
        centre(node)
    st.session_state.graph_node = node


def centre(unit: str) -> None:
    """Selects a unit and puts it into the middle of "Around a clause"."""
    s = st.session_state
    s.graph_node = s.graph_unit = unit
    s.graph_document = state.corpus().by_id[unit].document


def go_around(unit: str) -> None:
    """Shows what is around a unit."""
    if unit in state.corpus().by_id:
        centre(unit)
        st.session_state.graph_view = "neighbourhood"


def toggle(node: str) -> None:
    opened = st.session_state.graph_opened
    st.session_state.graph_opened = tuple(i for i in opened if i != node) if node in opened else (*opened, node)


def drawn(name: str) -> View | None:
    """The picture of a view; None where there is no question whose result could be drawn."""
    s = st.session_state
    if name == "documents":
        return picture(views.documents_view, filters(), s.graph_opened)
    if name == "hierarchy":
        return picture(views.hierarchy_view, s.graph_document, s.graph_opened, filters())
    if name == "neighbourhood":
        return picture(views.neighbourhood_view, s.graph_unit, s.graph_hops, filters(), s.graph_opened)
    trace = state.search()
    return None if trace is None else views.result_view(table(), trace, state.retriever().chunks(trace.config), filters())


def widget(kind: str, label: str, name: str, *args: object, **more: object) -> None:
    """A control over a value that survives page changes: its widget key is set from the value, its change written back.

    After an address was followed it is a new control: the browser's back reruns twice, and the second run still brings the old
    control's value, which would undo the first.
    """
    key = f"w_{name}_{st.session_state.graph_turn}"
    value = st.session_state[name]
    st.session_state[key] = list(value) if isinstance(value, tuple) else value

    def take() -> None:
        new = st.session_state[key]
        st.session_state[name] = tuple(new) if isinstance(new, list) else new

    getattr(st, kind)(label, *args, key=key, on_change=take, **more)
