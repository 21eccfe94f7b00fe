"""What a citation can point at inside one document: clauses, and by way of their captions tables, figures and requirements."""

from __future__ import annotations

import re
from collections.abc import Sequence

from normrag_core.model import InfoUnit

_CAPTION = re.compile(
    r"(?P<noun>Table|Figure|Fig\.)\s+(?P<number>(?:[A-Z]{1,2}[.\-]?)?\d{1,3}[A-Za-z]{0,2}(?:[.\-\u2010-\u2013]\d{1,3}[A-Za-z]{0,2})*"
    r"(?:\s?\([a-z]\))?)(?P<tail>\s*(?:[:.–—-]|$|\(|\n|\s[A-Z]))",
    re.I,
)
# A caption behind the words of its figure, or behind the caption of the figure beside it, in one block.
_INNER_CAPTION = re.compile(
    r"(?<!\bin )(?<!\bsee )(?<!\bof )(?<!\bby )(?<!\bto )(?<!\bthe )(?<!\band )(?P<noun>Table|Figure) "
    r"(?P<number>(?:[A-Z]{1,2}[.\-]?)?\d{1,3}[a-z]?(?:[.\-]\d{1,3})*):(?=\s)"
)
_EQUATION = re.compile(r"\(((?:[A-Z]\.?)?\d{1,3}(?:\.\d{1,3})*[a-z]?)\)\s*$", re.M)
REQUIREMENT = re.compile(
    # The look behind comes second: a pattern that begins with a letter is sought for several times as fast.
    r"[A-Z](?<![\w-].)[A-Z]{1,5}(?:-[A-Z]{1,6})?-(?:[A-Z]\.?)?\d{1,2}(?:\.\d{1,3}[a-z]?)*-\d{2,3}[A-Za-z]?(?![\w-]|\.\d)"
)

_OPENS_TEXT = re.compile(r"\s*[:\[]")
_STANDS_ALONE = re.compile(r"\s*(?:\t|\n|\||$)")


class Anchors:
    """Goals inside one document. Look-ups take printed numbers and give the unit that holds the thing, or None."""

    def __init__(self, units: Sequence[InfoUnit]) -> None:
        self.units = tuple(units)
        self._codes: dict[str, InfoUnit] = {}
        self._loose: dict[str, InfoUnit] = {}
        for unit in units:
            if unit.kind in ("clause", "annex"):
                self._codes.setdefault(unit.code, unit)
                self._loose.setdefault(unit.code.upper(), unit)
        self._things: dict[str, InfoUnit] = {}
        self._family: dict[str, InfoUnit] = {}
        self._equations: dict[str, InfoUnit | None] = {}
        for unit in units:
            self._read_captions(unit)
        requirements = [(u, m) for u in units for m in REQUIREMENT.finditer(u.body) if starts_line(u, m.start())]
        # A requirement is defined where its identifier opens a paragraph with a colon, else where it stands alone first.
        for opens in (_OPENS_TEXT, _STANDS_ALONE):
            for unit, match in requirements:
                if opens.match(unit.body, match.end()):
                    self._things.setdefault(match[0], unit)

    def clause(self, code: str) -> InfoUnit | None:
        """The clause or annex with this number."""
        return self._codes.get(code) or self._loose.get(code.upper())

    def thing(self, name: str) -> InfoUnit | None:
        """The unit that holds "table 12", "figure H.3", "equation 3" or defines the requirement "GEN-6.1.1-04".

        "figure 9a" falls back on the caption of "figure 9", "table 14" on that of "table 14(a)" or "table 14a".
        """
        if name.startswith("equation "):
            return self._equations.get(name.removeprefix("equation "))
        name = _key(name)
        whole = re.sub(r"(?<=\d)[a-z]$", "", name)
        return self._things.get(name) or self._things.get(whole) or (self._family.get(name) if whole == name else None)

    def find(self, code: str) -> InfoUnit | None:
        """The unit a citation's code means, be it a clause's number or the name of a thing.

        Tables and figures whose caption was not found are where their number says: "table 6.1.3.1" in 6.1.3,
        "table 4.4.1-1" in 4.4.1, "figure H.3" in annex H.
        """
        found = self.clause(code) or self.thing(code)
        if found is None and code.startswith(("table ", "figure ")):
            number = re.sub(r"\([a-z]\)$", "", code.partition(" ")[2])
            top = re.split(r"[.-](?=[^.-]+$)", number)[0]
            found = self.clause(top) if top != number else None
        return found

    def between(self, first: str, last: str) -> list[InfoUnit]:
        """Clauses after `first` and before `last` on the same level ("5 to 7" → 6), in printed order."""
        start, end = self.clause(first), self.clause(last)
        if start is None or end is None:
            return []
        level, top = first.count("."), first.rpartition(".")[0]
        found, inside = [], False
        for unit in self.units:
            if unit is end:
                break
            if inside and unit.kind == start.kind and unit.code.count(".") == level and unit.code.rpartition(".")[0] == top:
                found.append(unit)
            inside = inside or unit is start
        else:
            return []
        return found

    def defines(self, unit: InfoUnit, requirement: str) -> bool:
        """Whether this unit is where the requirement is defined."""
        return self._things.get(requirement) is unit

    def _read_captions(self, unit: InfoUnit) -> None:
        for block in unit.blocks:
            text = unit.body[block.start : block.end]
            if block.kind in ("caption", "table", "figure", "paragraph"):
                match = _CAPTION.match(text)
                if match and (block.kind == "caption" or match["tail"].strip() in (":", "-", "–", "—")):
                    self._name(_key(f"{match['noun']} {match['number']}"), unit)
            if block.kind in ("caption", "figure", "paragraph") and ("Table " in text or "Figure " in text):
                for match in _INNER_CAPTION.finditer(text):
                    self._name(_key(f"{match['noun']} {match['number']}"), unit)
            if block.kind == "formula":
                for match in _EQUATION.finditer(text):
                    # Numbers that occur twice name nothing.
                    self._equations[match[1]] = None if match[1] in self._equations else unit

    def _name(self, name: str, unit: InfoUnit) -> None:
        self._things.setdefault(name, unit)
        # "table 5" may stand for tables 5a and 5b.
        self._family.setdefault(re.sub(r"(?<=\d)[a-z]$", "", name), unit)


def code_for(goal: InfoUnit | None, printed: str) -> str:
    """The code of a citation: its goal's number; what is printed where the goal is missing or has no number ("Foreword")."""
    return printed if goal is None or goal.kind == "heading" else goal.code


def caption_end(text: str) -> int:
    """Length of the "Table 12:" that `text` begins with, 0 where it is no caption by its form."""
    match = _CAPTION.match(text)
    return match.end() if match and match["tail"].strip() in (":", "-", "–", "—") else 0


def caption_name_end(text: str) -> int:
    """Length of the "Table 12" that a caption's text begins with, 0 where there is none."""
    match = _CAPTION.match(text)
    return match.end("number") if match else 0


def starts_line(unit: InfoUnit, offset: int) -> bool:
    """Whether `offset` is where a block or a line of the body begins."""
    before = unit.body[max(offset - 40, 0) : offset].rstrip(" \t")
    return not before or before[-1] in "\n|" or any(b.start == offset for b in unit.blocks)


def _key(name: str) -> str:
    """One spelling of a name: "Table 7 (b)" and "table 7b" are one."""
    name = re.sub(r"[\u2010-\u2013]", "-", re.sub(r"\s+", " ", name)).replace("Fig.", "figure")
    noun, _, number = name.partition(" ")
    return f"{noun.lower()} {re.sub(r'[ ()]', '', number)}" if number else name
