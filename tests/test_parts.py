"""Postings and chunks kept by document: merged they equal those made at once, and another document costs only itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from normrag_core import parts as parts_module
from normrag_core.bm25 import Bm25, Postings
from normrag_core.chunking import make_chunks
from normrag_core.config import PRESETS, RetrieverConfig
from normrag_core.model import Corpus, Document, InfoUnit, ParsedDocument
from normrag_core.parts import Parts, merge, pack, unpack
from normrag_core.retriever import Retriever
from normrag_core.storage import MemoryWorkspace, Workspace

CONFIG = RetrieverConfig(max_words=50, ranking="bm25")
WORDS = ("carrier", "pilot", "frame", "the", "clause 4.2", "3 V/m", "PLP_ID", "time-slicing", "limit\u00e9")


def parsed(number: int, clauses: int = 4) -> ParsedDocument:
    """A made-up standard; each has words of its own and words that all have."""
    rng = np.random.default_rng(number)
    key = f"EN 999 {number:03} V1.1.1"
    units = [InfoUnit(f"{key}#", key, "", "", f"Title {number}", "document", None, 1)]
    for clause in range(1, clauses + 1):
        body = " ".join(rng.choice([*WORDS, f"own{number}"], 30 * clause).tolist())
        units.append(InfoUnit(f"{key}#{clause}", key, str(clause), str(clause), f"Clause {clause}", "clause", "", 1, body))
    return ParsedDocument(
        Document(key, f"EN 999 {number:03}", "V1.1.1", "2020-01", "T", 9, "a.pdf", f"{number:02}"), tuple(units)
    )


class Kept:
    """Keeps in a dict and counts what is asked and made."""

    def __init__(self) -> None:
        self.held: dict[tuple[str, str], bytes] = {}
        self.made: list[str] = []

    def part(self, document: Document, name: str) -> bytes | None:
        return self.held.get((document.key, name))

    def keep_part(self, document: Document, name: str, data: bytes) -> None:
        self.held[document.key, name] = data
        self.made.append(document.key)


def at_once(corpus: Corpus, config: RetrieverConfig) -> Postings:
    chunks = make_chunks(corpus, config.chunking, config.max_words, config.context)
    return parts_module._postings(chunks, config.tokenizer, config.stem)


def assert_equal(one: Postings, other: Postings) -> None:
    assert list(one.vocabulary.items()) == list(other.vocabulary.items())
    for name in ("starts", "chunks", "text", "context", "text_lengths", "context_lengths"):
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype, name
        assert np.array_equal(a, b), name


@pytest.mark.parametrize("preset", ["vanilla-rrf", "structured-rrf", "chunked-rrf"])
@pytest.mark.parametrize("tokenizer", ["domain", "word"])
def test_merged_parts_equal_postings_of_all_chunks(preset: str, tokenizer: str) -> None:
    config = PRESETS[preset].config.with_(max_words=50, tokenizer=tokenizer)
    corpus = Corpus.of([parsed(2), parsed(1, 7), parsed(3, 0)])
    index = Retriever(corpus, parts=Parts(Kept())).index(config)
    assert_equal(index.postings(config.tokenizer, config.stem), at_once(corpus, config))


def test_scores_are_equal_to_the_last_bit_however_the_corpus_came_about() -> None:
    corpus = Corpus.of([parsed(1), parsed(2), parsed(3)])
    parts = Parts(Kept())
    for loaded in ([parsed(3)], [parsed(3), parsed(1), parsed(4)], [parsed(1), parsed(2), parsed(3)]):
        grown = Retriever(Corpus.of(loaded), parts=parts)
        grown.search("pilot carrier", CONFIG)
    fresh = Bm25(at_once(corpus, CONFIG), CONFIG.bm25_k1, CONFIG.bm25_b, CONFIG.context_weight)
    terms = {"pilot": 1.0, "the": 1.0, "own2": 1.0, "frame": 2.0}
    assert np.array_equal(grown.index(CONFIG).bm25(CONFIG.with_(name_weight=0.0)).scores(terms), fresh.scores(terms))
    assert [c.id for c in grown.chunks(CONFIG)] == [c.id for c in Retriever(corpus).chunks(CONFIG)]


def test_one_more_document_costs_only_itself() -> None:
    kept = Kept()
    parts = Parts(kept)
    one, two = parsed(1), parsed(2)
    before = Retriever(Corpus.of([one, two]), parts=parts)
    before.search("pilot", CONFIG)
    after = Retriever(Corpus.of([one, two, parsed(3)]), parts=parts)
    after.search("pilot", CONFIG)
    assert kept.made == [d.document.key for d in (one, two, parsed(3))]
    assert after.chunks(CONFIG)[0] is before.chunks(CONFIG)[0]


def test_a_document_that_changed_under_its_key_is_made_anew() -> None:
    parts = Parts(Kept())
    Retriever(Corpus.of([parsed(1)]), parts=parts).search("pilot", CONFIG)
    changed = Corpus.of([parsed(1, 6)])
    index = Retriever(changed, parts=parts).index(CONFIG)
    assert len(index) == len(Retriever(changed).index(CONFIG))
    assert_equal(index.postings("domain", True), at_once(changed, CONFIG))


def test_a_changed_tokeniser_meets_no_old_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept()
    corpus = Corpus.of([parsed(1)])
    Retriever(corpus, parts=Parts(kept)).search("pilot", CONFIG)
    monkeypatch.setattr(parts_module, "_tokenizing", lambda: "another")
    Retriever(corpus, parts=Parts(kept)).search("pilot", CONFIG)
    assert len(kept.made) == 2


def test_packed_postings_come_back_and_harm_is_noticed() -> None:
    postings = at_once(Corpus.of([parsed(1)]), CONFIG)
    data = pack(postings)
    back = unpack(data)
    assert back is not None
    assert_equal(back, postings)
    harmed = bytearray(data)
    harmed[len(data) // 2] ^= 0xFF
    for bad in (b"", data[:100], data[: len(data) // 2], bytes(harmed), b"PK\x03\x04"):
        assert unpack(bad) is None


def test_harmed_parts_are_made_again(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.add(parsed(1))
    corpus = workspace.corpus()
    Retriever(corpus, parts=Parts(workspace)).search("pilot", CONFIG)
    (file,) = (tmp_path / "parts").glob("*/*")
    whole = file.read_bytes()
    file.write_bytes(whole[:50])
    index = Retriever(corpus, parts=Parts(workspace)).index(CONFIG)
    assert_equal(index.postings("domain", True), at_once(corpus, CONFIG))
    assert file.read_bytes() == whole


@pytest.mark.parametrize("on_disk", [True, False])
def test_a_removed_document_takes_its_parts_along(on_disk: bool, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path) if on_disk else MemoryWorkspace()
    one, two = parsed(1), parsed(2)
    for document in (one, two):
        workspace.add(document)
    parts = Parts(workspace)
    for config in (CONFIG, CONFIG.with_(max_words=80), CONFIG.with_(stem=False)):
        Retriever(workspace.corpus(), parts=parts).search("pilot", config)
    names = list(workspace._blobs.below("parts"))
    assert len(names) == 2
    workspace.remove(one.document)
    assert len(workspace._blobs.below("parts")) == 1
    # Made before the removal, kept after it: refused.
    workspace.keep_part(one.document, "late", b"data")
    assert len(workspace._blobs.below("parts")) == 1
    assert all(one.document.key not in held for held in _after(parts, workspace.corpus())._chunks.values())
    if on_disk:
        assert len(list((tmp_path / "parts").iterdir())) == 1
        assert not [p for p in (tmp_path / "parts").rglob("*") if b"own1" in (p.read_bytes() if p.is_file() else b"")]
    workspace.clear()
    assert workspace._blobs.below("parts") == []


def _after(parts: Parts, corpus: Corpus) -> Parts:
    Retriever(corpus, parts=parts).search("pilot", CONFIG)
    return parts


def test_few_parts_of_a_document_are_kept_and_a_replaced_document_has_none(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.add(parsed(1))
    for n in range(12):
        workspace.keep_part(parsed(1).document, f"setting {n}", b"data")
    assert [workspace.part(parsed(1).document, f"setting {n}") is not None for n in (0, 3, 4, 11)] == [False, False, True, True]
    workspace.add(parsed(1, 6))
    assert workspace.part(parsed(1).document, "setting 11") is None


def test_parts_whose_document_is_gone_go_when_the_workspace_is_opened(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.add(parsed(1))
    workspace.keep_part(parsed(1).document, "setting", b"data")
    next((tmp_path / "documents").iterdir()).unlink()
    Workspace(tmp_path)
    assert not list((tmp_path / "parts").iterdir())


def test_nothing_to_merge() -> None:
    assert_equal(merge([]), Postings.of(()))
