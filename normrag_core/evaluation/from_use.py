"""Questions from use: a result marked right is a witness of the question asked, one marked wrong is a passage judged wrong.

A rejected passage counts where its question is measured: `judged` puts it into any question set that asks the same. Both kinds
are kept as questions with passages, so that they are stored, shown and edited like any question set. A mark belongs to a
passage, not to a chunk: by the rule of `evaluation.matching` it is found again under any other chunking.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from normrag_core.evaluation.matching import THRESHOLD, lcs_length, needed, words
from normrag_core.evaluation.questions import Question, QuestionError, QuestionSet, Witness, dump_jsonl, parse_questions

Verdict = Literal["right", "wrong"]
FROM_USE = "from use"
MOST_WORDS = 60
"""Words of a chunk that stand for it where it has no sentence near the question."""


@dataclass(frozen=True, slots=True)
class Marks:
    """right: questions with the passages that answer them. wrong: with those that were rejected."""

    right: tuple[Question, ...] = ()
    wrong: tuple[Question, ...] = ()

    @classmethod
    def of(cls, right: str, wrong: str) -> Marks:
        """Marks from the JSONL that `dumps` gave; "" for none."""
        return cls(_parsed(right), _parsed(wrong))

    def dumps(self) -> tuple[str, str]:
        """(JSONL of the right ones, JSONL of the wrong ones), "" where there are none."""
        return dump_jsonl(self.right), dump_jsonl(self.wrong)

    def about(self, question: str) -> bool:
        """Whether anything was marked for the question."""
        return any(_is(q, question) for q in (*self.right, *self.wrong))

    def verdict(self, question: str, file: str, text: str) -> Verdict | None:
        """How a chunk with this text, of this file, was marked for the question; None where it was not."""
        if _any(self.right, question, lambda w: _holds(w, file, text)):
            return "right"
        return "wrong" if _any(self.wrong, question, lambda w: _holds(w, file, text)) else None

    def judged(self, questions: QuestionSet) -> QuestionSet:
        """The set, its questions with the passages that were marked wrong for them added to those that it holds as rejected."""
        wrong = {q.id: q.witnesses for q in self.wrong}
        asked = []
        for question in questions:
            found = wrong.get(question.id) or wrong.get(_key(question.question)) or ()
            asked.append(replace(question, rejected=tuple(dict.fromkeys((*question.rejected, *found)))))
        return replace(questions, questions=tuple(asked))

    def mark(self, question: str, verdict: Verdict | None, witness: Witness, text: str) -> Marks:
        """The marks with this verdict on a chunk in place of the one it had; None takes it away. Twice is once.

        witness: the passage that stands for the chunk; one without a word can be no witness and changes nothing. text: the
        chunk's own.
        """
        if self.verdict(question, witness.file, text) == verdict or not words(witness.text):
            return self
        right = _without(self.right, question, witness.file, text)
        wrong = _without(self.wrong, question, witness.file, text)
        if verdict == "right":
            right = _with(right, question, witness)
        elif verdict == "wrong":
            wrong = _with(wrong, question, witness)
        return Marks(right, wrong)


def first_words(text: str) -> str:
    """The beginning of a chunk, as a witness."""
    return " ".join(text.split()[:MOST_WORDS])


def _parsed(jsonl: str) -> tuple[Question, ...]:
    try:
        return parse_questions(jsonl).questions if jsonl.strip() else ()
    except QuestionError:  # Every question was taken out of the set by hand.
        return ()


def _key(question: str) -> str:
    """Id of what is asked: case and spaces do not make another question."""
    return f"use-{hashlib.sha256(' '.join(question.casefold().split()).encode()).hexdigest()[:12]}"


def _is(asked: Question, question: str) -> bool:
    """Also one that was reworded in the set afterwards: its id stays."""
    return _key(question) in (asked.id, _key(asked.question))


def _holds(witness: Witness, file: str, text: str) -> bool:
    wanted = words(witness.text)
    return witness.file in ("", file) and lcs_length(wanted, words(text)) >= needed(len(wanted), THRESHOLD)


def _any(questions: tuple[Question, ...], question: str, test: Callable[[Witness], bool]) -> bool:
    return any(test(w) for q in questions if _is(q, question) for w in q.witnesses)


def _without(questions: tuple[Question, ...], question: str, file: str, text: str) -> tuple[Question, ...]:
    """Less the passages of the question that the chunk holds; a question that is left without a goal goes."""
    kept = []
    for asked in questions:
        if _is(asked, question):
            asked = replace(asked, witnesses=tuple(w for w in asked.witnesses if not _holds(w, file, text)))
        if asked.goals:
            kept.append(asked)
    return tuple(kept)


def _with(questions: tuple[Question, ...], question: str, witness: Witness) -> tuple[Question, ...]:
    for i, asked in enumerate(questions):
        if _is(asked, question):
            return (*questions[:i], replace(asked, witnesses=(*asked.witnesses, witness)), *questions[i + 1 :])
    return (*questions, Question(_key(question), " ".join(question.split()), FROM_USE, witnesses=(witness,)))
