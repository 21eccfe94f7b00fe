"""What the reader makes of the sample standards against what their generator knows (data/make/truth.json)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from normrag_core.ingest.reader import read_pdf
from normrag_core.model import Corpus, Document


@pytest.fixture(scope="module")
def truths(sample_dir: Path) -> list[dict[str, Any]]:
    """What the generator knows, one entry a document."""
    loaded: list[dict[str, Any]] = json.loads((sample_dir / "make" / "truth.json").read_text("utf8"))
    return loaded


@pytest.fixture(scope="module")
def corpus(truths: list[dict[str, Any]], sample_dir: Path) -> Corpus:
    """All samples as the reader reads them, in the order of the truth."""
    return Corpus.of([read_pdf(sample_dir / t["file"]) for t in truths])


@pytest.fixture
def pairs(corpus: Corpus, truths: list[dict[str, Any]]) -> Iterator[tuple[Document, dict[str, Any]]]:
    """Each document as read, with its truth."""
    return zip(corpus.documents, truths, strict=True)


Pairs = Iterator[tuple[Document, dict[str, Any]]]


def words(text: str) -> Counter[str]:
    """Words and numbers, however superscripts and subscripts are marked."""
    return Counter(re.findall(r"[a-z0-9]+", re.sub(r"</?su[bp]>|[\^_]", "", text).lower()))


def test_identity(pairs: Pairs) -> None:
    for read, true in pairs:
        told = {"id": read.id, "version": read.version, "date": read.date, "title": read.title, "pages": read.pages}
        assert told == true["document"], true["file"]


def test_units(corpus: Corpus, pairs: Pairs) -> None:
    for read, true in pairs:
        told = [(u.key, u.code, u.title, u.kind, u.parent, u.page) for u in corpus.units_of(read.key)]
        assert told == [tuple(u[k] for k in ("key", "code", "title", "kind", "parent", "page")) for u in true["units"]]


def test_bodies(corpus: Corpus, pairs: Pairs) -> None:
    for read, true in pairs:
        drawn = words(" ".join(w for c in true["captions"] for w in c.get("words", ())))
        heads = words(
            " ".join(" ".join([c["label"], c["title"], "continued", *c.get("rows", [[]])[0]]) for c in true["captions"])
        )
        for unit, want in zip(corpus.units_of(read.key)[1:], true["units"][1:], strict=True):
            body = words(unit.body)
            assert not words(want["body"]) - body, (true["file"], unit.key, "words lost")
            assert not body - words(want["body"]) - drawn - heads, (true["file"], unit.key, "words that are not in the clause")


def test_references(pairs: Pairs) -> None:
    for read, true in pairs:
        told = [(r.label, r.document, r.version, "" if r.void else r.title, r.informative, r.void) for r in read.references]
        fields = ("label", "document", "version", "title", "informative", "void")
        assert told == [tuple(r[f] for f in fields) for r in true["references"]], true["file"]


def test_terms(pairs: Pairs) -> None:
    for read, true in pairs:
        told = {(re.sub(r"</?su[bp]>|_", "", t.term), t.text, t.kind, t.page) for t in read.terms}
        assert told >= {(t["term"], t["text"], t["kind"], t["page"]) for t in true["terms"]}, true["file"]


def test_citations(corpus: Corpus, truths: list[dict[str, Any]]) -> None:
    key = {d.key: t["file"] for d, t in zip(corpus.documents, truths, strict=True)}
    told: Counter[tuple[str, ...]] = Counter()
    for c in corpus.citations:
        document, _, source = c.source.partition("#")
        told[(key[document], source, c.document, c.code, c.state)] += 1
    want: Counter[tuple[str, ...]] = Counter()
    for t in truths:
        want.update((t["file"], c["source"], c["document"], c["target"], c["state"]) for c in t["citations"])
    found = (told & want).total()
    assert found >= 0.95 * want.total(), sorted(want - told)
    assert found >= 0.95 * told.total(), sorted(told - want)
