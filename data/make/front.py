"""Cover, notice page, running header and footer, contents list."""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from canvas import BLUE, GREY, PALE, WIDTH, Canvas, text_width
from source import Source

LEFT, RIGHT, TOP, BOTTOM = 57.0, 541.0, 84.0, 788.0

NOTICE = """
!Reference
{reference}

!Keywords
{keywords}


!Sample document
This text was invented for the NormRAG project so that the software can be tried
without any real standard at hand. It is not a deliverable of ETSI or of any other body,
nobody adopted it, and no equipment should be assessed against it.

!Copying
The authors dedicate the sample documents to the public domain (CC0 1.0).
They may be copied, changed and redistributed by anyone for any purpose.

!Finding errors
Odd numbers, wrong clause numbers and missing clauses are partly intended:
they imitate what is met in real standards. The file data/README.md lists them.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """A heading as it will stand in the contents list. printed: its printed page number."""

    code: str
    title: str
    kind: str
    level: int
    nature: str
    printed: str


def centred(page: Canvas, y: float, text: str, font: str, size: float) -> None:
    """Print a line in the middle of the page."""
    page.text((WIDTH - text_width(text, font, size)) / 2, y, text, font, size)


def long_date(date: str) -> str:
    """2019-11 → November 2019."""
    year, month = date.split("-")
    return f"{calendar.month_name[int(month)]} {year}"


def cover(page: Canvas, source: Source) -> None:
    """The first page."""
    if source["style"] == "ets90":
        return cover_1990s(page, source)
    name, rest = f"ETSI {source['id']}", f"{source['version']} ({source['date']})"
    if source["cover"] == "lines":
        page.text(57, 62, name, "sans", 30)
        page.text(57, 84, source["version"], "sans", 16)
        page.text(57, 102, f"({source['date']})", "sans", 16)
    else:
        size = 32.0
        width = text_width(f"{name} ", "sans", size) + text_width(rest, "sans", 17)
        end = page.text((WIDTH - width) / 2, 66, f"{name} ", "sans", size)
        page.text(end, 66, rest, "sans", 17)
    page.box(41, 112, 513, 150, 0, PALE)
    page.polygon([(41, 262), (41, 200), (180, 150), (330, 190), (554, 130), (554, 262)], (0.45, 0.65, 0.85))
    page.polygon([(41, 262), (41, 235), (240, 205), (420, 240), (554, 200), (554, 262)], BLUE)
    for radius in range(20, 110, 15):
        arc = [math.radians(150 - 3 * step) for step in range(41)]
        page.curve([(180 + radius * math.cos(t), 150 - radius * 0.35 * math.sin(t)) for t in arc], 0.8, (1, 1, 1))
    page.box(41, 268, 513, 20, 0, BLUE)
    page.text(50, 282, source["type"], "sans-bold", 12, (1, 1, 1))
    y = 372.0
    for line in re.split(r"(?<=;) ", source["title"]):
        for part in _wrap(line, "sans-bold", 17, 440):
            centred(page, y, part, "sans-bold", 17)
            y += 20
    page.text(57, 760, "Fictitious sample document, written for NormRAG", "sans-italic", 9, GREY)
    return None


def cover_1990s(page: Canvas, source: Source) -> None:
    """The first page as it was in the 1990s."""
    page.box(57, 60, 484, 26)
    page.text(64, 78, "EUROPEAN TELECOMMUNICATION STANDARD", "sans-bold", 13)
    page.text(57, 150, source["id"], "sans-bold", 40)
    page.text(57, 190, long_date(source["date"]), "sans-bold", 16)
    page.text(400, 190, source["version"], "sans-bold", 12)
    page.line(57, 205, 541, 205, 1.5)
    page.text(57, 224, f"Source: {source['body']}", "sans", 10)
    page.text(330, 224, f"Reference: {source['reference']}", "sans", 10)
    page.text(57, 250, "ICS: 33.100", "sans", 10)
    page.text(57, 276, f"Key words: {source['keywords']}", "sans", 10)
    page.line(57, 290, 541, 290, 1.5)
    y = 380.0
    for line in re.split(r"(?<=;) ", source["title"]):
        for part in _wrap(line, "sans-bold", 18, 440):
            centred(page, y, part, "sans-bold", 18)
            y += 24
    page.text(57, 770, "Fictitious sample document, written for NormRAG", "sans-italic", 9, GREY)


def notice(page: Canvas, source: Source) -> None:
    """The second page: reference, key words, what the document is."""
    y = 150.0
    for line in NOTICE.format(reference=source["reference"], keywords=source["keywords"]).strip("\n").split("\n"):
        if line.startswith("!"):
            y += 14
            centred(page, y, line[1:], "sans-bolditalic", 10)
            page.line(202, y + 4, 393, y + 4)
            y += 18
        else:
            centred(page, y, line, "sans", 9)
            y += 11


def furniture(page: Canvas, source: Source, number: int) -> None:
    """Running header and footer of physical page `number`."""
    printed = str(number - int(source["offset"] or 0))
    name = f"ETSI {source['id']} {source['version']} ({source['date']})"
    if source["style"] == "ets90":
        lines = (f"Page {printed}", f"{source['id']}: {long_date(source['date'])}")
        for i, line in enumerate(lines):
            x = 57.0 if number % 2 == 0 else RIGHT - text_width(line, "sans-bold", 10)
            page.text(x, 50 + 12 * i, line, "sans-bold", 10)
        return
    page.text(RIGHT - text_width(name, "sans-bold", 9), 51, name, "sans-bold", 9)
    page.text((WIDTH - text_width(printed, "sans-bold", 9)) / 2, 51, printed, "sans-bold", 9)
    if source["second_header"]:
        page.text(LEFT, 62, source["second_header"], "sans-bold", 9)
    centred(page, 823, "ETSI", "sans-bolditalic", 9)


class Contents:
    """The contents list, from the headings met in an earlier pass."""

    def __init__(self, source: Source, entries: list[Entry]) -> None:
        self.source = source
        depth = int(source["contents_depth"] or 9)
        self.entries = [e for e in entries if e.level <= depth]
        self.family = "sans" if source["style"] == "ets90" else "serif"

    def draw(self, new_page: Callable[[], Canvas], page: Canvas) -> None:
        """Print the list on `page`, asking `new_page` for more."""
        page.text(LEFT, 93, "Contents", "sans-bold" if self.family == "sans" else "sans", 14 if self.family == "sans" else 18)
        y = 122.0
        for entry in self.entries:
            title_x, size, font = self._look(entry)
            lines = _wrap(entry.title, font, size, RIGHT - 45 - title_x)
            y += 6 if entry.level == 1 else 0
            if y + 12 * (len(lines) - 1) > BOTTOM:
                page = new_page()
                y = TOP + 10
            label = f"Annex {entry.code}{entry.nature}:" if entry.kind == "annex" else entry.code
            if entry.kind != "heading":
                page.text(LEFT, y, label, font, size)
            for line in lines[:-1]:
                page.text(title_x, y, line, font, size)
                y += 12
            self._leader(page, title_x, y, lines[-1], entry.printed, font, size)
            y += 12.5

    def _look(self, entry: Entry) -> tuple[float, float, str]:
        """x of the title, size, font."""
        size = 11.0 if entry.level == 1 else 10.0
        if entry.kind == "annex":
            return 191.0, size, f"{self.family}-bold"
        if entry.kind == "heading":
            return LEFT, size, self.family
        return LEFT + {1: 28, 2: 42, 3: 49}.get(entry.level, 60), size, self.family

    def _leader(self, page: Canvas, x: float, y: float, title: str, number: str, font: str, size: float) -> None:
        """Title, dots and page number as one line of text, as a typesetting program's tab leader gives it."""
        gap = " " if self.source["leader"] == "space" else ""
        room = RIGHT - x - text_width(f"{title}{gap}{gap}{number}", font, size)
        dots = max(3, int(room / text_width(".", font, size)))
        page.text(x, y, f"{title}{gap}{'.' * dots}{gap}{number}", font, size)


def _wrap(text: str, font: str, size: float, width: float) -> list[str]:
    """Lines of at most `width` points; a hyphenated word may be divided after its hyphen."""
    lines = [""]
    for word in re.findall(r"[^\s-]*[a-z]{3}-(?=[a-z]{3})|\S+", text):
        glue = "" if not lines[-1] or re.search(r"[a-z]{3}-$", lines[-1]) else " "
        if lines[-1] and text_width(lines[-1] + glue + word, font, size) > width:
            lines.append(word)
        else:
            lines[-1] += glue + word
    return lines
