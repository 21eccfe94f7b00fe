"""Abbreviations of the loaded standards beside a question's own words: "PLP" also looks for "Physical Layer Pipe" and back."""

from __future__ import annotations

import re

from normrag_core.model import Corpus
from normrag_core.tokenize import unify

WEIGHT = 0.5  # Of a term that the question does not say itself.
AMBIGUOUS = 2  # An abbreviation with more long forms than this in one corpus says too little.

_WORD = re.compile(r"[\w/+&-]+")


class Abbreviations:
    """Short and long forms from the abbreviation clauses of a corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self._long: dict[str, list[str]] = {}
        self._short: dict[str, list[str]] = {}
        seen: set[tuple[str, str]] = set()
        for document in corpus.documents:
            for term in document.terms:
                short, long = term.term.strip(), _plain(term.text)
                if term.kind != "abbreviation" or not short or not long or (short, long) in seen:
                    continue
                seen.add((short, long))
                self._long.setdefault(short, []).append(long)
                self._short.setdefault(long, []).append(short)

    def beside(self, question: str) -> list[str]:
        """Long forms of the abbreviations that a question holds, and short forms of the long ones, in a fixed order.

        An abbreviation is matched as printed ("IS" is none in "what is"), a long form whatever its case.
        """
        out: list[str] = []
        for word in _WORD.findall(unify(question)):
            longs = self._long.get(word, ())
            if len(longs) <= AMBIGUOUS:
                out += longs
        plain = f" {_plain(question)} "
        for long, shorts in self._short.items():
            if " " in long and f" {long} " in plain:
                out += shorts
        return list(dict.fromkeys(out))


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(unify(text).casefold()))
