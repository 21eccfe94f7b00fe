"""Which chunks hold which golden passage.

Rule: a chunk is a hit for a witness when at least `threshold` (75 %) of the witness's words stand in it in order, that is,
when the longest common subsequence (LCS) of the two word lists is that long. The paper gives the 75 %; the unit (words)
and the order are ours.

Done once per chunk list and question set: the bag-of-words overlap, which the LCS can never exceed, rules out nearly all
chunks of the document in one numpy expression; the few left are compared by a bit-parallel LCS.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from normrag_core.evaluation.questions import Question, Relevant, Witness
from normrag_core.model import Chunk, Corpus, Document

THRESHOLD = 0.75

_MARKUP = re.compile(r"</?su[bp]>|\^|\u00ad")
# A hyphen inside a word goes, and so does the line or page break after it: "time-\nslicing" may be printed "time-slicing"
# in the middle of a line, and "modu-\nlation" has no hyphen there. One form for all of them.
# What stands before it is looked at last: a pattern that begins with a hyphen is found much faster.
_HYPHEN = re.compile(r"[-\u2010-\u2013](?<=[^\W_].)(?:[ \t]*[\n\f][\s]*)?(?=[^\W_])")
_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """The words that the 75 % rule counts: case, punctuation, hyphens, breaks, `^`, `<sub>` and table pipes do not matter."""
    text = unicodedata.normalize("NFKC", text) if not text.isascii() else text
    return _WORD.findall(_HYPHEN.sub("", _MARKUP.sub("", text.lower())))


def lcs_length(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of the longest common subsequence. Bit-parallel (Hyyrö 2004).

    One addition on a number of len(a) bits for each item of b that occurs in a.
    """
    masks: dict[str, int] = {}
    for i, item in enumerate(a):
        masks[item] = masks.get(item, 0) | 1 << i
    full = (1 << len(a)) - 1
    state = full
    for item in b:
        mask = masks.get(item)
        if mask is not None:
            matched = state & mask
            state = ((state + matched) | (state - matched)) & full
    return len(a) - state.bit_count()


def needed(n_words: int, threshold: float) -> int:
    """Words of a witness of this length that a hit must hold; at least one. The tolerance keeps 0.75 · 4 from becoming 4."""
    return max(1, math.ceil(threshold * n_words - 1e-9))


@dataclass(frozen=True, slots=True)
class Matches:
    """hits[question][goal]: sorted indices of the chunks that satisfy it. words: (n_chunks,) int64, words in each chunk.

    rejected[question]: sorted indices of the chunks that hold something judged wrong for it and satisfy no goal; None where
    nothing was judged wrong.
    """

    hits: tuple[tuple[np.ndarray, ...], ...]
    words: np.ndarray
    rejected: tuple[np.ndarray | None, ...]

    @property
    def reachable(self) -> np.ndarray:
        """(n_questions,) float64: share of each question's goals that some chunk satisfies. Its mean bounds R@K."""
        return np.array([np.mean([chunks.size > 0 for chunks in goals]) for goals in self.hits])

    @property
    def unreachable(self) -> list[tuple[int, int]]:
        """(question, goal) pairs that no chunk satisfies."""
        return [(q, g) for q, goals in enumerate(self.hits) for g, chunks in enumerate(goals) if not chunks.size]


def match(corpus: Corpus, chunks: Sequence[Chunk], questions: Sequence[Question], threshold: float = THRESHOLD) -> Matches:
    """Hits of every goal of every question among the chunks. threshold: in (0, 1]; ValueError outside."""
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold: expected a share above 0 and up to 1; found {threshold!r}")
    by_document: dict[str, list[int]] = {d.key: [] for d in corpus.documents}
    for i, chunk in enumerate(chunks):
        by_document.setdefault(chunk.document, []).append(i)
    find = DocumentFinder(corpus)
    bags = {}
    wanted: dict[str, set[str]] = {}
    prepared: list[list[tuple[list[str], list[str]]]] = []
    for question in questions:
        row = []
        for goal in (*question.goals, *question.rejected):
            keys = [d.key for d in find(goal)]
            text = words(goal.text) if isinstance(goal, Witness) else []
            for key in keys:
                wanted.setdefault(key, set()).update(text)
            row.append((keys, text))
        prepared.append(row)
    texts: dict[int, list[str]] = {}  # Of the documents in which something is looked for: a large corpus has many others.
    lengths = np.zeros(len(chunks), dtype=np.int64)
    for i, chunk in enumerate(chunks):
        text = words(chunk.text)
        lengths[i] = len(text)
        if chunk.document in wanted:
            texts[i] = text
    for key, vocabulary in wanted.items():
        bags[key] = _Bag(sorted(vocabulary), by_document[key], texts)
    hits: list[tuple[np.ndarray, ...]] = []
    rejected: list[np.ndarray | None] = []
    for question, row in zip(questions, prepared, strict=True):
        found = []
        for goal, (keys, text) in zip((*question.goals, *question.rejected), row, strict=True):
            if isinstance(goal, Relevant):
                indices = [i for key in keys for i in by_document[key] if _holds(corpus, chunks[i], key, goal.code, threshold)]
            else:
                need = needed(len(text), threshold)
                indices = [i for key in keys for i in bags[key].candidates(text, need) if lcs_length(text, texts[i]) >= need]
            found.append(np.array(sorted(indices), dtype=np.int64))
        right, wrong = found[: len(question.goals)], found[len(question.goals) :]
        hits.append(tuple(right))
        rejected.append(np.setdiff1d(np.concatenate(wrong), np.concatenate(right)) if wrong else None)
    return Matches(tuple(hits), lengths, tuple(rejected))


class DocumentFinder:
    """Documents that a goal names: a witness by file name, a relevant clause by key, id, label or file name.

    A witness without a file may stand in any document.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.all = corpus.documents
        self.named: dict[str, list[Document]] = {}
        for document in corpus.documents:
            names = {document.key, document.id, document.label, PurePath(document.file).name}
            for name in {n.casefold() for n in names if n}:
                self.named.setdefault(name, []).append(document)

    def __call__(self, goal: Witness | Relevant) -> Sequence[Document]:
        name = goal.file if isinstance(goal, Witness) else goal.document
        if not name:
            return self.all
        name = name.casefold().removeprefix("etsi ") if not isinstance(goal, Witness) else PurePath(name).name.casefold()
        return self.named.get(name, ())


class _Bag:
    """Word counts of one document's chunks over the words its witnesses use."""

    def __init__(self, vocabulary: list[str], chunks: list[int], texts: Mapping[int, list[str]]) -> None:
        self.chunks = chunks
        self.column = {w: i for i, w in enumerate(vocabulary)}
        self.counts = np.zeros((len(chunks), len(vocabulary)), dtype=np.int32)
        for row, chunk in enumerate(chunks):
            ids = [self.column[w] for w in texts[chunk] if w in self.column]
            self.counts[row] = np.bincount(ids, minlength=len(vocabulary)) if ids else 0

    def candidates(self, text: list[str], need: int) -> list[int]:
        """Chunks that hold at least `need` of the words, in any order."""
        count = Counter(text)
        columns = [self.column[w] for w in count]
        overlap = np.minimum(self.counts[:, columns], np.fromiter(count.values(), np.int32)).sum(axis=1)
        return [self.chunks[i] for i in np.flatnonzero(overlap >= need)]


def _holds(corpus: Corpus, chunk: Chunk, document: str, code: str, share: float) -> bool:
    """Whether the chunk counts as the clause: most of it comes from there, or it covers that share of the clause's body.

    The head of a split clause carries only the title and is not counted.
    """
    if chunk.kind == "head":
        return False
    if corpus.by_id[chunk.unit].code == code:
        return True
    for span in chunk.spans:
        unit = corpus.by_id[span.unit]
        if unit.document == document and unit.code == code and span.end - span.start >= share * len(unit.body) > 0:
            return True
    return False
