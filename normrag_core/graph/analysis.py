"""Tables about the citation graph: what is cited, what cites, what is never cited, what goes round and what leads nowhere."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, coo_matrix, csr_matrix

from normrag_core.graph.centrality import betweenness, pagerank
from normrag_core.graph.table import CitationTable
from normrag_core.model import Citation, Corpus, InfoUnit


@dataclass(frozen=True, slots=True)
class Cited:
    """A unit or document with its citation counts. sources: distinct citing units; documents: distinct citing documents."""

    id: str
    label: str
    title: str
    incoming: int
    sources: int
    documents: int
    outgoing: int


@dataclass(frozen=True, slots=True)
class BrokenReference:
    """A citation that leads nowhere, as an editor wants it: where, what is printed, what was meant, why it fails."""

    document: str
    clause: str
    page: int
    text: str
    sentence: str
    cited: str
    cited_clause: str
    state: str
    reason: str
    source: str


@dataclass(frozen=True, slots=True)
class MissingDocument:
    """A document that is cited but not loaded. citations: how often; citing: keys of the loaded documents that do."""

    id: str
    title: str
    citations: int
    citing: tuple[str, ...]


def cited_units(table: CitationTable) -> list[Cited]:
    """Units by citations received from other units, most cited first; units neither citing nor cited are left out."""
    corpus = table.corpus
    inner = (table.target >= 0) & (table.source != table.target)
    incoming = np.bincount(table.target[inner], minlength=len(corpus.units))
    outgoing = np.bincount(table.source, minlength=len(corpus.units))
    sources: dict[int, set[int]] = defaultdict(set)
    for s, t in zip(table.source[inner].tolist(), table.target[inner].tolist(), strict=True):
        sources[t].add(s)
    rows = []
    for i in np.flatnonzero((incoming > 0) | (outgoing > 0)).tolist():
        unit = corpus.units[i]
        rows.append(
            Cited(
                unit.id,
                f"{corpus.by_key[unit.document].label} {unit.code}".strip(),
                unit.title,
                int(incoming[i]),
                len(sources[i]),
                len({int(table.document[s]) for s in sources[i]}),
                int(outgoing[i]),
            )
        )
    return sorted(rows, key=lambda r: (-r.incoming, -r.sources, r.id))


def cited_documents(table: CitationTable) -> list[Cited]:
    """Loaded documents by citations received from other documents, most cited first."""
    corpus = table.corpus
    resolved = table.target >= 0
    pairs = Counter(
        zip(table.document[table.source[resolved]].tolist(), table.document[table.target[resolved]].tolist(), strict=True)
    )
    units = defaultdict(set)
    for s, t in zip(table.source[resolved].tolist(), table.target[resolved].tolist(), strict=True):
        if table.document[s] != table.document[t]:
            units[int(table.document[t])].add(s)
    rows = []
    for i, document in enumerate(corpus.documents):
        incoming = {s: n for (s, t), n in pairs.items() if t == i and s != i}
        outgoing = sum(n for (s, t), n in pairs.items() if s == i and t != i)
        rows.append(
            Cited(document.key, document.label, document.title, sum(incoming.values()), len(units[i]), len(incoming), outgoing)
        )
    return sorted(rows, key=lambda r: (-r.incoming, -r.outgoing, r.id))


def broken_references(corpus: Corpus) -> list[BrokenReference]:
    """Every citation that is not resolved, in reading order."""
    return [_broken(corpus, c) for c in corpus.citations if c.state != "resolved"]


def missing_documents(corpus: Corpus) -> list[MissingDocument]:
    """Documents cited but not loaded, most cited first: what to upload next. The title comes from a reference list."""
    count: Counter[str] = Counter()
    citing: dict[str, set[str]] = defaultdict(set)
    for citation in corpus.citations:
        if citation.state == "not-loaded" and citation.document:
            count[citation.document] += 1
            citing[citation.document].add(corpus.by_id[citation.source].document)
    title: dict[str, str] = {}
    for document in corpus.documents:
        for reference in document.references:
            if reference.document in count and reference.title:
                title.setdefault(reference.document, reference.title)
    rows = [MissingDocument(i, title.get(i, ""), n, tuple(sorted(citing[i]))) for i, n in count.items()]
    return sorted(rows, key=lambda r: (-r.citations, r.id))


def unreferenced(table: CitationTable) -> list[InfoUnit]:
    """Clauses and annexes that nothing cites, neither themselves nor through a clause above or below them.

    A citation of clause 5 counts for 5.1 (it is meant with it) and one of 5.1 for 5.
    """
    touched = np.zeros(len(table.parent), dtype=bool)
    touched[table.target[table.target >= 0]] = True
    quiet = ~(table.with_below(touched & (table.parent >= 0)) | table.with_above(touched))
    return [u for i, u in enumerate(table.corpus.units) if quiet[i] and u.kind in ("clause", "annex")]


def cycles(table: CitationTable, level: str = "document", limit: int = 100) -> list[tuple[str, ...]]:
    """Groups that cite each other in a circle, each as one shortest circle of ids (units) or keys (documents).

    level: "document" or "unit". One circle a strongly connected component, largest component first.
    """
    from scipy.sparse.csgraph import connected_components  # here: it brings all of scipy's linear algebra along

    inner = table.target >= 0
    source, target = table.source[inner], table.target[inner]
    names = [u.id for u in table.corpus.units]
    if level == "document":
        source, target = table.document[source], table.document[target]
        names = [d.key for d in table.corpus.documents]
    keep = source != target
    graph = coo_matrix((np.ones(keep.sum()), (source[keep], target[keep])), shape=(len(names),) * 2).tocsr()
    _, label = connected_components(graph, directed=True, connection="strong")
    groups = [np.flatnonzero(label == c) for c in np.flatnonzero(np.bincount(label, minlength=1) > 1)]
    groups.sort(key=lambda g: (-len(g), int(g[0])))
    return [tuple(names[i] for i in _shortest_circle(graph, g)) for g in groups[:limit]]


def centrality(table: CitationTable, measure: str, seed: int = 0) -> np.ndarray:
    """Importance of every unit in the citation graph, scaled to [0, 1]: (n_units,).

    measure: "in-degree", "pagerank" or "betweenness", see `normrag_core.graph.centrality`.
    """
    n = len(table.parent)
    inner = (table.target >= 0) & (table.source != table.target)
    source, target = table.source[inner], table.target[inner]
    links = coo_array((np.ones(len(source)), (source, target)), shape=(n, n)).tocsr()
    links.data[:] = 1.0
    if measure == "in-degree":
        score = np.bincount(target, minlength=n).astype(float)
    elif measure == "pagerank":
        score = pagerank(links)
    elif measure == "betweenness":
        score = betweenness(links, seed)
    else:
        raise ValueError(f"centrality: expected in-degree, pagerank or betweenness; found {measure!r}")
    return score / score.max() if n and score.max() > 0 else score


def reason(corpus: Corpus, citation: Citation) -> str:
    """Why a citation leads nowhere, in words; "" for one that is resolved."""
    if citation.state == "resolved":
        return ""
    cited = citation.document or "the cited document"
    if citation.state == "missing-clause":
        return f"{cited} has no clause {citation.code}"
    if citation.state == "version-mismatch":
        loaded = ", ".join(sorted(d.version for d in corpus.documents if d.id == citation.document))
        return f"cites {citation.edition or 'another edition'}; loaded: {loaded or 'no version'}"
    return f"{cited} is not loaded"


def _broken(corpus: Corpus, citation: Citation) -> BrokenReference:
    unit = corpus.by_id[citation.source]
    return BrokenReference(
        document=corpus.by_key[unit.document].label,
        clause=unit.code,
        page=citation.page,
        text=citation.text,
        sentence=citation.context,
        cited=citation.document,
        cited_clause=citation.code,
        state=citation.state,
        reason=reason(corpus, citation),
        source=citation.source,
    )


def _shortest_circle(graph: csr_matrix, group: np.ndarray) -> list[int]:
    """A shortest circle through the group's first member (breadth first search)."""
    inside, start = set(group.tolist()), int(group[0])
    came: dict[int, int] = {}
    queue = [start]
    for at in queue:
        for to in graph.indices[graph.indptr[at] : graph.indptr[at + 1]].tolist():
            if to == start:
                path = [at]
                while path[-1] != start:
                    path.append(came[path[-1]])
                return path[::-1]
            if to in inside and to not in came:
                came[to] = at
                queue.append(to)
    return [start]
