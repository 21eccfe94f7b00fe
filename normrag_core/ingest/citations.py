"""Citations in running text: which document each printed place belongs to, and where it leads inside this one.

The pieces (`citation_patterns`) are bound to documents from the most specific form to the least: "clauses 5.1 and 6.2 of
EN 300 421 [2]", "EN 300 421 [2], clause 4", a bracket or a number alone, a bare "clause 7.1". The bracket wins over the
printed number. Whatever is tied to no document is internal.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from normrag_core.anchors import Anchors, caption_end, caption_name_end, starts_line
from normrag_core.identifiers import canonical, same_document
from normrag_core.ingest.citation_patterns import Item, Label, Number, Piece, Place, find_pieces
from normrag_core.ingest.layout import Page
from normrag_core.ingest.links import confirm
from normrag_core.ingest.places import Places, sentence_around, sentences
from normrag_core.ingest.references import reference_units
from normrag_core.model import Block, Citation, CitationState, Document, InfoUnit, Reference

# Units without citations: legal text, the document's history, and what stands before the first clause.
_NO_CITATIONS = re.compile(
    r"(?:intellectual property rights|essential patents|trademarks|modal verbs terminology|contents|list of (?:tables|figures)"
    r"|(?:document |change )?history|proceedings.*|(?:.*\b)?change (?:history|requests?))\b\s*(?:\(.*\))?\s*",
    re.I,
)
_QUOTED = r"(?:\s*(?:\([^()]{1,80}\)|[\"“][^\"“”]{1,100}[\"”]))?"
_STOP = (
    r"(?:as|is|are|was|be|shall|may|should|can|will|and|or|with|which|that|where|when|described|specified|defined|given|for|in|to|by|using"
    r"|of|see|from|on|at|if|then|than|its|this|these|present)"
)
_NAME = (
    r"(?:[A-Z][\w./&-]*|(?:the|main|core|base|original|corresponding|relevant|above|latest|current|international|european|standards?"
    r"|specifications?|documents?|recommendations?|reports?|guidelines?|guide|parts?|deliverable|implementation|technical|edition|version|IETF)|\d+)"
)
_FORWARD = re.compile(
    rf"{_QUOTED}(?:\s*|,?\s*(?:respectively,?\s+)?(?:(?:of|from)\s+(?:both\s+)?(?:(?!{_STOP}\b)[\w./&-]+\s+){{0,6}}|(?:in|within|to)\s+(?:{_NAME}\s+){{0,6}}"
    r"|(?:defined|given|specified|described|contained|found|provided)\s+in\s+(?:the\s+)?))"
)
_FORWARD_COMMA = re.compile(rf"{_QUOTED}\s*,\s*")
_BACKWARD = re.compile(
    r"\s*|\s*[,:]\s*(?:in\s+(?:particular\s+)?(?:the\s+)?)?|\s*\(\s*(?:in\s+)?|\s+in\s+(?:its\s+)?|\s*,?\s*(?:annex|part)\s+\w+,\s*"
)
_BACKWARD_SEE = re.compile(r"\s*[,(]\s*(?:see\s+(?:also\s+)?|e\.g\.,?\s+)(?:in\s+)?")
_CHAIN = re.compile(rf"{_QUOTED}\s*,?\s*(?:of|in|from|within)\s+(?:the\s+)?|{_QUOTED}\s*,\s*")
_AND = re.compile(rf"{_QUOTED}\s*,?\s*(?:and|or|and/or|as\s+well\s+as|to)\s+(?:in\s+|also\s+)?(?:the\s+)?")
_TELLS = re.compile(
    r"\s+(?:above\s+|below\s+|also\s+)?(?:shows?|gives?|lists?|describes?|specif(?:y|ies)|defines?|contains?|provides?|illustrates?|summari[sz]es?"
    r"|presents?|is|are|depicts?|details?|indicates?)\b"
)
_OWN = re.compile(
    rf"{_QUOTED}\s*(?:of|in|to)\s+(?:the\s+present|this)\s+(?:document|standard|specification|report|recommendation|deliverable|ets|etr|en|ts|tr)\b",
    re.I,
)
_DRAFTING = re.compile(rf"{_QUOTED}\s*of\s+the\s+(?:ETSI\s+)?Drafting\s+Rules", re.I)
_UNNAMED = re.compile(
    rf"{_QUOTED}\s*(?:of|in)\s+(?:the\s+|that\s+|that\s+same\s+)(?:(?!{_STOP}\b)[\w./&-]+\s+){{0,4}}"
    r"(?:standard|specification|recommendation|regulation|directive|guidelines)\b(?!\s+(?:of|defined|version))",
    re.I,
)
_INTERVAL = re.compile(r"(?:range|interval|within|between|∈)\s*$")
_MAX_LABEL_RANGE = 40
_MAX_CODE_RANGE = 30


@dataclass(frozen=True, slots=True)
class _Owner:
    """The foreign document a place belongs to. start, end: where it is printed. by: "of" it follows, "after" it precedes."""

    document: str
    edition: str | None
    label: str | None
    informative: bool
    start: int
    end: int
    piece: int
    by: str = ""


class _References:
    """What labels and numbers mean in one document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.by_label = {r.label: r for r in document.references}
        self._order = [r.label for r in document.references]
        self._by_id: dict[str, list[Reference]] = {}
        for reference in document.references:
            if reference.document:
                self._by_id.setdefault(canonical(reference.document), []).append(reference)

    def owner(self, piece: Number | Label, index: int) -> _Owner:
        """The document that a number or bracket names; the bracket first."""
        reference = self.by_label.get(piece.label) if piece.label else None
        printed, version = (piece.id, piece.version) if isinstance(piece, Number) else ("", None)
        if reference is None or not (reference.document or isinstance(piece, Label)):
            same = self._by_id.get(canonical(printed), []) if printed else []
            one = len(same) == 1 and reference is None and not same_document(printed, self.document.id)
            edition = version or (same[0].version if one else None)
            informative = bool(same and all(r.informative for r in same)) or bool(piece.label and piece.label.startswith("i."))
            return _Owner(printed, edition, piece.label, informative, piece.start, piece.end, index)
        edition = reference.version or (version if same_document(printed, reference.document) else None)
        return _Owner(reference.document, edition, reference.label, reference.informative, piece.start, piece.end, index)

    def is_own(self, owner: _Owner) -> bool:
        """Whether the owner is this very document in this version."""
        return same_document(owner.document, self.document.id) and owner.edition in (None, self.document.version)

    def between(self, first: str, last: str) -> list[str]:
        """Labels from first to last as the references clause lists them; the two alone where that makes no sense."""
        if first in self._order and last in self._order:
            a, b = self._order.index(first), self._order.index(last)
            if a < b <= a + _MAX_LABEL_RANGE:
                return self._order[a : b + 1]
        return [first, last]


def find_citations(document: Document, units: Sequence[InfoUnit], pages: Mapping[int, Page]) -> tuple[Citation, ...]:
    """Citations of all units in reading order. Internal ones are resolved, those of other documents are "not-loaded".

    document carries the references already. pages: by physical number, for their link annotations; may be empty.
    """
    anchors, references = Anchors(units), _References(document)
    listing = {u.id for u in reference_units(units)}
    named = frozenset(label for label in references.by_label if not label[0].isdigit() and not label.startswith("i."))
    found: list[Citation] = []
    for unit in units:
        if unit.kind == "document" or unit.id in listing or _NO_CITATIONS.fullmatch(unit.title):
            continue
        found.extend(_Finder(unit, anchors, references, named).citations())
    return confirm(tuple(found), units, anchors, pages)


class _Finder:
    """Citations of one unit."""

    def __init__(self, unit: InfoUnit, anchors: Anchors, references: _References, named: frozenset[str]) -> None:
        self.unit, self.anchors, self.references = unit, anchors, references
        self.text = unit.body
        self.places = Places(unit)
        self.sentences = sentences(unit.body)
        self.blocks = sorted(unit.blocks, key=lambda b: b.start)
        self._block_starts = [b.start for b in self.blocks]
        self.pieces: list[Piece] = [p for p in find_pieces(unit.body, named) if self._counts(p)]
        self.owners: dict[int, _Owner | None] = {}

    def citations(self) -> Iterator[Citation]:
        """In reading order."""
        self._bind()
        used = {o.piece for o in self.owners.values() if o is not None}
        for index, piece in enumerate(self.pieces):
            if isinstance(piece, Place):
                yield from self._of_place(piece, index, self.owners.get(index))
            elif index not in used:
                yield from self._of_document(piece, index)

    def _block(self, offset: int) -> Block | None:
        at = bisect_right(self._block_starts, offset) - 1
        return self.blocks[at] if at >= 0 and offset < self.blocks[at].end else None

    def _counts(self, piece: Piece) -> bool:
        """Whether a piece can be (part of) a citation where it stands."""
        block = self._block(piece.start)
        kind = block.kind if block else "paragraph"
        if kind == "reference":
            return False
        if isinstance(piece, Place) and piece.noun in ("table", "figure") and starts_line(self.unit, piece.start):
            # "Table 12: ..." names itself.
            text = self.text[piece.start : piece.start + 80]
            if caption_name_end(text) if kind == "caption" else caption_end(text):
                return False
        if isinstance(piece, Label):
            return self._is_label(piece, kind)
        if kind in ("code", "formula") and isinstance(piece, Place):
            return piece.noun in ("clause", "annex", "requirement")
        if isinstance(piece, Number):
            if canonical(piece.id) == "SR 000 314":
                return False
            if self.unit.title.lower() == "foreword":
                # The list of the parts of a series and the document's own number.
                return not canonical(piece.id).startswith(canonical(self.references.document.id).split("-")[0])
        if isinstance(piece, Place) and piece.noun == "requirement":
            return not (starts_line(self.unit, piece.start) and re.match(r"\s*(?::|\[|\t|\n|$)", self.text[piece.end :]))
        return True

    def _is_label(self, piece: Label, kind: str) -> bool:
        known = piece.label in self.references.by_label
        if piece.label.startswith("i."):
            return True
        if not known or kind in ("code", "formula"):
            return False
        before = self.text[: piece.start]
        if self.text[piece.start] != "[" and _INTERVAL.search(before.rpartition("[")[0]):
            return False  # "in the range [1, 2]"
        word = re.search(r"[\w)\]]+$", before)
        if word and not re.fullmatch(r"[A-Za-z]?[a-z]{5,}", word[0]):
            return False  # acm[7], x(n)[1], [7][6]
        return self.text[piece.end : piece.end + 1] not in ("[", "=")

    def _bind(self) -> None:
        for index in range(len(self.pieces) - 1, -1, -1):
            piece = self.pieces[index]
            if isinstance(piece, Place):
                self.owners[index] = self._forward(piece, index)
        for index, piece in enumerate(self.pieces):
            if isinstance(piece, Place) and self.owners[index] is None and not self._is_own(piece):
                self.owners[index] = self._backward(piece, index)

    def _forward(self, piece: Place, index: int) -> _Owner | None:
        if piece.foreign:
            return _Owner(piece.foreign, None, None, False, piece.start, piece.end, -1, "of")
        if self._is_own(piece) or index + 1 == len(self.pieces):
            return None
        following = self.pieces[index + 1]
        gap = self.text[piece.end : following.start]
        if len(gap) > 160 or "\n\n" in gap:
            return None
        if not isinstance(following, Place):
            if _FORWARD.fullmatch(gap) or (_FORWARD_COMMA.fullmatch(gap) and not self._exists(piece)):
                owner = self.references.owner(following, index + 1)
                return _by(owner, "of")
            return None
        chained = self.owners.get(index + 1)
        if chained is None or chained.by != "of":
            return None
        if _CHAIN.fullmatch(gap) and (re.search(r"\b(?:of|in|from|within)\s", gap) or not self._exists(piece)):
            return chained
        return chained if _AND.fullmatch(gap) and not self._exists(piece) else None

    def _backward(self, piece: Place, index: int) -> _Owner | None:
        if index == 0:
            return None
        before = self.pieces[index - 1]
        gap = self.text[before.end : piece.start]
        if isinstance(before, Place):
            owner = self.owners.get(index - 1)
            joined = _CHAIN.fullmatch(gap) or _AND.fullmatch(gap)
            return owner if owner and owner.by == "after" and joined and not self._exists(piece) else None
        taken = self.owners.get(index - 2) if index > 1 else None
        if taken and taken.piece == index - 1:
            return None if self._exists(piece) or not _BACKWARD.fullmatch(gap) else _by(taken, "after")
        plain = _BACKWARD.fullmatch(gap)
        if not plain and not (_BACKWARD_SEE.fullmatch(gap) and not self._exists(piece)):
            return None
        if plain and "," in gap and _TELLS.match(self.text, piece.end) and self._exists(piece):
            return None  # "According to [2], figure 3 shows ..."
        return _by(self.references.owner(before, index - 1), "after")

    def _is_own(self, piece: Place) -> bool:
        return bool(_OWN.match(self.text, piece.end))

    def _exists(self, piece: Place) -> bool:
        return self._goal(piece.items[0].code, piece.noun) is not None

    def _goal(self, code: str, noun: str) -> InfoUnit | None:
        found = self.anchors.find(code)
        if found is None and noun in ("table", "figure"):
            # "table 6.1.3.1" stands in 6.1.3, "table 4.4.1-1" in 4.4.1, "figure H.3" in annex H.
            number = re.sub(r"\([a-z]\)$", "", code.partition(" ")[2])
            owner = re.split(r"[.-](?=[^.-]+$)", number)[0]
            found = self.anchors.clause(owner) if owner != number else None
        return found

    def _of_document(self, piece: Number | Label, index: int) -> Iterator[Citation]:
        last = piece.last if isinstance(piece, Label) else ""
        labels = self.references.between(piece.label or "", last) if last else [piece.label]
        form = (
            "document"
            if isinstance(piece, Number) and piece.label is None
            else "label"
            if isinstance(piece, Label)
            else "document-label"
        )
        for label in labels:
            named = Label(piece.start, piece.end, label or "") if last else piece
            owner = self.references.owner(named, index)
            if self.references.is_own(owner):
                yield self._citation(piece.start, piece.end, piece.start, "", self.anchors.units[0], form, owner, own=True)
            else:
                yield self._citation(piece.start, piece.end, piece.start, "", None, form + ("-range" if last else ""), owner)

    def _of_place(self, piece: Place, index: int, owner: _Owner | None) -> Iterator[Citation]:
        if _DRAFTING.match(self.text, piece.end):
            return
        if owner and self.references.is_own(owner):
            owner = None
        elif owner is None and not self._is_own(piece) and _UNNAMED.match(self.text, piece.end):
            end = _UNNAMED.match(self.text, piece.end).end()  # type: ignore[union-attr]
            owner = _Owner("", None, None, False, piece.start, end, -1, "of")
        # A single number next to its document is printed as one: "clause 4.2 of EN 300 421 [2]".
        whole = bool(owner and owner.document and len(piece.items) == 1 and abs(owner.piece - index) == 1)
        for item in piece.items:
            if owner is None:
                yield from self._internal(piece, item)
            else:
                yield from self._foreign(piece, item, owner, whole)

    def _internal(self, piece: Place, item: Item) -> Iterator[Citation]:
        goal = self._goal(item.code, piece.noun)
        if goal is None and (piece.noun in ("equation", "requirement") or (piece.noun == "section")):
            return
        if (
            piece.noun == "section"
            and "." not in item.code
            and (
                piece.plural or not re.search(r"\b(?:in|see|of|to)\s+$", self.text[max(piece.start - 8, 0) : piece.start], re.I)
            )
        ):
            return  # a section of an MPEG table
        yield self._citation(item.start, item.end, item.at, goal.code if goal else item.code, goal, piece.noun)
        if not item.last:
            return
        for unit in self.anchors.between(item.code, item.last):
            yield self._citation(item.start, item.end, item.at, unit.code, unit, f"{piece.noun}-range")
        last = self._goal(item.last, piece.noun)
        yield self._citation(item.start, item.end, item.at, last.code if last else item.last, last, piece.noun)

    def _foreign(self, piece: Place, item: Item, owner: _Owner, joined: bool) -> Iterator[Citation]:
        start, end = item.start, item.end
        form = f"{piece.noun}-{owner.by}-document"
        if joined and not item.last:
            whole = min(start, owner.start), max(end, owner.end)
            if whole[1] - whole[0] <= 120 and self.places.page(whole[0]) == self.places.page(whole[1] - 1):
                start, end = whole
        yield self._citation(start, end, item.at, item.code, None, form, owner)
        if item.last:
            for code in _codes_between(item.code, item.last):
                yield self._citation(start, end, item.at, code, None, f"{form}-range", owner)
            yield self._citation(start, end, item.at, item.last, None, form, owner)

    def _citation(
        self,
        start: int,
        end: int,
        at: int,
        code: str,
        goal: InfoUnit | None,
        form: str,
        owner: _Owner | None = None,
        own: bool = False,
    ) -> Citation:
        block = self._block(start)
        page = self.places.page(start)
        if start < at < end and page != self.places.page(at):
            start, page = at, self.places.page(at)  # "clause" on one page, "C.1.1" on the next: the number is the place
        internal = owner is None or own
        state: CitationState = "not-loaded" if not internal else "resolved" if goal else "missing-clause"
        return Citation(
            source=self.unit.id,
            page=page,
            start=start,
            end=end,
            text=re.sub(r"\s+", " ", self.text[start:end]),
            context=sentence_around(self.text, self.sentences, start, end),
            document=self.references.document.id if internal else owner.document if owner else "",
            code=code,
            edition=None if internal or owner is None else owner.edition,
            target=goal.id if internal and goal else None,
            state=state,
            form=form,
            label=owner.label if owner else None,
            informative=bool(owner and owner.informative)
            or self.unit.informative
            or bool(block and block.kind in ("note", "example")),
            rects=self.places.rects(start, end),
        )


def _by(owner: _Owner, by: str) -> _Owner:
    return _Owner(owner.document, owner.edition, owner.label, owner.informative, owner.start, owner.end, owner.piece, by)


def _codes_between(first: str, last: str) -> list[str]:
    """Codes strictly between two of one level by counting: "5.1" to "5.4" → 5.2, 5.3; "A" to "D" → B, C."""
    top, _, a = first.rpartition(".")
    other, _, b = last.rpartition(".")
    if top != other:
        return []
    if a.isdigit() and b.isdigit() and 0 < int(b) - int(a) <= _MAX_CODE_RANGE:
        return [f"{top}.{n}" if top else str(n) for n in range(int(a) + 1, int(b))]
    if not top and len(a) == len(b) == 1 and a.isupper() and b.isupper():
        return [chr(n) for n in range(ord(a) + 1, ord(b))]
    return []
