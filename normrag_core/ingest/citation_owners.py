"""Which document a printed place belongs to: this one, or another that the words around it tie it to.

From the most specific form to the least: "clauses 5.1 and 6.2 of EN 300 421 [2]", "EN 300 421 [2], clause 4", the header of
the table's column, and, for numbers that this document does not have, the document the sentence is about.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from normrag_core.anchors import Anchors
from normrag_core.identifiers import canonical, same_document
from normrag_core.ingest.citation_patterns import Label, Number, Piece, Place
from normrag_core.ingest.columns import Columns
from normrag_core.model import Document, Reference

_QUOTED = r"(?:\s*(?:\([^()]{1,80}\)|[\"“][^\"“”]{1,100}[\"”]))?"
# "Annex V paragraph 3 of", "Annex I, point 12 of", "clause 4.2 a) of".
_DETAIL = r"(?:,?\s+(?:paragraph|point|item|letter|bullet|row|note|step)s?\s+\(?\w{1,3}\)?(?:\(\w{1,3}\))*|\s?\w\))*"
_STOP = (
    r"(?:as|is|are|was|be|shall|may|should|can|will|and|or|with|which|that|where|when|described|specified|defined|given|for|in|to|by|using"
    r"|of|see|from|on|at|if|then|than|its|this|these|present)"
)
_NAME = (
    r"(?:[A-Z][\w./&-]*|(?:the|main|core|base|original|corresponding|relevant|above|latest|current|international|european|standards?"
    r"|specifications?|documents?|recommendations?|reports?|guidelines?|guide|parts?|deliverable|implementation|technical|edition|version|IETF)|\d+)"
)
_FORWARD = re.compile(
    rf"{_QUOTED}{_DETAIL}(?:\s*|,?\s*(?:respectively,?\s+)?(?:(?:of|from)\s+(?:both\s+)?(?:(?!{_STOP}\b)[\w./&-]+\s+){{0,6}}"
    rf"|(?:in|within|to)\s+(?:{_NAME}\s+){{0,6}}"
    r"|(?:defined|given|specified|described|contained|found|provided)\s+in\s+(?:the\s+)?))"
)
_FARTHEST = 160  # characters between a clause and the document that it belongs to
_COMMA = re.compile(rf"{_QUOTED}{_DETAIL}\s*,\s*")
_BACKWARD = re.compile(
    r"\s*|\s*[,:]\s*(?:in\s+(?:particular\s+)?(?:the\s+)?)?|\s*\(\s*(?:in\s+)?|\s+in\s+(?:its\s+)?|\s*+(?:,\s*+)?part\s+\w+,\s*"
)
_BACKWARD_SEE = re.compile(r"\s*[,(]\s*(?:see\s+(?:also\s+)?|e\.g\.,?\s+)(?:in\s+)?")
_OF = re.compile(rf"{_QUOTED}{_DETAIL}\s*+(?:,\s*+)?(?:of|in|from|within)\s+(?:the\s+)?")
_AND = re.compile(rf"{_QUOTED}{_DETAIL}\s*+(?:,\s*+)?(?:and|or|and/or|as\s+well\s+as|to)\s+(?:in\s+|also\s+)?(?:the\s+)?")
_TELLS = re.compile(
    r"\s+(?:above\s+|below\s+|also\s+)?(?:shows?|gives?|lists?|describes?|specif(?:y|ies)|defines?|contains?|provides?|illustrates?|summari[sz]es?"
    r"|presents?|depicts?|details?|indicates?)\b"
)
_OWN = re.compile(
    rf"{_QUOTED}{_DETAIL}\s*(?:of|in|to)\s+(?:the\s+present|this)\s+"
    r"(?:document|standard|specification|report|recommendation|deliverable|ets|etr|en|ts|tr)\b",
    re.I,
)
_UNNAMED = re.compile(
    rf"{_QUOTED}\s*(?:of|in)\s+(?:the\s+|that\s+|that\s+same\s+)(?:(?!{_STOP}\b)[\w./&-]+\s+){{0,4}}"
    r"(?:standard|specification|recommendation|regulation|directive|guidelines)\b(?!\s+(?:of|defined|version))",
    re.I,
)
_UNNAMED_NAME = re.compile(rf"{_QUOTED}\s+of\s+(?:the\s+)?(?!Table|Figure|Clause|Annex)[A-Z][A-Za-z]*[A-Z0-9][\w-]*\b")
_SAME = re.compile(
    rf"{_QUOTED}\s*(?:of|in)\s+(?:the\s+same|that|the\s+said|the\s+latter)\s+"
    r"(?:document|standard|specification|reference|report|recommendation|deliverable)\b"
)
# A sentence that a page break or a wrong paragraph break cuts behind "of".
_GOES_ON = re.compile(r"\b(?:of|in|from|to|the)\s*\n\n\s*$")
_ITS = re.compile(r"\bits\s+(?:[a-z]+\s+)?$")
# "Version 1.3.1 of [i.1] specifies (in clause 7.3.2.1) ..."
_SAYS = re.compile(
    r",?\s+(?:also\s+)?(?:specifies|defines|describes|gives|contains|requires|provides|states|shows|lists|introduces|mandates)"
    r"[\w\s,]{0,20}[\s(]in\s+"
)
_LAW = re.compile(r"Regulation|Directive|Decision")
_ROMAN = re.compile(r"[IVX]+(?:\.\d+)*")
# "... in the following subclauses of EN 300 403-1 [5]: - in subclause 4.5.5 for ...; - in subclause 4.5.17 ..."
_OPENS_LIST = re.compile(r"\b(?:sub-?)?clauses?\s+(?:of|in|from)\s+(?:the\s+)?$", re.I)
_MAX_LABEL_RANGE = 40
_FAR = 100  # pieces that are looked at before and behind a place


@dataclass(frozen=True, slots=True)
class Owner:
    """The document a place belongs to, printed at `body[start:end]` by piece number `piece` (-1: by none).

    by: "of" it follows the place, "after" it precedes it, "column" it stands in the table's header, "near" in the sentence.
    """

    document: str
    edition: str | None
    label: str | None
    informative: bool
    start: int
    end: int
    piece: int
    by: str = ""


class References:
    """What labels and numbers mean in one document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.by_label = {r.label: r for r in document.references}
        # Labels other than numbers ("RFC3261"), which only count where the document lists them.
        self.named = frozenset(label for label in self.by_label if not re.match(r"\d|i\.", label))
        self._order = [r.label for r in document.references]
        self._by_id: dict[str, list[Reference]] = {}
        for reference in document.references:
            if reference.document:
                self._by_id.setdefault(canonical(reference.document), []).append(reference)

    def owner(self, piece: Number | Label, index: int) -> Owner:
        """The document that a number or bracket names.

        The bracket wins, as the number may be printed otherwise than in the list; unless the number is that of another
        entry: then the bracket is a slip ("RFC 3261 [11]" where RFC 3261 is [3]).
        """
        reference = self.by_label.get(piece.label) if piece.label else None
        printed, version = (piece.id, piece.version) if isinstance(piece, Number) else ("", None)
        if reference and printed and not _alike(printed, reference.document) and canonical(printed) in self._by_id:
            reference = self._by_id[canonical(printed)][0]
        if reference is None or not (reference.document or isinstance(piece, Label)):
            same = self._by_id.get(canonical(printed), []) if printed else []
            one = len(same) == 1 and reference is None and not same_document(printed, self.document.id)
            edition = version or (same[0].version if one else None)
            informative = bool(same and all(r.informative for r in same)) or bool(piece.label and piece.label.startswith("i."))
            return Owner(printed, edition, piece.label, informative, piece.start, piece.end, index)
        edition = reference.version or (version if same_document(printed, reference.document) else None)
        # The list may name a series ("ISO/IEC 13818 (parts 1 and 2)") of which the text means one part.
        named = printed if canonical(printed).startswith(f"{canonical(reference.document)}-") else reference.document
        return Owner(named, edition, reference.label, reference.informative, piece.start, piece.end, index)

    def is_own(self, owner: Owner) -> bool:
        """Whether the owner is this very document in this version."""
        return same_document(owner.document, self.document.id) and owner.edition in (None, self.document.version)

    def between(self, first: str, last: str) -> list[str]:
        """Labels from first to last as the references clause lists them; the two alone where that makes no sense."""
        if first in self._order and last in self._order:
            a, b = self._order.index(first), self._order.index(last)
            if a < b <= a + _MAX_LABEL_RANGE:
                return self._order[a : b + 1]
        return [first, last]


def _alike(printed: str, listed: str) -> bool:
    """Whether one is the other or a part of its series: "EN 302 307" for "EN 302 307-1"."""
    a, b = canonical(printed), canonical(listed)
    return a == b or a.startswith(f"{b}-") or b.startswith(f"{a}-")


class Binder:
    """Finds the owners of one body's places."""

    def __init__(
        self,
        text: str,
        pieces: Sequence[Piece],
        references: References,
        anchors: Anchors,
        sentences: Sequence[tuple[int, int]],
        columns: Columns,
    ) -> None:
        self._text, self._pieces, self._references, self._anchors = text, pieces, references, anchors
        self._sentences, self._columns = sentences, columns
        self._starts = [p.start for p in pieces]
        self._owners: dict[int, Owner | None] = {}

    def owners(self) -> dict[int, Owner | None]:
        """Owner of each place by its index among the pieces; None for a place of this document."""
        places = [(i, p) for i, p in enumerate(self._pieces) if isinstance(p, Place)]
        for index, place in reversed(places):
            self._owners[index] = self._forward(place, index)
        for index, place in places:
            if self._owners[index] is None and not _OWN.match(self._text, place.end):
                self._owners[index] = self._backward(place, index) or self._same(place, index) or self._column(place, index)
                if self._owners[index] is None and not self._exists(place):
                    self._owners[index] = self._near(place, index)
                if self._owners[index] is None:
                    self._owners[index] = self._unnamed(place)
        return self._owners

    def _forward(self, place: Place, index: int) -> Owner | None:
        if place.foreign:
            return Owner(place.foreign, None, None, False, place.start, place.end, -1, "of")
        if _OWN.match(self._text, place.end) or index + 1 == len(self._pieces):
            return None
        following = self._pieces[index + 1]
        gap = self._text[place.end : following.start]
        if len(gap) > _FARTHEST or "|" in gap or ("\n\n" in gap and not _GOES_ON.search(gap)):
            return None
        if not isinstance(following, Place):
            if _FORWARD.fullmatch(gap) or (_COMMA.fullmatch(gap) and not self._exists(place)):
                return replace(self._references.owner(following, index + 1), by="of")
            return None
        chained = self._owners.get(index + 1)
        if chained is None or chained.by != "of":
            return None
        if _OF.fullmatch(gap):
            return chained
        if self._follows_document(place, index):
            return None  # "EN 300 328 [3], clause 4.3 or clause 4.2 of EN 301 893 [4]"
        return chained if (_COMMA.fullmatch(gap) or _AND.fullmatch(gap)) and not self._exists(place) else None

    def _follows_document(self, place: Place, index: int) -> bool:
        before = self._pieces[index - 1] if index else None
        return (
            before is not None
            and not isinstance(before, Place)
            and place.start - before.end <= _FARTHEST
            and bool(_BACKWARD.fullmatch(self._text[before.end : place.start]))
        )

    def _backward(self, place: Place, index: int) -> Owner | None:
        if index == 0:
            return None
        before = self._pieces[index - 1]
        gap = self._text[before.end : place.start]
        if len(gap) > _FARTHEST:
            return None  # Also because the patterns below take a power of its length on a long run of blanks.
        if isinstance(before, Place):
            owner = self._owners.get(index - 1)
            if owner is None or owner.by != "after":
                return None
            if _COMMA.fullmatch(gap) and not _TELLS.match(self._text, place.end):
                return owner  # "EN 300 421 [2], clause 5.1, annex D"
            return owner if (_OF.fullmatch(gap) or _AND.fullmatch(gap)) and not self._exists(place) else None
        if "\n\n" in gap:
            return None
        plain = _BACKWARD.fullmatch(gap)
        taken = self._owners.get(index - 2) if index > 1 else None
        if taken and taken.piece == index - 1:
            return replace(taken, by="after") if plain and not self._exists(place) else None
        if not plain and not (_BACKWARD_SEE.fullmatch(gap) and not self._exists(place)):
            return None
        opens = "," in gap or self._text[place.start].isupper()
        if opens and _TELLS.match(self._text, place.end) and self._exists(place):
            return None  # "According to [2], figure 3 shows ..."
        return replace(self._references.owner(before, index - 1), by="after")

    def _column(self, place: Place, index: int) -> Owner | None:
        for start, end in self._columns.head(place.start):
            for number in range(bisect_left(self._starts, start), min(bisect_left(self._starts, end), index)):
                piece = self._pieces[number]
                if not isinstance(piece, Place) and not self._is_told(number):
                    return replace(self._references.owner(piece, number), by="column")
        return None

    def _is_told(self, number: int) -> bool:
        """Whether a document stands with a clause of it ("see TS 29.571 [64] clause 5.4.3.1")."""
        beside = (self._owners.get(n) for n in (number - 1, number + 1))
        return any(o is not None and o.piece == number and o.by in ("of", "after") for o in beside)

    def _near(self, place: Place, index: int) -> Owner | None:
        """For a number that this document does not have: the document that the sentence or list is about."""
        sentence = self._sentence(place.start)
        before = self._pieces[index - 1] if index else None
        if before and self._sentence(before.start) == sentence:
            owner = self._owners.get(index - 1)
            if isinstance(before, Place) and owner and owner.document:
                return replace(owner, by="near")
            gap = self._text[before.end : place.start]
            if not isinstance(before, Place) and (_ITS.search(gap) or _SAYS.fullmatch(gap)):
                return replace(self._references.owner(before, index - 1), by="near")
        if place.noun == "annex" and _ROMAN.fullmatch(place.items[0].code):
            return self._law(index)
        for number in range(index - 1, max(index - _FAR, 0) - 1, -1):
            piece = self._pieces[number]
            if not isinstance(piece, Place):
                opened = _OPENS_LIST.search(self._text, max(piece.start - 40, 0), piece.start)
                if opened and self._text[piece.end : piece.end + 2].lstrip().startswith(":"):
                    return replace(self._references.owner(piece, number), by="near")
                return None
        return None

    def _law(self, index: int) -> Owner | None:
        """Annexes of European acts have Roman numbers: the act named last, else the one named next."""
        order = [*range(index - 1, max(index - _FAR, 0) - 1, -1), *range(index + 1, min(index + _FAR, len(self._pieces)))]
        for number in order:
            piece = self._pieces[number]
            if not isinstance(piece, Place):
                owner = self._references.owner(piece, number)
                if _LAW.match(owner.document):
                    return replace(owner, by="near")
        return None

    def _same(self, place: Place, index: int) -> Owner | None:
        """For "clause 9.1 of the same document": the document named last."""
        if _SAME.match(self._text, place.end):
            for number in range(index - 1, max(index - _FAR, 0) - 1, -1):
                piece = self._pieces[number]
                if not isinstance(piece, Place):
                    return replace(self._references.owner(piece, number), by="near")
        return None

    def _unnamed(self, place: Place) -> Owner | None:
        if place.noun in ("section", "number") and "." not in place.items[0].code:
            return None  # "sections C and B of the P1 symbol"
        match = _UNNAMED.match(self._text, place.end)
        if match is None and not self._exists(place):
            match = _UNNAMED_NAME.match(self._text, place.end)
        return Owner("", None, None, False, place.start, match.end(), -1, "of") if match else None

    def _exists(self, place: Place) -> bool:
        return self._anchors.find(place.items[0].code) is not None

    def _sentence(self, offset: int) -> int:
        return bisect_right(self._sentences, (offset, len(self._text)))
