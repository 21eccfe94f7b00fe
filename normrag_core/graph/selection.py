"""Which units and citations take part in a picture of the graph, and how citations between shown units become edges."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from normrag_core.config import RELATIONS, Relation
from normrag_core.graph.picture import Edge
from normrag_core.graph.table import STATES, CitationTable

EDGES_DRAWN = 600  # more lines than these are a hairball: the strongest are drawn, and the matrix has them all


@dataclass(frozen=True, slots=True)
class Filters:
    """What takes part. Empty collections mean "all"; text must occur in a unit's number or title (or below it).

    min_degree: citations that a document must have in the picture, or a clause (or one below it) altogether.
    """

    documents: Collection[str] = ()
    states: Collection[str] = STATES
    force: str = "all"
    min_degree: int = 0
    text: str = ""
    relations: Collection[Relation] = field(default=RELATIONS)


ALL = Filters()


def chosen(table: CitationTable, filters: Filters) -> np.ndarray:
    """(n_units,) bool: units of the documents chosen that have the text, with those above them."""
    units = table.corpus.units
    out = np.ones(len(units), dtype=bool)
    if filters.documents:
        keys = set(filters.documents)
        out = np.array([d.key in keys for d in table.corpus.documents], dtype=bool)[table.document]
    if filters.text:
        words = filters.text.lower().split()
        texts = (f"{u.code} {u.title}".lower() for u in units)
        out &= table.with_above(np.array([all(w in text for w in words) for text in texts], dtype=bool))
    return out


def kept(table: CitationTable, filters: Filters, units: np.ndarray) -> np.ndarray:
    """(n_citations,) bool: citations of the state and force chosen, from one of these units, to one of them or nowhere."""
    keep = units[table.source] & np.isin(table.state, [STATES.index(s) for s in filters.states])
    keep &= np.append(units, True)[table.target]
    if filters.force == "normative":
        keep &= ~table.informative
    elif filters.force == "informative":
        keep &= table.informative
    return keep


def busy(table: CitationTable, keep: np.ndarray, least: int) -> np.ndarray:
    """(n_units,) bool: units with at least this many of the kept citations from or to them, and all units above those."""
    if least <= 0:
        return np.ones(len(table.parent), dtype=bool)
    target = table.target[keep]
    ends = np.concatenate([table.source[keep], target[target >= 0]])
    return table.with_above(np.bincount(ends, minlength=len(table.parent)) >= least)


def cite_edges(table: CitationTable, source: np.ndarray, target: np.ndarray, state: np.ndarray) -> list[Edge]:
    """One edge a pair of distinct shown units, with the number of citations and the worst state among them.

    source, target: (m,) unit indices, -1 for not shown. state: (m,) index into STATES.
    """
    keep = (source >= 0) & (target >= 0) & (source != target)
    if not keep.any():
        return []
    n = len(table.parent)
    pairs, place = np.unique(source[keep] * n + target[keep], return_inverse=True)
    counts = np.bincount(place)
    worst = np.zeros(len(pairs), dtype=np.int64)
    np.maximum.at(worst, place, state[keep])
    units = table.corpus.units
    return [
        Edge(units[p // n].id, units[p % n].id, "cites", c, STATES[w])
        for p, c, w in zip(pairs.tolist(), counts.tolist(), worst.tolist(), strict=True)
    ]


def strongest(edges: list[Edge], centre: str = "") -> tuple[list[Edge], str]:
    """(edges to draw, words about the rest): the hierarchy, all at the centre, and of the other citations the most numerous."""
    cites = [e for e in edges if e.relation == "cites" and centre not in (e.source, e.target)]
    if len(cites) <= EDGES_DRAWN:
        return edges, ""
    drawn = set(sorted(cites, key=lambda e: (-e.count, e.source, e.target))[:EDGES_DRAWN])
    others = set(cites) - drawn
    return (
        [e for e in edges if e not in others],
        f" Lines: the {EDGES_DRAWN} strongest of {len(cites):,}; the matrix has them all.",
    )
