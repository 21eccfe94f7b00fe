"""What a reply must be to become a question: strict JSON, a witness that stands in the text, no leak, no near duplicate."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from normrag_core.evaluation.generation.passages import Source
from normrag_core.evaluation.matching import lcs_length, words
from normrag_core.evaluation.questions import CITATION_TYPE, Question, Witness
from normrag_core.model import Corpus

WITNESS_SHARE = 0.95
COPY_SHARE = 0.6
DUPLICATE_SHARE = 0.75
MIN_WITNESS_WORDS = 6
MAX_WITNESS_WORDS = 120

_FENCE = re.compile(r"^```(?:json)?\s*\n(.*)\n```$", re.DOTALL)


class DroppedError(ValueError):
    """A reply that does not become a question. reason: a short stable slug that is counted; the text says the details."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def parse_reply(text: str, n_witnesses: int) -> tuple[str, str, list[str]]:
    """(question, answer, witnesses) of a reply: one JSON object, alone or in a code fence, with exactly these keys."""
    text = text.strip()
    fenced = _FENCE.match(text)
    try:
        data = json.loads(fenced[1] if fenced else text)
    except ValueError as error:
        raise DroppedError("malformed", f"expected a JSON object; found {text[:80]!r} ({error})") from None
    wanted = {"question", "answer", "witnesses"}
    if not isinstance(data, dict) or set(data) != wanted:
        found = sorted(data) if isinstance(data, dict) else type(data).__name__
        raise DroppedError("malformed", f"expected keys {sorted(wanted)}; found {found}")
    witnesses = data["witnesses"]
    if not isinstance(witnesses, list) or len(witnesses) != n_witnesses or not all(isinstance(w, str) for w in witnesses):
        raise DroppedError("malformed", f"witnesses: expected {n_witnesses} texts; found {witnesses!r:.80}")
    question, answer = data["question"], data["answer"]
    if not isinstance(question, str) or not question.strip() or not isinstance(answer, str):
        raise DroppedError("malformed", f"question and answer: expected texts; found {question!r:.40} and {answer!r:.40}")
    return question.strip(), answer.strip(), [w.strip() for w in witnesses]


def make_question(corpus: Corpus, source: Source, reply: str, id_: str) -> Question:
    """The question that a reply stands for, verified against its clauses. DroppedError says why not."""
    text, answer, passages = parse_reply(reply, len(source.units))
    asked = words(text)
    for unit, passage in zip(source.units, passages, strict=True):
        held = words(passage)
        if not MIN_WITNESS_WORDS <= len(held) <= MAX_WITNESS_WORDS:
            wanted = f"{MIN_WITNESS_WORDS} to {MAX_WITNESS_WORDS}"
            raise DroppedError("witness-length", f"witness: expected {wanted} words; found {len(held)}")
        if lcs_length(held, words(f"{unit.heading}\n{unit.body}")) < WITNESS_SHARE * len(held):
            raise DroppedError("witness-not-in-text", f"witness: expected words of {unit.id}; found {passage[:80]!r}")
        if leaks_code(text, unit.code):
            raise DroppedError("leaks-clause", f"question: expected no clause number; found {unit.code!r} in {text[:80]!r}")
        if asked and lcs_length(asked, held) > COPY_SHARE * len(asked):
            raise DroppedError("copies-witness", f"question: expected other words than the witness's; found {text[:80]!r}")
    return Question(
        id=id_,
        question=text,
        type=CITATION_TYPE if len(source.units) > 1 else "generated",
        answer=answer,
        witnesses=tuple(
            Witness(p, corpus.by_key[u.document].file, u.page, u.code) for u, p in zip(source.units, passages, strict=True)
        ),
    )


def leaks_code(text: str, code: str) -> bool:
    """Whether a question names the clause of its answer: "6.2.1" anywhere, a short code only after "clause" or "annex"."""
    if "." in code:
        return re.search(rf"(?<![\w.]){re.escape(code)}(?![\w]|\.\d)", text) is not None
    return (
        bool(code) and re.search(rf"\b(?:sub)?(?:clause|annex|section)\s+{re.escape(code)}\b", text, re.IGNORECASE) is not None
    )


class Duplicates:
    """Questions seen so far, as word sets."""

    def __init__(self, questions: Iterable[str] = ()) -> None:
        self._seen = [frozenset(words(q)) for q in questions]

    def add(self, question: str) -> None:
        """Remembers a question; DroppedError when one with nearly the same words was there (Jaccard ≥ 0.75)."""
        bag = frozenset(words(question))
        for other in self._seen:
            if len(bag & other) >= DUPLICATE_SHARE * len(bag | other):
                raise DroppedError("near-duplicate", f"question: expected a new one; found {question[:80]!r} again")
        self._seen.append(bag)
