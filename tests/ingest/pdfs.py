"""Small PDFs in ETSI layout, written with PyMuPDF for one test each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pymupdf

LEFT, TAB = 57.0, 113.0
BODY = ("tiro", 10.0)
SIZES = {1: 18.0, 2: 16.0, 3: 14.0, 4: 12.0, 5: 11.0, 6: 10.0}
PROSE = "The equipment shall keep its state while the link is down and shall report the change to the controller."


@dataclass
class Sheet:
    """A PDF under construction; `y` is the next baseline on the current page."""

    pdf: pymupdf.Document
    header: str
    page: pymupdf.Page | None = None
    y: float = 0.0
    numbers: bool = True

    def turn(self) -> Sheet:
        """Begins a page with running header, page number and footer."""
        self.page = self.pdf.new_page(width=595, height=842)
        if self.pdf.page_count > 1:
            self.put(398, 51, self.header, "hebo", 9)
            if self.numbers:
                self.put(295, 51, str(self.pdf.page_count), "hebo", 9)
            self.put(287, 823, "ETSI", "hebi", 9)
        self.y = 88.0
        return self

    def put(self, x: float, y: float, text: str, font: str = "tiro", size: float = 10.0) -> None:
        """Prints text with its baseline at y."""
        assert self.page is not None
        self.page.insert_text((x, y), text, fontname=font, fontsize=size)

    def head(self, number: str, title: str, level: int = 1, font: str = "helv", gap: float = 22.0) -> Sheet:
        """A heading: number at the margin and title at the tab stop, drawn apart."""
        size = SIZES[level]
        self.y += gap
        if number:
            self.put(LEFT, self.y, number, font, size)
        self.put(TAB if number else LEFT, self.y, title, font, size)
        self.y += 16
        return self

    def line(self, text: str, x: float = LEFT, font: str = "tiro", size: float = 10.0, step: float = 12.0) -> Sheet:
        """One line of text."""
        self.y += step
        self.put(x, self.y, text, font, size)
        return self

    def prose(self, lines: int = 3) -> Sheet:
        """Lines of body text."""
        for _ in range(lines):
            self.line(PROSE)
        self.y += 6
        return self

    def entry(self, number: str, title: str, page: int | str, leaders: str = " ........................ ") -> Sheet:
        """A line of the contents."""
        self.y += 13
        if number:
            self.put(LEFT, self.y, number)
        self.put(85 if number else LEFT, self.y, f"{title}{leaders}{page}")
        return self

    def save(self, path: Path, toc: Sequence[Sequence[object]] = ()) -> Path:
        """Writes the file, with bookmarks (level, title, page[, y])."""
        if toc:
            self.pdf.set_toc(
                [
                    [level, title, page, {"kind": pymupdf.LINK_GOTO, "to": pymupdf.Point(0, rest[0])}]
                    if rest
                    else [level, title, page]
                    for level, title, page, *rest in toc
                ]
            )
        self.pdf.save(path)
        return path


def sheet(header: str = "ETSI EN 399 100 V1.2.1 (2019-03)", cover: Sequence[str] = ()) -> Sheet:
    """A new document with a cover page."""
    new = Sheet(pymupdf.open(), header).turn()
    for text in cover or (header, "Sample of a standard; Part 1: Testing"):
        new.line(text, font="hebo", size=17, step=30)
    return new
