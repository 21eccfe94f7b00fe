"""The information model: plain frozen data that every stage reads and none changes.

A corpus is the property graph G = (IU, P ∪ C) of arXiv 2604.09868, section 3: InfoUnits, parthood (`InfoUnit.parent`)
and citations. All text positions are character offsets into `InfoUnit.body`: blocks, printed lines, citations and chunks share
this one coordinate system, so that any of them can be shown on its PDF page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

UnitKind = Literal["document", "clause", "annex", "heading"]
BlockKind = Literal[
    "paragraph", "list", "note", "example", "table", "caption", "figure", "code", "formula", "definition", "reference"
]
CitationState = Literal["resolved", "version-mismatch", "missing-clause", "not-loaded"]
TermKind = Literal["definition", "abbreviation", "symbol"]


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle on a physical page (from 1), in PDF points from the page's top left corner."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Line:
    """One printed line: `body[start:end]` of its unit stands in `rect`."""

    start: int
    end: int
    rect: Rect


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch `body[start:end]` of one kind. `rows` holds a table's cells; `level` a list item's depth from 0."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class InfoUnit:
    """A document, clause, annex or unnumbered heading, with its own text and none of its sub-units' text.

    id: unique in the corpus, `f"{document}#{key}"`. document: key of its Document. key: code, made unique within the
    document (`3.1~2`); "" for the root. code: the printed number. parent: the parent's key, "" at top level, None for
    the root. page: physical, from 1; y: points from the top of that page.
    """

    id: str
    document: str
    key: str
    code: str
    title: str
    kind: UnitKind
    parent: str | None
    page: int
    body: str = ""
    y: float = 0.0
    blocks: tuple[Block, ...] = ()
    lines: tuple[Line, ...] = ()
    informative: bool = False

    @property
    def heading(self) -> str:
        """The heading as a reader would write it: "6.2.1 Title", "Annex A Title", "Foreword"."""
        if self.kind == "annex":
            return f"Annex {self.code} {self.title}".strip()
        return self.title if self.code == self.title else f"{self.code} {self.title}".strip()


@dataclass(frozen=True, slots=True)
class Reference:
    """An entry of the references clause: bibliography, not a citation.

    label: as printed without brackets ("2", "i.3"). document: cited document's id ("EN 300 421"), "" where none was
    recognised. version: "V1.1.2" of a dated reference, or the edition/date as printed, None where undated.
    """

    label: str
    text: str
    document: str
    version: str | None
    title: str
    page: int
    informative: bool = False
    void: bool = False


@dataclass(frozen=True, slots=True)
class Citation:
    """A reference made in running text. `text` is as printed; `context` the sentence around it.

    source: id of the unit it stands in; `body[start:end]` of that unit is the citation. document: id of the cited
    document ("EN 300 421"; the own document's id for an internal citation). edition: the version a dated reference
    names. code: cited clause or annex ("7.1", "A"), "" for the document as a whole. target: id of the cited unit when
    the state is resolved, else None. form: name of the pattern that found it. evidence: how it was found.
    """

    source: str
    page: int
    start: int
    end: int
    text: str
    context: str
    document: str
    code: str
    edition: str | None = None
    target: str | None = None
    state: CitationState = "not-loaded"
    form: str = ""
    evidence: Literal["text", "link", "text+link"] = "text"
    label: str | None = None
    informative: bool = False
    rects: tuple[Rect, ...] = ()


@dataclass(frozen=True, slots=True)
class Term:
    """An entry of the definitions, symbols or abbreviations clause."""

    term: str
    text: str
    kind: TermKind
    unit: str
    page: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark of the parse report, with the page to look at. kind is a short stable slug, e.g. "page-without-text"."""

    kind: str
    page: int
    text: str
    severity: Literal["info", "warning", "error"] = "info"


@dataclass(frozen=True, slots=True)
class ParseReport:
    """What the reader of a document should know about how it was read."""

    counts: dict[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Document:
    """Identity of a standard. key: unique in the corpus, "EN 302 755 V1.4.1" (with ~2 where that is taken).

    id has no "ETSI " prefix. version: "V1.4.1" or the edition as printed. date: "2015-07". sha256: of the file's bytes.
    """

    key: str
    id: str
    version: str
    date: str
    title: str
    pages: int
    file: str
    sha256: str = ""
    references: tuple[Reference, ...] = ()
    terms: tuple[Term, ...] = ()
    report: ParseReport = ParseReport()
    page_sizes: tuple[tuple[float, float], ...] = ()

    @property
    def label(self) -> str:
        """Id and version, as shown to a reader."""
        return f"{self.id} {self.version}".strip()


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What ingest makes of one file. Citations of other documents are still "not-loaded": `Corpus` resolves them."""

    document: Document
    units: tuple[InfoUnit, ...]
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """`body[start:end]` of one unit."""

    unit: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is ranked. id: unique in its chunk list, stable over runs. unit: id of the unit that holds most of its text.

    kind: "window" (vanilla), "unit" (a whole unit), "head" (title of a split unit) or "part" (of a split unit).
    text: the chunk's own words (heading and body), the only text matched against a witness. context: what the rankers
    are told beside it (document id and title, title path); never part of `text`. spans: where the text stands.
    """

    id: str
    document: str
    unit: str
    kind: Literal["window", "unit", "head", "part"]
    text: str
    context: str = ""
    title: str = ""
    spans: tuple[Span, ...] = ()
    pages: tuple[int, ...] = ()


class Corpus:
    """A set of parsed documents with their citations resolved against each other.

    Immutable: adding or removing a document makes a new corpus. Iteration orders are those of the documents given.
    """

    def __init__(self, documents: tuple[Document, ...], units: tuple[InfoUnit, ...], citations: tuple[Citation, ...]) -> None:
        self.documents = documents
        self.units = units
        self.citations = citations
        self.by_key: dict[str, Document] = {d.key: d for d in documents}
        self.by_id: dict[str, InfoUnit] = {u.id: u for u in units}
        self._children: dict[str, list[InfoUnit]] = {}
        self._of_document: dict[str, list[InfoUnit]] = {d.key: [] for d in documents}
        for unit in units:
            self._of_document[unit.document].append(unit)
            if unit.parent is not None:
                self._children.setdefault(f"{unit.document}#{unit.parent}", []).append(unit)

    @classmethod
    def of(cls, parsed: Any) -> Corpus:
        """Corpus of ParsedDocuments (any iterable), citations between them resolved."""
        from normrag_core.resolution import resolve

        return resolve(tuple(parsed))

    @classmethod
    def from_json(cls, source: Any) -> Corpus:
        """Corpus from unit JSON in the `parse` form: a path, a folder, or decoded objects. See `normrag_core.codec`."""
        from normrag_core.codec import load_parsed

        return cls.of(load_parsed(source))

    @property
    def fingerprint(self) -> str:
        """Hash over what was loaded; part of the record of every evaluation run. Hexadecimal, 16 characters."""
        import hashlib

        digest = hashlib.sha256()
        for document in sorted(self.documents, key=lambda d: d.key):
            digest.update(f"{document.key}\0{document.sha256}\0".encode())
        return digest.hexdigest()[:16]

    def root(self, document: str) -> InfoUnit:
        """The unit that stands for the whole document."""
        return self.by_id[f"{document}#"]

    def parent(self, unit: InfoUnit) -> InfoUnit | None:
        """The unit one level up; None for a document's root."""
        return None if unit.parent is None else self.by_id[f"{unit.document}#{unit.parent}"]

    def children(self, unit: InfoUnit) -> list[InfoUnit]:
        """Sub-units in printed order."""
        return self._children.get(unit.id, [])

    def units_of(self, document: str) -> list[InfoUnit]:
        """All units of a document in printed order, the root first."""
        return self._of_document[document]

    def path(self, unit: InfoUnit) -> list[InfoUnit]:
        """From the document's root to the unit itself."""
        path: list[InfoUnit] = []
        at: InfoUnit | None = unit
        while at is not None:
            path.append(at)
            at = self.parent(at)
        return path[::-1]

    def __iter__(self) -> Iterator[InfoUnit]:
        return iter(self.units)

    def __len__(self) -> int:
        return len(self.units)
