"""From parsed documents to a corpus: cited documents, editions and clauses looked up among those loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from normrag_core.anchors import Anchors, code_for
from normrag_core.identifiers import canonical, tidy_version
from normrag_core.model import Citation, Corpus, Document, InfoUnit, ParsedDocument

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)


def resolve(parsed: tuple[ParsedDocument, ...]) -> Corpus:
    """Corpus of the documents in the order given. A file given twice (same sha256) counts once.

    Undated citations mean the latest version loaded. Dated ones mean that version, else their state is
    "version-mismatch". Different files with one id and version get the keys "…", "…~2", ...
    """
    return Resolver().corpus(parsed)


class Resolver:
    """`resolve` for documents that come and go: one whose cited documents stayed the same is not gone through again.

    Not safe with several threads.
    """

    def __init__(self) -> None:
        self._anchors: dict[int, tuple[ParsedDocument, Anchors]] = {}  # By id(): held, so not reused.
        self._resolved: dict[int, tuple[tuple[tuple[ParsedDocument, ...], ...], tuple[Citation, ...]]] = {}

    def corpus(self, parsed: Sequence[ParsedDocument]) -> Corpus:
        """What `resolve` gives."""
        kept = _distinct(parsed)
        present = {id(p) for p in kept}
        self._anchors = {i: a for i, a in self._anchors.items() if i in present}
        self._resolved = {i: r for i, r in self._resolved.items() if i in present}
        for item in kept:
            self._anchors.setdefault(id(item), (item, Anchors(item.units)))
        loaded = _Loaded(kept, {p.document.key: self._anchors[id(p)][1] for p in kept})
        for item in kept:
            cited = loaded.cited(item)
            known = self._resolved.get(id(item))
            if known is None or known[0] != cited:
                self._resolved[id(item)] = cited, tuple(loaded.resolved(item))
        citations = tuple(c for p in kept for c in self._resolved[id(p)][1])
        return Corpus(tuple(p.document for p in kept), tuple(u for p in kept for u in p.units), citations)


def version_key(document: Document) -> tuple[tuple[int, ...], str]:
    """Sort key: later versions are larger; editions without a number go by date."""
    return tuple(int(n) for n in re.findall(r"\d+", document.version)), document.date


class _Loaded:
    def __init__(self, kept: Sequence[ParsedDocument], anchors: dict[str, Anchors]) -> None:
        self._by_id: dict[str, list[ParsedDocument]] = {}
        for parsed in kept:
            self._by_id.setdefault(canonical(parsed.document.id), []).append(parsed)
        self._anchors = anchors

    def cited(self, parsed: ParsedDocument) -> tuple[tuple[ParsedDocument, ...], ...]:
        """For each document that one cites, its versions loaded: all that the state of its citations depends on."""
        ids = sorted({canonical(c.document) for c in parsed.citations if c.document})
        return tuple(tuple(self._by_id.get(i, ())) for i in ids)

    def resolved(self, parsed: ParsedDocument) -> Iterator[Citation]:
        """The citations of one document with state and target set."""
        for citation in parsed.citations:
            own = canonical(citation.document) == canonical(parsed.document.id)
            if own and (citation.edition is None or _is_edition(citation.edition, parsed.document)):
                yield self._pointed(citation, parsed)
                continue
            versions = self._by_id.get(canonical(citation.document), []) if citation.document else []
            if not versions:
                yield replace(citation, state="not-loaded", target=None)
                continue
            fitting = [p for p in versions if citation.edition is None or _is_edition(citation.edition, p.document)]
            if not fitting:
                yield replace(citation, document=versions[0].document.id, state="version-mismatch", target=None)
                continue
            latest = max(version_key(p.document) for p in fitting)
            found = self._pointed(citation, next(p for p in fitting if version_key(p.document) == latest))
            # Inner numbers of a range are counted, not printed: those that the document does not have were not meant.
            if found.target is not None or not citation.form.endswith("-range"):
                yield found

    def _pointed(self, citation: Citation, parsed: ParsedDocument) -> Citation:
        goal: InfoUnit | None
        if not citation.code:
            goal = next((u for u in parsed.units if u.key == ""), None)
        else:
            goal = self._anchors[parsed.document.key].find(citation.code)
        return replace(
            citation,
            document=parsed.document.id,
            code=code_for(goal, citation.code),
            state="resolved" if goal else "missing-clause",
            target=goal.id if goal else None,
        )


def _is_edition(edition: str, document: Document) -> bool:
    """Whether "V1.4.1", "1997", "May 1997", "1997-05", "edition 1" names this version of the document."""
    wanted = tidy_version(edition)
    if wanted.startswith("V"):
        return tidy_version(document.version) == wanted
    number = re.fullmatch(r"[Ee]d(?:ition|\.)?\s?(\d+)", wanted)
    if number:
        return re.findall(r"\d+", document.version)[:1] == [number[1]]
    year = re.search(r"(?:19|20)\d\d", wanted)
    if year is None or not document.date:
        return wanted == document.version
    month = next((n for n, name in enumerate(_MONTHS, 1) if name in wanted.lower()), None)
    digits = re.search(r"(?:19|20)\d\d-(\d\d)|(\d\d)/(?:19|20)\d\d", wanted)
    if digits:
        month = int(digits[1] or digits[2])
    return document.date.startswith(f"{year[0]}-{month:02}" if month else year[0])


def _distinct(parsed: Sequence[ParsedDocument]) -> list[ParsedDocument]:
    kept: list[ParsedDocument] = []
    hashes: set[str] = set()
    keys: set[str] = set()
    for item in parsed:
        if item.document.sha256 and item.document.sha256 in hashes:
            continue
        hashes.add(item.document.sha256)
        key = item.document.key
        count = 1
        while key in keys:
            count += 1
            key = f"{item.document.key}~{count}"
        keys.add(key)
        kept.append(item if key == item.document.key else _rekeyed(item, key))
    return kept


def _rekeyed(parsed: ParsedDocument, key: str) -> ParsedDocument:
    old = f"{parsed.document.key}#"

    def renamed(id_: str) -> str:
        return f"{key}#{id_.removeprefix(old)}" if id_.startswith(old) else id_

    terms = tuple(replace(t, unit=renamed(t.unit)) for t in parsed.document.terms)
    return ParsedDocument(
        replace(parsed.document, key=key, terms=terms),
        tuple(replace(u, id=renamed(u.id), document=key) for u in parsed.units),
        tuple(replace(c, source=renamed(c.source), target=c.target and renamed(c.target)) for c in parsed.citations),
    )
