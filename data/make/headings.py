"""Headings: their number and kind, their look, the units they open."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from front import Entry
from lines import break_lines, words_of
from source import Block, Run
from truth import Unit, parent_code

if TYPE_CHECKING:
    from layout import Typesetter

LEFT, RIGHT, TOP = 57.0, 541.0, 84.0
SIZES = {1: 18.0, 2: 16.0, 3: 14.0, 4: 12.0, 5: 11.0}
ANNEX = re.compile(r"Annex ([A-Z]{1,2})( \((?:normative|informative)\))?: (.*)")
NUMBERED = re.compile(r"((?:\d+[A-Za-z]{0,2}|[A-Z]{1,2}(?=\.))(?:\.\d+[A-Za-z]{0,2})*) (.*)")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as written. nature: " (normative)", " (informative)" or "", of annexes only."""

    code: str
    title: str
    kind: str
    level: int
    nature: str = ""

    @property
    def label(self) -> str:
        """The heading as a bookmark prints it."""
        if self.kind == "annex":
            return f"Annex {self.code}{self.nature}: {self.title}"
        return f"{self.code} {self.title}" if self.kind == "clause" else self.title


def read_heading(text: str) -> Heading:
    """`4.2 Title`, `Annex A (normative): Title` or a title without number."""
    if match := ANNEX.match(text):
        return Heading(match[1], match[3], "annex", 1, match[2] or "")
    if match := NUMBERED.match(text):
        return Heading(match[1], match[2], "clause", min(match[1].count(".") + 1, 5))
    return Heading(text, text, "heading", 1)


def set_heading(setter: Typesetter, block: Block) -> None:
    """Print a heading and open its unit."""
    heading = read_heading(block.text)
    if heading.kind == "annex":
        setter.informative = "normative" not in heading.nature.replace("informative", "")
    elif heading.kind == "heading":
        setter.informative = True
    elif heading.code[0].isdigit():
        setter.informative = setter.source.on("informative")
    _make_room(setter, heading)
    size = _size(setter, heading)
    if heading.level == 1 and not setter.old and heading.kind != "heading":
        setter.page.line(LEFT - 2, setter.y - 10, RIGHT + 2, setter.y - 10, 0.8)
    setter.y += size * 0.85
    unit = _open_unit(setter, heading)
    _print(setter, heading, size, "sans-bold" if setter.old else "sans")
    setter.y += {1: 10, 2: 9, 3: 8}.get(heading.level, 7)
    setter.entries.append(Entry(heading.code, heading.title, heading.kind, heading.level, heading.nature, setter.printed()))
    setter.outline.append((heading.level, heading.label, unit.page, unit.y))


def _size(setter: Typesetter, heading: Heading) -> float:
    return SIZES[heading.level] - (4 if setter.old and heading.level < 4 else 0)


def _make_room(setter: Typesetter, heading: Heading) -> None:
    """A new page where the layout asks for one, or where the heading would stand alone at the bottom."""
    if heading.kind == "annex" or heading.code == "History":
        fresh = not setter.source.on("flowing")
    else:
        fresh = heading.code in {"1", "Intellectual Property Rights"}
    if fresh and setter.y > TOP:
        setter.new_page()
    setter.need(_size(setter, heading) * 2.2 + {"heading": 102, "table": 84}.get(setter.follower, 46))
    if setter.y > TOP:
        setter.y += 16 if heading.level == 1 else 8


def _open_unit(setter: Typesetter, heading: Heading) -> Unit:
    seen = sum(u.code == heading.code for u in setter.truth.units)
    key = f"{heading.code}~{seen + 1}" if seen else heading.code
    page, y = len(setter.pages), round(setter.y, 1)
    parent = parent_code(heading.code)
    unit = Unit(key, heading.code, heading.title, heading.kind, parent, page, y, setter.informative)
    setter.truth.units.append(unit)
    setter.places[key] = (page, setter.y)
    return unit


def _print(setter: Typesetter, heading: Heading, size: float, font: str) -> None:
    """Number and title as separate texts, or as one; an annex with its title on the line below."""
    title, x = heading.title, LEFT
    if heading.kind == "annex":
        setter.page.text(LEFT, setter.y, f"Annex {heading.code}{heading.nature}:", font, size)
        setter.y += size * 1.15
    elif heading.kind == "clause" and setter.source["numbers"] == "inline":
        title = f"{heading.code}    {heading.title}"
    elif heading.kind == "clause":
        setter.page.text(LEFT, setter.y, heading.code, font, size)
        x = LEFT + (56 if heading.level < 4 else 71)
    for line, _ in break_lines(words_of([Run(title)], font, size), RIGHT - x, size):
        setter.draw_line(line, x, size)
        setter.y += size * 1.15
