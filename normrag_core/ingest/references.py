"""The references clause read as data: what [n] and [i.n] mean in this document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from normrag_core.identifiers import find_documents
from normrag_core.ingest.places import Places
from normrag_core.model import InfoUnit, Reference

TITLE = re.compile(
    r"(?:(?:normative|informative|other|general)\s+)?(?:references?|bibliography)(?:\s+\((?:normative|informative)\))?", re.I
)
# Labels: [1], [12a], [i.3]; other bodies' [RFC3261], [ITU-T X.25] are kept as they are.
_ENTRY = re.compile(r"[ \t•]*\[\s?(?P<label>i\.\s?\d{1,3}[A-Za-z]?|\d{1,3}[A-Za-z]?|[A-Z][\w.:+ -]{1,24})\s?\](?=[\s\w\"“(]|$)")
_QUOTED = re.compile(r"[\"“”](.+?)[\"“”](?=\s*(?:[.,;(\n–-]|$))|[\"“](.+)", re.S)
_LONGEST = 2000  # characters of an entry; what is longer is no entry any more
_NOTE = re.compile(r"\n\s*NOTE\b")


def read_references(units: Sequence[InfoUnit]) -> tuple[Reference, ...]:
    """Entries of the references clauses in printed order; of a label that is printed twice the first counts."""
    found: dict[str, Reference] = {}
    for unit in reference_units(units):
        for reference in _entries(unit):
            found.setdefault(reference.label, reference)
    return tuple(found.values())


def reference_units(units: Sequence[InfoUnit]) -> list[InfoUnit]:
    """Units that list references: by their title ("References", "Informative references", "Bibliography")."""
    return [u for u in units if u.kind != "document" and TITLE.fullmatch(u.title.strip().rstrip(":"))]


def _entries(unit: InfoUnit) -> Iterator[Reference]:
    places = Places(unit)
    # Entries begin a block or a line; blocks may follow each other without a line break between them.
    starts = {0, *(b.start for b in unit.blocks), *(m.end() for m in re.finditer("\n", unit.body))}
    marks = [m for m in (_ENTRY.match(unit.body, start) for start in sorted(starts)) if m]
    if not marks:
        return
    for mark, end in zip(marks, [*(m.start() for m in marks[1:]), len(unit.body)], strict=True):
        text = unit.body[mark.end() : end]
        note = _NOTE.search(text)
        text = re.sub(r"\s+", " ", text[: note.start()] if note else text).strip()
        label = re.sub(r"(?<=i\.)\s", "", mark["label"]).strip()
        yield _reference(label, text[:_LONGEST], unit, places.page(mark.start("label")))


def _reference(label: str, text: str, unit: InfoUnit, page: int) -> Reference:
    quoted = _QUOTED.search(text)
    head = text[: quoted.start()] if quoted else text[:160]
    printed = next(find_documents(head), None)
    if printed is None and not re.match(r"\d|i\.", label):
        # "[RFC2119] Bradner, S., "Key words ...", RFC 2119": the name is the label, else it stands behind the title.
        printed = next(find_documents(label), None) or next(find_documents(text), None)
    title = ((quoted[1] or quoted[2]) if quoted else text.partition(":")[2] or text).strip(' "“”.')
    return Reference(
        label=label,
        text=text,
        document=printed.id if printed else "",
        version=printed.version if printed else None,
        title=title,
        page=page,
        informative=label.startswith("i.") or "informative" in unit.title.lower(),
        void=bool(re.fullmatch(r"\(?void\)?[.:;]?", text, re.I)),
    )
