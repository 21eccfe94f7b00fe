"""What a picture is made of: nodes and edges with places, and a sentence about them."""

from __future__ import annotations

from dataclasses import dataclass

from normrag_core.graph.table import CitationTable


@dataclass(frozen=True, slots=True)
class Node:
    """A unit (id: unit id), or what is cited and not there (kind "foreign", id: "?" and how it is called).

    document: label of the document it belongs to. depth: 0 for a document. folded: units shown through this node, itself
    included. children: whether it can be opened. degree: citations to and from it in this view. x, y: pixels.
    """

    id: str
    label: str
    title: str
    document: str
    kind: str
    depth: int
    page: int = 0
    folded: int = 1
    children: bool = False
    opened: bool = False
    informative: bool = False
    degree: int = 0
    rank: int | None = None
    role: str = ""
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class Edge:
    """relation: "parent" (from the parent to the child), "sibling" or "cites". count: citations it stands for. state: worst."""

    source: str
    target: str
    relation: str
    count: int = 1
    state: str = "resolved"


@dataclass(frozen=True, slots=True)
class View:
    """One picture. shown, total: what the sentence counts."""

    name: str
    sentence: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    shown: int
    total: int


def unit_node(table: CitationTable, i: int, folded: int = 1, opened: bool = False, role: str = "") -> Node:
    """The node of unit number i, without a place."""
    unit = table.corpus.units[i]
    document = table.corpus.by_key[unit.document]
    root = unit.parent is None
    return Node(
        id=unit.id,
        label=document.label if root else (unit.code or unit.title),
        title=document.title if root else unit.title,
        document=document.label,
        kind=unit.kind,
        depth=int(table.depth[i]),
        page=unit.page,
        folded=folded,
        children=bool(table.corpus.children(unit)),
        opened=opened,
        informative=unit.informative,
        role=role,
    )


def foreign_node(name: str, title: str = "not loaded", role: str = "") -> Node:
    """A hollow node for what is cited and not there."""
    return Node(f"?{name}", name, title, name, "foreign", 0, role=role)


def counted(n: int, noun: str) -> str:
    """ "1 unit", "2 units"."""
    return f"{n:,} {noun}" + ("" if n == 1 else "s")
