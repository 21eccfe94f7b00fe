"""Sentences of the results scored against the question: the one of a clause that is nearest to it, and an extractive answer.

score(s) = ½·words(s) + ½·meaning(s); without an embedder words(s) alone. words is the share of the question's idf that the
sentence holds, what only the headings above it hold counting half; meaning its cosine with the question, negative ones taken as
0. All of it is ours, not the paper's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from normrag_core.ingest.places import Places, sentences
from normrag_core.model import Block, Chunk, Corpus, InfoUnit
from normrag_core.retriever import Retriever
from normrag_core.strength import term_weights
from normrag_core.tokenize import tokenize
from normrag_core.trace import Trace

HEADINGS = 0.5  # "Six code rates are defined" answers a question on LDPC code rates under the heading "LDPC code".
LOOKED_AT = 5  # Results whose sentences compete for the answer.
ENCODED = 40  # Sentences of one answer that are embedded: the best by words.
SAME = 0.8  # Share of common terms (Jaccard) from which two sentences say the same, as two editions of a clause do.
_RULE_ROW = re.compile(r"[\s|:-]+")
_FEWEST_TERMS = 3


@dataclass(frozen=True, slots=True)
class Sentence:
    """`body[start:end]` of a unit. rank: of the result it stands in. words, meaning and score: 0 to 1; meaning is None
    without vectors."""

    unit: str
    start: int
    end: int
    text: str
    page: int
    rank: int
    words: float
    meaning: float | None
    score: float


def nearest_sentence(retriever: Retriever, trace: Trace, index: int) -> Sentence | None:
    """The sentence of one chunk that is nearest to the question; None for a chunk without text. index: of the chunk."""
    rank = trace.final.position(index)
    chunk = retriever.chunks(trace.config)[index]
    found = _scored(retriever, trace, [(rank[0] if rank else 0, chunk)])
    return max(found, key=lambda s: (s.score, -s.start), default=None)


def extractive_answer(retriever: Retriever, trace: Trace, most: int = 4) -> tuple[Sentence, ...]:
    """The best sentences of the first results, best first, none that says what a better one says already.

    A result further down counts less: its sentences' scores are divided by 1 + (rank − 1)/10.
    """
    chunks = [(r.rank, r.chunk) for r in trace.results[:LOOKED_AT]]
    found = [replace(s, score=s.score / (1 + (s.rank - 1) / 10)) for s in _scored(retriever, trace, chunks)]
    kept: list[tuple[Sentence, frozenset[str]]] = []
    for sentence in sorted(found, key=lambda s: (-s.score, s.rank, s.start)):
        terms = frozenset(tokenize(sentence.text))
        if sentence.words > 0 and not any(_alike(terms, other) for _, other in kept):
            kept.append((sentence, terms))
        if len(kept) == most:
            break
    return tuple(s for s, _ in kept)


def _alike(a: frozenset[str], b: frozenset[str]) -> bool:
    return len(a & b) >= SAME * len(a | b)


def _scored(retriever: Retriever, trace: Trace, chunks: Sequence[tuple[int, Chunk]]) -> list[Sentence]:
    config = trace.config
    weights = term_weights(retriever, trace)
    total = sum(weights.values())
    found: list[Sentence] = []
    above: dict[str, set[str]] = {}

    def terms_of(text: str) -> set[str]:
        return weights.keys() & tokenize(text, config.tokenizer, config.stem)

    for rank, chunk in chunks:
        for unit, start, end in _stretches(retriever.corpus, chunk):
            text = unit.body[start:end]
            if len(set(tokenize(text))) < _FEWEST_TERMS:
                continue
            if unit.id not in above:
                above[unit.id] = terms_of(" ".join(u.heading for u in retriever.corpus.path(unit)[1:]))
            own = terms_of(text)
            held = sum(weights[t] for t in own) + HEADINGS * sum(weights[t] for t in above[unit.id] - own)
            share = held / total if total else 0.0
            page = Places(unit).page(start)
            found.append(Sentence(unit.id, start, end, " ".join(text.split()), page, rank, share, None, share))
    return _with_meaning(retriever, trace, found)


def _with_meaning(retriever: Retriever, trace: Trace, found: list[Sentence]) -> list[Sentence]:
    """The same with cosines, of the best by words where there are many; those that are not embedded are left out."""
    if trace.query_vector is None or retriever.embedder is None or not found:
        return found
    chosen = sorted(found, key=lambda s: -s.words)[:ENCODED]
    vectors = retriever.embedder.encode([s.text for s in chosen])
    cosines = np.maximum(vectors @ trace.query_vector.astype(np.float32), 0.0)
    return [replace(s, meaning=float(c), score=(s.words + float(c)) / 2) for s, c in zip(chosen, cosines, strict=True)]


def _stretches(corpus: Corpus, chunk: Chunk) -> Iterator[tuple[InfoUnit, int, int]]:
    """Sentences and table rows of a chunk: (unit, start, end). A table's head row and the rules in it are no sentences."""
    for span in chunk.spans:
        unit = corpus.by_id[span.unit]
        for block in unit.blocks or (Block("paragraph", 0, len(unit.body)),):
            start, end = max(block.start, span.start), min(block.end, span.end)
            if start >= end or block.kind in ("figure", "caption", "reference"):
                continue
            pieces = _rows(unit.body, start, end) if block.kind == "table" else sentences(unit.body[start:end])
            skip_head = block.kind == "table" and start == block.start and len(pieces) > 1
            yield from ((unit, start + a, start + b) for a, b in pieces[1 if skip_head else 0 :])


def _rows(body: str, start: int, end: int) -> list[tuple[int, int]]:
    """Lines of a table without its rules, relative to `start`."""
    rows, at = [], 0
    for line in body[start:end].split("\n"):
        if line.strip() and not _RULE_ROW.fullmatch(line):
            rows.append((at, at + len(line)))
        at += len(line) + 1
    return rows
