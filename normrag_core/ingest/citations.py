"""Citations in running text, each with its exact place; those inside the document lead to their unit at once.

`citation_patterns` reads the printed pieces, `citation_owners` ties them to documents; here the pieces that cite nothing are
left out (captions, array indices, the document's history) and the rest become citations.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from normrag_core.anchors import Anchors, caption_end, caption_name_end, code_for, starts_line
from normrag_core.identifiers import canonical
from normrag_core.ingest.citation_owners import Binder, Owner, References
from normrag_core.ingest.citation_patterns import Item, Label, Number, Piece, Place, find_pieces
from normrag_core.ingest.columns import Columns
from normrag_core.ingest.layout import Page
from normrag_core.ingest.links import confirm
from normrag_core.ingest.places import Places, sentence_around, sentences
from normrag_core.ingest.references import reference_units
from normrag_core.model import Block, Citation, CitationState, Document, InfoUnit

# Units without citations: legal text, and the document's history.
_NO_CITATIONS = re.compile(
    r"(?:intellectual property rights|essential patents|trademarks|modal verbs terminology|contents|list of (?:tables|figures)"
    r"|(?:document |change )?history|(?:.*\b)?change (?:history|requests?))\b\s*(?:\(.*\))?\s*",
    re.I,
)
_DRAFTING = re.compile(r"\s*of\s+the\s+(?:ETSI\s+)?Drafting\s+Rules", re.I)
_INTERVAL = re.compile(r"(?:range|interval|within|between|∈)\s*$")
_INDEXED = re.compile(r"\b(?:bits?|bytes?|octets?|array|index|vector|register|element)\s?$", re.I)
_LABELS_BEFORE = re.compile(r"(?:^|[\s(,;])(?:\[(?:i\.)?\d{1,3}\])+$")
_LEADS = re.compile(r"\b(?:in|see|of|to|by|from|and|or|with|the|per|under)\s+$", re.I)
# What must stand before a "section 5" of this document, as sections of MPEG tables and parts of signals have the same names.
_SENDS = re.compile(r"\b(?:see(?:\s+also)?|(?:described|defined|specified|given|explained|discussed)\s+in)\s+$", re.I)
_OF_ANOTHER = re.compile(r"\s+of\b(?!\s+(?:this|the\s+present)\s+(?:document|standard|specification|report)\b)")
_LETTERED = re.compile(r"(?:(?:table|figure) )?([A-Z])(?![A-Za-z])")
_COUNTED = re.compile(r"(.*?)(\d+|[A-Z]|(?<=\d)[a-z]|)")  # Its end is what is counted.
_MAX_RANGE = 30


def find_citations(document: Document, units: Sequence[InfoUnit], pages: Mapping[int, Page]) -> tuple[Citation, ...]:
    """Citations of all units in reading order. Internal ones are resolved, those of other documents are "not-loaded".

    document carries the references already. pages: by physical number, for their link annotations; may be empty.
    """
    anchors, references = Anchors(units), References(document)
    listing = {u.id for u in reference_units(units)}
    citing = [u for u in units if u.kind != "document" and u.id not in listing and not _NO_CITATIONS.fullmatch(u.title)]
    found = _ascribed(tuple(c for unit in citing for c in _Finder(unit, anchors, references).citations()), anchors)
    return confirm(found, citing, anchors, document.id, pages)


def _ascribed(found: tuple[Citation, ...], anchors: Anchors) -> tuple[Citation, ...]:
    """The citations, those of an annex that this document lacks given to the one document whose annex it is elsewhere.

    "The buffer model from annex C" in a document without annexes that else writes "annex C of EN 300 421 [2]". Numbers of
    clauses are left alone: what they miss is mostly a clause of this document that was renumbered.
    """
    printed: dict[str, dict[tuple[str, str | None], Citation]] = {}
    for citation in found:
        if citation.document and citation.form.endswith(("-of-document", "-after-document")):
            printed.setdefault(citation.code, {}).setdefault((citation.document, citation.edition), citation)

    def given(citation: Citation) -> Citation:
        annex = _LETTERED.match(citation.code)
        owners = list(printed.get(citation.code, {}).values())
        if citation.state != "missing-clause" or not annex or anchors.clause(annex[1]) or len(owners) != 1:
            return citation
        owner = owners[0]
        return replace(
            citation,
            document=owner.document,
            edition=owner.edition,
            label=owner.label,
            state="not-loaded",
            form=f"{citation.form}-near-document",
            informative=citation.informative or bool(owner.label and owner.label.startswith("i.")),
        )

    return tuple(map(given, found))


class _Finder:
    """Citations of one unit."""

    def __init__(self, unit: InfoUnit, anchors: Anchors, references: References) -> None:
        self.unit, self.anchors, self.references = unit, anchors, references
        self.text = unit.body
        self.places = Places(unit)
        self.sentences = sentences(unit.body)
        self.blocks = sorted(unit.blocks, key=lambda b: b.start)
        self._block_starts = [b.start for b in self.blocks]

    def citations(self) -> Iterator[Citation]:
        """In reading order."""
        columns = Columns(self.text, self.blocks)
        found = find_pieces(self.text, self.references.named, tuple(columns.numbers()))
        pieces = [p for p in found if self._counts(p)]
        owners = Binder(self.text, pieces, self.references, self.anchors, self.sentences, columns).owners()
        # A document that is told together with a clause of it is no citation of its own.
        told = {o.piece for o in owners.values() if o is not None and o.by in ("of", "after")}
        for index, piece in enumerate(pieces):
            if isinstance(piece, Place):
                yield from self._of_place(piece, index, owners.get(index))
            elif index not in told:
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
        if isinstance(piece, Label):
            return self._is_label(piece, kind)
        if isinstance(piece, Number):
            return self._is_number(piece)
        if piece.noun in ("table", "figure") and self._names_itself(piece, kind):
            return False
        if kind in ("code", "formula"):
            return piece.noun not in ("section", "number", "equation")
        if piece.noun == "requirement":
            return not (starts_line(self.unit, piece.start) and self.anchors.defines(self.unit, piece.items[0].code))
        return True

    def _names_itself(self, piece: Place, kind: str) -> bool:
        """Whether "Table 12" is the caption of that table, or the name of something that is no numbered table."""
        if re.match(r"\w+ 0", piece.items[0].code):
            return True  # "character code table 00"
        text = self.text[piece.start : piece.start + 80]
        if starts_line(self.unit, piece.start):
            return bool(caption_name_end(text) if kind == "caption" else caption_end(text))
        # Words of the figure may stand before its caption in one block.
        return (
            text[0].isupper() and bool(caption_end(text)) and not _LEADS.search(self.text, max(piece.start - 8, 0), piece.start)
        )

    def _is_number(self, piece: Number) -> bool:
        if canonical(piece.id) == "SR 000 314":
            return False
        if self.unit.title.lower() == "foreword" and piece.label is None:
            # The list of the parts of a series and the document's own number.
            return not canonical(piece.id).startswith(canonical(self.references.document.id).split("-")[0])
        return True

    def _is_label(self, piece: Label, kind: str) -> bool:
        if piece.label.startswith("i."):
            return True
        if piece.label not in self.references.by_label or kind in ("code", "formula"):
            return False
        before = self.text[max(piece.start - 60, 0) : piece.start]
        if self.text[piece.start] != "[" and _INTERVAL.search(before.rpartition("[")[0]):
            return False  # "in the range [1, 2]"
        word = re.search(r"[\w)\]]+$", before)
        if _INDEXED.search(before) or (
            word and not re.fullmatch(r"[A-Za-z]?[a-z]{5,}", word[0]) and not _LABELS_BEFORE.search(before)
        ):
            return False  # acm[7], x(n)[1], bits [7], a[7][6]
        return not re.match(r"\[(?!\s?(?:i\.)?\d{1,3}\s?\])|=", self.text[piece.end : piece.end + 9])

    def _of_document(self, piece: Number | Label, index: int) -> Iterator[Citation]:
        last = piece.last if isinstance(piece, Label) else ""
        labels = self.references.between(piece.label or "", last) if last else [piece.label]
        form = "label" if isinstance(piece, Label) else "document-label" if piece.label else "document"
        for label in labels:
            owner = self.references.owner(Label(piece.start, piece.end, label or "") if last else piece, index)
            goal = self.anchors.units[0] if self.references.is_own(owner) and not piece.code else None
            yield self._citation(
                piece.start, piece.end, piece.start, piece.code, goal, form + ("-range" if last else ""), owner
            )

    def _of_place(self, piece: Place, index: int, owner: Owner | None) -> Iterator[Citation]:
        if _DRAFTING.match(self.text, piece.end):
            return
        code = piece.items[0].code
        if piece.noun == "clause" and code.isalpha() and (len(code) > 1 or not self.anchors.find(code)):
            return  # "limits of that clause AC mains input"
        if owner is None or self.references.is_own(owner):
            for item in piece.items:
                yield from self._internal(piece, item)
            return
        # A single number next to its document is printed as one: "clause 4.2 of EN 300 421 [2]".
        beside = owner.by in ("of", "after") and owner.piece in (index - 1, index + 1) and owner.piece >= 0
        joined = len(piece.items) == 1 and (beside or bool(piece.foreign))
        for item in piece.items:
            yield from self._foreign(piece, item, owner, joined and not item.last)

    def _internal(self, piece: Place, item: Item) -> Iterator[Citation]:
        goal = self.anchors.find(item.code)
        if goal is None and piece.noun in ("equation", "requirement", "section", "number"):
            return
        if (
            piece.noun == "section"
            and "." not in item.code
            and (
                piece.plural
                or not _SENDS.search(self.text, max(piece.start - 20, 0), piece.start)
                or _OF_ANOTHER.match(self.text, item.end)
            )
        ):
            return  # "encoded in section 1 of the EIT", "section A of the P1 symbol"
        yield self._citation(item.start, item.end, item.at, code_for(goal, item.code), goal, piece.noun)
        if not item.last:
            return
        inner = self.anchors.between(item.code, item.last)
        inner = inner or [u for u in (self.anchors.find(c) for c in _codes_between(item.code, item.last)) if u]
        last = self.anchors.find(item.last)
        # "tables B.1 through B.11" cites annex B once.
        for unit in {u.id: u for u in inner if u not in (goal, last)}.values():
            yield self._citation(item.start, item.end, item.at, unit.code, unit, f"{piece.noun}-range")
        if last is None or last is not goal:
            yield self._citation(item.start, item.end, item.at, code_for(last, item.last), last, piece.noun)

    def _foreign(self, piece: Place, item: Item, owner: Owner, joined: bool) -> Iterator[Citation]:
        start, end = item.start, item.end
        form = f"{piece.noun}-{owner.by}-document"
        if joined:
            left, right = min(start, owner.start), max(end, owner.end)
            printed = self.text[left:right]
            right += printed.count("(") > printed.count(")") and self.text[right : right + 1] == ")"
            if right - left <= 120 and self.places.page(left) == self.places.page(right - 1):
                start, end = left, right
        yield self._citation(start, end, item.at, item.code, None, form, owner)
        if item.last:
            for code in _codes_between(item.code, item.last):
                yield self._citation(start, end, item.at, code, None, f"{form}-range", owner)
            yield self._citation(start, end, item.at, item.last, None, form, owner)

    def _citation(
        self, start: int, end: int, at: int, code: str, goal: InfoUnit | None, form: str, owner: Owner | None = None
    ) -> Citation:
        """at: offset of the number itself. owner None: this document; the same where `goal` is given."""
        block = self._block(start)
        page = self.places.page(start)
        if start < at < end and page != self.places.page(at):
            start, page = at, self.places.page(at)  # "clause" on one page, "C.1.1" on the next: the number is the place
        own = owner is None or goal is not None
        state: CitationState = "resolved" if goal else "missing-clause" if own else "not-loaded"
        informative = self.unit.informative or bool(block and block.kind in ("note", "example"))
        return Citation(
            source=self.unit.id,
            page=page,
            start=start,
            end=end,
            text=re.sub(r"\s+", " ", self.text[start:end]),
            context=sentence_around(self.text, self.sentences, start, end),
            document=self.references.document.id if owner is None or own else owner.document,
            code=code,
            edition=None if owner is None or own else owner.edition,
            target=goal.id if goal else None,
            state=state,
            form=form,
            label=owner.label if owner else None,
            informative=informative or bool(owner and owner.informative),
            rects=self.places.rects(start, end),
        )


def _codes_between(first: str, last: str) -> list[str]:
    """Codes strictly between two by counting: "5.1" to "5.4" → 5.2, 5.3; "A" to "D" → B, C; "table 5a" to "table 5c" → 5b."""
    top, a = _COUNTED.fullmatch(first).groups()  # type: ignore[union-attr]
    other, b = _COUNTED.fullmatch(last).groups()  # type: ignore[union-attr]
    if top != other:
        return []
    if a.isdigit() and b.isdigit() and 0 < int(b) - int(a) <= _MAX_RANGE:
        return [f"{top}{n}" for n in range(int(a) + 1, int(b))]
    if a.isalpha() and b.isalpha() and a.isupper() == b.isupper() and (a.islower() or not top):
        return [f"{top}{chr(n)}" for n in range(ord(a) + 1, ord(b))]
    return []
