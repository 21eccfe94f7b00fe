"""What a heading's number says: its code, its parent, what may come after it.

ETSI drafting style: clauses `6.2.1`, with letters where they were put in later (`7.3.75A`, `10.5.2.21aa`, `4a.5.4`), annexes
`A` ... `Z`, `AA`, clauses of annexes `AA.2`. Other bodies write `Appendix I` or `Annex 1`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_ELEMENT = r"\d{1,3}[A-Za-z]{0,2}"
_ANNEX = re.compile(
    r"(?:annex|appendix)\s+<?(?P<code>[A-Z]{1,2}|[IVX]{1,5}|\d{1,2})>?(?!\w)\s*(?P<kind>\((?:normative|informative)[^)]*\))?\s*[:.–-]?\s*",
    re.I,
)
_CLAUSE = re.compile(rf"(?P<code>{_ELEMENT}(?:\.{_ELEMENT})*|[A-Z]{{1,2}}(?:\.{_ELEMENT})+)\.?(?=[\s:\u2003]|$)[\s:\u2003]*")
# Annexes come after all numbered clauses.
ANNEX_BASE = 1000
# Words that begin with a digit and are no clause numbers ("5G system", "3D video").
_WORD = re.compile(r"\d+[GD]\b")


@dataclass(frozen=True, slots=True)
class Numbered:
    """A heading's text taken apart. informative: what "(informative)" or "(normative)" in it says, None where nothing."""

    code: str
    title: str
    kind: Literal["clause", "annex", "heading"]
    informative: bool | None = None


def take_apart(text: str) -> Numbered:
    """Code, title and kind of a heading's text, a bookmark or an entry of the contents."""
    text = re.sub(r"\s+", " ", text).strip()
    match = _ANNEX.match(text)
    if match and (match["code"].isupper() or match["code"].isdigit()):
        note = (match["kind"] or "").lower()
        return Numbered(match["code"], text[match.end() :].strip(), "annex", "informative" in note if note else None)
    match = _CLAUSE.match(text)
    if match and not _WORD.match(text):
        return Numbered(match["code"], text[match.end() :].strip(), "clause")
    return Numbered(text, text, "heading")


def ancestors(code: str) -> list[str]:
    """Codes that the number names as ancestors, nearest first: "6.2.1" → ["6.2", "6"]."""
    parts = code.split(".")
    return [".".join(parts[:n]) for n in range(len(parts) - 1, 0, -1)]


def order_key(code: str) -> tuple[tuple[int, str], ...]:
    """Sort key of a code: 7.3.75 < 7.3.75A < 7.3.76 < A < A.1 < Z < AA."""
    key = []
    for part in code.split("."):
        match = re.fullmatch(r"(\d+)([A-Za-z]*)", part)
        key.append((int(match[1]), match[2].lower()) if match else (ANNEX_BASE + _letters(part), ""))
    return tuple(key)


def _letters(part: str) -> int:
    """A → 1, Z → 26, AA → 27."""
    value = 0
    for letter in part.upper():
        value = value * 26 + ord(letter) - 64
    return value


def gap(before: str | None, code: str) -> int | None:
    """How many numbers are skipped when `code` follows `before` in a document: 0 for a perfect successor.

    None where `code` cannot come after `before`: it repeats it or goes back. Opening deeper levels at 0 or 1 skips nothing,
    going on from 7.3.75 to 7.3.75A or 7.3.76 neither. `before` None stands for the beginning of the document.
    """
    new = order_key(code)
    old = order_key(before) if before is not None else ((0, ""),)
    common = 0
    while common < min(len(old), len(new)) and old[common] == new[common]:
        common += 1
    if common == len(new):
        return None
    number, letter = new[common]
    if common == len(old):
        skipped = max(number - 1, 0)
    else:
        last, last_letter = old[common]
        if (number, letter) < (last, last_letter):
            return None
        first_annex = number > ANNEX_BASE >= last and common == 0
        skipped = number - ANNEX_BASE - 1 if first_annex else max(number - last - 1, 0)
    return skipped + sum(max(n - 1, 0) + 1 for n, _ in new[common + 1 :])
