"""Pages as lists of PDF drawing operators, and the file made of them.

The operators are written directly, with the base-14 fonts and their WinAnsi (or Symbol) encoding, because that gives a
small, reproducible file in which every line of text is exactly where the layout says. PyMuPDF supplies the font metrics
and assembles the file. Positions are PDF points from the page's top left corner.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pymupdf

WIDTH, HEIGHT = 595.0, 842.0
BLACK, BLUE, GREY, PALE = (0, 0, 0), (0.05, 0.25, 0.55), (0.45, 0.45, 0.45), (0.80, 0.88, 0.96)
FONTS = {
    "serif": "tiro",
    "serif-bold": "tibo",
    "serif-italic": "tiit",
    "sans": "helv",
    "sans-bold": "hebo",
    "sans-italic": "heit",
    "sans-bolditalic": "hebi",
    "mono": "cour",
    "mono-bold": "cobo",
    "symbol": "symb",
}
SYMBOLS = {"≤": 0xA3, "≥": 0xB3, "Ω": 0x57, "π": 0x70, "λ": 0x6C, "η": 0x68, "√": 0xD6, "≈": 0xBB, "→": 0xAE, "Δ": 0x44}
"""Characters outside WinAnsi, by their code in the Symbol font."""

UNICODE = """/CIDInit /ProcSet findresource begin
begincmap /CMapName /Sample def /CMapType 2 def
1 begincodespacerange <00> <FF> endcodespacerange
{count} beginbfchar
{rows}
endbfchar
endcmap end end"""
"""ToUnicode map; without it readers give the soft hyphen of WinAnsi back as an ordinary one."""

Color = tuple[float, float, float]


@cache
def _font(name: str) -> pymupdf.Font:
    return pymupdf.Font(FONTS[name])


@cache
def _advance(char: str, font: str) -> float:
    return _font("symbol" if char in SYMBOLS else font).glyph_advance(ord(char))


def text_width(text: str, font: str, size: float) -> float:
    """Width in points."""
    return size * sum(_advance(c, font) for c in text)


def _pieces(text: str, font: str) -> list[tuple[str, bytes]]:
    """The text as (font, encoded bytes) pieces; a character no font can print is an error, not a question mark."""
    pieces: list[tuple[str, bytes]] = []
    for char in text:
        if char in SYMBOLS:
            name, code = "symbol", bytes([SYMBOLS[char]])
        else:
            try:
                name, code = font, char.encode("cp1252")
            except UnicodeEncodeError:
                raise ValueError(f"expected a character of WinAnsi or {''.join(SYMBOLS)}; found {char!r} in {text!r}") from None
        if pieces and pieces[-1][0] == name:
            pieces[-1] = (name, pieces[-1][1] + code)
        else:
            pieces.append((name, code))
    return pieces


def _literal(raw: bytes) -> bytes:
    return b"(" + raw.replace(b"\\", rb"\\").replace(b"(", rb"\(").replace(b")", rb"\)") + b")"


def _number(*values: float) -> str:
    return " ".join(f"{v:.2f}".rstrip("0").rstrip(".") for v in values)


@dataclass
class Canvas:
    """One page under construction."""

    operators: list[bytes] = field(default_factory=list)
    fonts: set[str] = field(default_factory=set)
    links: list[tuple[tuple[float, float, float, float], int, float]] = field(default_factory=list)

    def text(self, x: float, y: float, text: str, font: str = "serif", size: float = 10, color: Color = BLACK) -> float:
        """Print one line with its baseline at y; gives the x where it ends."""
        out = f"BT {_number(*color)} rg {_number(x, HEIGHT - y)} Td".encode()
        for name, raw in _pieces(text, font):
            self.fonts.add(name)
            out += f" /{FONTS[name]} {_number(size)} Tf ".encode() + _literal(raw) + b" Tj"
        self.operators.append(out + b" ET")
        return x + text_width(text, font, size)

    def line(self, x0: float, y0: float, x1: float, y1: float, width: float = 0.5, color: Color = BLACK) -> None:
        """A straight line."""
        self._draw(f"{_number(x0, HEIGHT - y0)} m {_number(x1, HEIGHT - y1)} l S", width, color)

    def curve(self, points: list[tuple[float, float]], width: float = 0.8, color: Color = BLACK) -> None:
        """A polyline."""
        path = " ".join(f"{_number(x, HEIGHT - y)} {'l' if i else 'm'}" for i, (x, y) in enumerate(points))
        self._draw(f"{path} S", width, color)

    def box(self, x: float, y: float, w: float, h: float, width: float = 0.5, fill: Color | None = None) -> None:
        """A rectangle with its top left corner at (x, y); width 0 leaves the border out."""
        paint = ("B" if width else "f") if fill else "S"
        colour = f"{_number(*fill)} rg " if fill else ""
        self._draw(f"{colour}{_number(x, HEIGHT - y - h, w, h)} re {paint}", width or 0.5, BLACK)

    def polygon(self, points: list[tuple[float, float]], fill: Color) -> None:
        """A filled shape without border."""
        path = " ".join(f"{_number(x, HEIGHT - y)} {'l' if i else 'm'}" for i, (x, y) in enumerate(points))
        self._draw(f"{_number(*fill)} rg {path} h f", 0.5, BLACK)

    def _draw(self, what: str, width: float, color: Color) -> None:
        self.operators.append(f"q {_number(width)} w {_number(*color)} RG {what} Q".encode())


def _to_unicode(doc: pymupdf.Document) -> int:
    codes = [c for c in range(0x20, 0x100) if bytes([c]).decode("cp1252", "ignore")]
    rows = "\n".join(f"<{c:02X}> <{ord(bytes([c]).decode('cp1252')):04X}>" for c in codes)
    xref = doc.get_new_xref()
    doc.update_object(xref, "<<>>")
    doc.update_stream(xref, UNICODE.format(count=len(codes), rows=rows).encode())
    return xref


def save_pdf(
    path: Path,
    pages: list[Canvas],
    metadata: dict[str, str],
    bookmarks: list[list[Any]],
    protected: bool = False,
    soft_hyphens: bool = False,
) -> None:
    """Write the file. protected: forbid changes and copying, as old standards do; it still opens without a password.

    Its bytes differ from run to run, because encryption draws a random file identifier.
    """
    doc = pymupdf.open()
    unicode_map = _to_unicode(doc) if soft_hyphens else 0
    for canvas in pages:
        page = doc.new_page(width=WIDTH, height=HEIGHT)
        for name in sorted(canvas.fonts):
            font = page.insert_font(fontname=FONTS[name])
            if name == "symbol":
                doc.xref_set_key(font, "Encoding", "null")
            elif unicode_map:
                doc.xref_set_key(font, "ToUnicode", f"{unicode_map} 0 R")
        xref = doc.get_new_xref()
        doc.update_object(xref, "<<>>")
        doc.update_stream(xref, b"\n".join(canvas.operators))
        page.set_contents(xref)
    for number, canvas in enumerate(pages):
        for rect, target, y in canvas.links:
            link = {
                "kind": pymupdf.LINK_GOTO,
                "from": pymupdf.Rect(rect),
                "page": target - 1,
                "to": pymupdf.Point(57, max(y - 10, 0)),
            }
            doc[number].insert_link(link)
    if bookmarks:
        doc.set_toc(bookmarks, collapse=2)
    doc.set_metadata(metadata)
    lock: dict[str, Any] = {"encryption": pymupdf.PDF_ENCRYPT_NONE}
    if protected:
        allowed = pymupdf.PDF_PERM_PRINT | pymupdf.PDF_PERM_ACCESSIBILITY
        lock = {"encryption": pymupdf.PDF_ENCRYPT_RC4_128, "owner_pw": "sample", "user_pw": "", "permissions": allowed}
    doc.save(path, garbage=3, deflate=True, no_new_id=True, reproducible=True, **lock)
    doc.close()
