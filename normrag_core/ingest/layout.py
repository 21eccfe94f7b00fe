"""PDF → placed lines. One call of PyMuPDF's text extraction a page; everything after works on these plain lines."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A run of characters in one font. origin: baseline start (x, y) in points. script: "" | "sup" | "sub"."""

    text: str
    font: str
    size: float
    bold: bool
    italic: bool
    mono: bool
    bbox: tuple[float, float, float, float]
    origin: tuple[float, float]
    script: str = ""


@dataclass(frozen=True, slots=True)
class PageLine:
    """One printed line on a physical page (from 1): text as extracted, its spans, its box, its dominant size and weight."""

    page: int
    text: str
    spans: tuple[Span, ...]
    bbox: tuple[float, float, float, float]
    size: float
    bold: bool


@dataclass(frozen=True, slots=True)
class Link:
    """A link annotation: its box and its goal, a physical page (from 1) and y, or a URI."""

    page: int
    bbox: tuple[float, float, float, float]
    to_page: int | None
    to_y: float | None
    uri: str | None


@dataclass(frozen=True, slots=True)
class Page:
    """Lines in reading order with header and footer kept apart; ruled rectangles and strokes for the table reader."""

    number: int
    width: float
    height: float
    lines: tuple[PageLine, ...]
    furniture: tuple[PageLine, ...]
    links: tuple[Link, ...]
    rules: tuple[tuple[float, float, float, float], ...]
    images: int
