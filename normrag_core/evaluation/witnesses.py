"""Are the witnesses of a question set really in the corpus? Names those that are not, with the nearest passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from normrag_core.evaluation.matching import THRESHOLD, DocumentFinder, lcs_length, match, words
from normrag_core.evaluation.questions import Question, Relevant
from normrag_core.model import Chunk, Corpus, InfoUnit

WINDOWS = 6  # Stretches of a document that are compared word by word.


@dataclass(frozen=True, slots=True)
class Passage:
    """Stretch of a document that comes closest to a witness. share: of the witness's words that stand there in order."""

    unit: InfoUnit
    share: float
    text: str


@dataclass(frozen=True, slots=True)
class Missing:
    """A goal that the corpus does not hold. nearest: None where the document itself is not loaded and no other comes close."""

    question: str
    goal: int
    reason: str
    nearest: Passage | None = None

    def __str__(self) -> str:
        text = f"question {self.question}, witness {self.goal + 1}: {self.reason}"
        if self.nearest is not None:
            near = self.nearest
            text += f"; nearest ({near.share:.0%} of its words): {near.unit.document} clause {near.unit.heading}: “{near.text}”"
        return text


def find_missing(corpus: Corpus, questions: Sequence[Question], threshold: float = THRESHOLD) -> list[Missing]:
    """Goals that the corpus does not hold, in question order. A witness that runs over several units is not missing."""
    units = [Chunk(u.id, u.document, u.id, "unit", f"{u.heading}\n{u.body}") for u in corpus.units]
    search = PassageFinder(corpus)
    find = DocumentFinder(corpus)
    missing = []
    for q, i in match(corpus, units, questions, threshold).unreachable:
        goal = questions[q].goals[i]
        documents = find(goal)
        if isinstance(goal, Relevant):
            reason = f"expected document {goal.document!r} in the corpus; it is not loaded"
            if documents:
                reason = f"expected clause {goal.code!r} in {documents[0].key}; it has none"
            missing.append(Missing(questions[q].id, i, reason))
            continue
        near = search.nearest(goal.text, [d.key for d in documents])
        if near is not None and near.share >= threshold - 1e-9:
            continue
        elsewhere = search.nearest(goal.text, [d.key for d in corpus.documents])
        best = max((p for p in (near, elsewhere) if p is not None), key=lambda p: p.share, default=None)
        reason = "its text is not in the corpus"
        if not documents:
            reason = f"expected the document of file {goal.file!r}; it is not loaded"
        elif best is not None and best.share >= threshold:
            reason = f"its text is not in {goal.file} but in another document"
        missing.append(Missing(questions[q].id, i, reason, best))
    return missing


class PassageFinder:
    """Finds the stretch of a document's running text that comes closest to a passage. Words of each document are split once."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._words: dict[str, tuple[list[str], np.ndarray]] = {}

    def nearest(self, text: str, documents: Sequence[str]) -> Passage | None:
        """The closest passage among these documents (keys); None where no word of the text occurs in them."""
        wanted = words(text)
        best: Passage | None = None
        for key in documents:
            found = self._nearest_in(key, wanted)
            if found is not None and (best is None or found.share > best.share):
                best = found
        return best

    def _nearest_in(self, key: str, wanted: list[str]) -> Passage | None:
        text, owner = self._document(key)
        vocabulary = set(wanted)
        inside = np.fromiter((w in vocabulary for w in text), np.int64, len(text))
        total = np.concatenate([[0], np.cumsum(inside)])
        # The densest windows of twice the witness's length: a note or table row between two parts of it must not hide it.
        size = min(len(text), 2 * len(wanted))
        density = total[size:] - total[:-size] if size else total
        best: tuple[int, int] | None = None
        for _ in range(WINDOWS):
            start = int(np.argmax(density))
            if density[start] <= 0:
                break
            shared = lcs_length(wanted, text[start : start + size])
            if best is None or shared > best[0]:
                best = shared, start
            density[max(0, start - size // 2) : start + size // 2 + 1] = 0
        if best is None or not best[0]:
            return None
        shared, start = best
        unit = self.corpus.units_of(key)[int(owner[min(start + size // 2, len(text) - 1)])]
        return Passage(unit, shared / len(wanted), " ".join(text[start : start + min(size, 40)]))

    def _document(self, key: str) -> tuple[list[str], np.ndarray]:
        """(words in printed order, index of the unit that each stands in)."""
        if key not in self._words:
            text: list[str] = []
            owner: list[int] = []
            for i, unit in enumerate(self.corpus.units_of(key)):
                own = words(f"{unit.heading}\n{unit.body}")
                text += own
                owner += [i] * len(own)
            self._words[key] = (text, np.array(owner, dtype=np.int64))
        return self._words[key]
