"""Are the witnesses of a question set really in the corpus? Names those that are not, with the nearest passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from normrag_core.evaluation.matching import THRESHOLD, DocumentFinder, lcs_length, needed, words
from normrag_core.evaluation.questions import Question, Witness
from normrag_core.model import Corpus, InfoUnit


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
    """Goals that cannot be found whatever the chunking, in question order. A witness that crosses units is not missing."""
    search = PassageFinder(corpus)
    find = DocumentFinder(corpus)
    missing = []
    for question in questions:
        for i, goal in enumerate(question.goals):
            documents = find(goal)
            if not isinstance(goal, Witness):
                if not documents:
                    reason = f"expected document {goal.document!r} in the corpus; it is not loaded"
                    missing.append(Missing(question.id, i, reason))
                elif all(u.code != goal.code for d in documents for u in corpus.units_of(d.key)):
                    reason = f"expected clause {goal.code!r} in {documents[0].key}; it has none"
                    missing.append(Missing(question.id, i, reason))
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
            missing.append(Missing(question.id, i, reason, best if best is not None and best.share > 0 else None))
    return missing


class PassageFinder:
    """Finds the stretch of a document's running text that comes closest to a passage. Words of each document are split once."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._words: dict[str, tuple[list[str], np.ndarray]] = {}

    def nearest(self, text: str, documents: Sequence[str]) -> Passage | None:
        """The closest passage among these documents (keys); None where no word of the text occurs in them."""
        wanted = words(text)
        if not wanted:
            return None
        best: Passage | None = None
        for key in documents:
            found = self._nearest_in(key, wanted)
            if found is not None and (best is None or found.share > best.share):
                best = found
        return best

    def _nearest_in(self, key: str, wanted: list[str]) -> Passage | None:
        text, owner = self._document(key)
        vocabulary = set(wanted)
        inside = np.fromiter((w in vocabulary for w in text), np.int32, len(text))
        if not inside.any():
            return None
        # The densest window of 1.5 times the witness's length, then its surroundings: text between two parts of a
        # passage (a table row, a note) must not hide it.
        size = min(len(text), len(wanted) + len(wanted) // 2)
        total = np.concatenate([[0], np.cumsum(inside)])
        start = int(np.argmax(total[size:] - total[:-size]))
        low, high = max(0, start - len(wanted)), min(len(text), start + size + len(wanted))
        share = lcs_length(wanted, text[low:high]) / len(wanted)
        if share < 1 and needed(len(wanted), THRESHOLD) > lcs_length(wanted, text[low:high]):
            for unit_start, unit_end in self._units_with(owner, inside, len(wanted)):
                found = lcs_length(wanted, text[unit_start:unit_end]) / len(wanted)
                if found > share:
                    share, start = found, unit_start
        middle = min(start + size // 2, len(text) - 1)
        unit = self.corpus.units_of(key)[int(owner[middle])]
        return Passage(unit, share, " ".join(text[start : start + min(size, 40)]))

    def _units_with(self, owner: np.ndarray, inside: np.ndarray, n_words: int) -> list[tuple[int, int]]:
        """Word ranges of the five units that hold the most of the wanted words."""
        counts = np.bincount(owner, weights=inside)
        best = np.argsort(-counts, kind="stable")[:5]
        return [tuple(int(v) for v in np.searchsorted(owner, [u, u + 1])) for u in best if counts[u] >= n_words / 2]  # type: ignore[misc]

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
