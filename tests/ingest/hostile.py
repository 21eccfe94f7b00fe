"""Hostile and broken PDFs, made when a test asks for them: nothing of the kind is stored in the repository."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable

import pymupdf

STANDARD = "EN 399 001 V1.1.1 (2020-01)"


def standard(pages: int = 3, text: str = "The equipment shall withstand the test of clause 4.") -> pymupdf.Document:
    """A small standard with bookmarks: clauses 1 to `pages`, one a page."""
    document = pymupdf.open()
    toc = []
    for number in range(1, pages + 1):
        page = document.new_page()
        page.insert_text((72, 40), f"{number}          ETSI {STANDARD}", fontsize=9)
        page.insert_text((72, 100), f"{number}    Requirement {number}", fontsize=16, fontname="hebo")
        page.insert_text((72, 140), text, fontsize=10)
        toc.append([1, f"{number} Requirement {number}", number])
    document.set_toc(toc)
    return document


def raw(objects: Iterable[bytes], trailer: bytes = b"/Root 1 0 R") -> bytes:
    """A PDF written object by object, with a right cross-reference table."""
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF" % (len(places) + 1, trailer, start)
    return bytes(out)


def stream(data: bytes, extra: bytes = b"") -> bytes:
    """A stream object, deflated."""
    packed = zlib.compress(data, 9)
    return b"<< /Length %d /Filter /FlateDecode %s >>\nstream\n%s\nendstream" % (len(packed), extra, packed)


PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>"
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGES = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"


def not_a_pdf() -> bytes:
    return b"PK\x03\x04 this is a zip"


def truncated() -> bytes:
    whole = standard().tobytes()
    return bytes(whole[: len(whole) // 3])


def damaged_xref() -> bytes:
    whole = bytearray(standard().tobytes())
    at = whole.rfind(b"startxref")
    whole[at : at + 30] = b"startxref\n999999999\n%%EOF     "[:30]
    return bytes(whole)


def password() -> bytes:
    return bytes(standard().tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="secret", owner_pw="owner"))


def permissions() -> bytes:
    made = standard().tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="owner", permissions=0)
    return bytes(made)


def scanned() -> bytes:
    document = pymupdf.open()
    picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 60, 80))
    picture.clear_with(200)
    for _ in range(3):
        document.new_page().insert_image(pymupdf.Rect(0, 0, 595, 842), pixmap=picture)
    return bytes(document.tobytes())


def many_pages() -> bytes:
    document = pymupdf.open()
    for _ in range(5000):
        document.new_page(width=100, height=100)
    return bytes(document.tobytes())


def page_of_20_mb() -> bytes:
    line = b"(The quick brown fox jumps over the lazy dog and on and on.) Tj T* "
    content = b"BT /F 8 Tf 8 TL 20 820 Td " + line * (20_000_000 // len(line)) + b" ET"
    return raw([CATALOG, PAGES, PAGE, stream(content), FONT])


def looping_page_tree() -> bytes:
    loop = b"<< /Type /Pages /Kids [3 0 R 2 0 R] /Count 9 /Parent 2 0 R >>"
    return raw([CATALOG, loop, PAGE, stream(b"BT /F 12 Tf 72 700 Td (1 Scope) Tj ET"), FONT])


def impossible_page_count() -> bytes:
    return raw([CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count -1 >>", PAGE, stream(b""), FONT])


def inflating() -> bytes:
    """A thousandfold twice over: 300 MB from one kilobyte."""
    bomb = zlib.compress(zlib.compress(b" " * 300_000_000, 9), 9)
    body = b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n%s\nendstream" % (len(bomb), bomb)
    return raw([CATALOG, PAGES, PAGE, body, FONT])


def script_and_attachment() -> bytes:
    document = standard()
    document.embfile_add("evil.exe", b"MZ not really")
    action = document.get_new_xref()
    document.update_object(action, "<< /S /JavaScript /JS (app.alert\\(1\\)) >>")
    document.xref_set_key(document.pdf_catalog(), "OpenAction", f"{action} 0 R")
    return bytes(document.tobytes())


def looping_outline() -> bytes:
    root = b"<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>"
    item = b"<< /Title (1 Scope) /Parent 6 0 R /Next 7 0 R /Prev 7 0 R /First 7 0 R /Last 7 0 R /Dest [3 0 R /Fit] >>"
    outlines = b"<< /Type /Outlines /First 7 0 R /Last 7 0 R /Count 1 >>"
    return raw([root, PAGES, PAGE, stream(b"BT /F 12 Tf 72 700 Td (1 Scope) Tj ET"), FONT, outlines, item])


def deep_outline() -> bytes:
    document = standard(2)
    document.set_toc([[level, f"{'.'.join(['1'] * level)} Deep", 1] for level in range(1, 400)])
    return bytes(document.tobytes())


def font_without_unicode() -> bytes:
    """Glyph codes that no map gives a character for."""
    font = (
        b"<< /Type /Font /Subtype /Type0 /BaseFont /Nothing /Encoding /Identity-H /DescendantFonts [<< /Type /Font "
        b"/Subtype /CIDFontType2 /BaseFont /Nothing "
        b"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>] >>"
    )
    return raw([CATALOG, PAGES, PAGE, stream(b"BT /F 12 Tf 72 700 Td <00010002000300040005> Tj ET"), font])


def foreign_scripts() -> bytes:
    document = standard(2)
    page = document.new_page()
    page.insert_htmlbox(pymupdf.Rect(72, 72, 500, 400), "<p>適用範囲 この規格</p><p dir='rtl'>نطاق الوثيقة</p>")
    return bytes(document.tobytes())


def no_pages() -> bytes:
    return raw([CATALOG, b"<< /Type /Pages /Kids [] /Count 0 >>"])


def script_in_text() -> bytes:
    return bytes(standard(2, "<script>alert(1)</script> [x](javascript:alert(1)) $\\frac{1}{2}$ \x07").tobytes())


# Case → (how it is made, what comes of it: a pattern of the error message, or None where it is read)
CASES: dict[str, tuple[Callable[[], bytes], str | None]] = {
    "not a PDF": (not_a_pdf, "not a PDF"),
    "empty": (lambda: b"", "empty"),
    "truncated": (truncated, "damaged"),
    "damaged cross-references": (damaged_xref, None),
    "password needed": (password, "password"),
    "permission-encrypted": (permissions, None),
    "scanned only": (scanned, None),
    "5,000 pages": (many_pages, "5,?000 pages"),
    "no pages": (no_pages, "no pages"),
    "one page of 20 MB": (page_of_20_mb, None),
    "page tree with a loop": (looping_page_tree, "damaged"),
    "impossible number of pages": (impossible_page_count, "damaged and cannot be opened"),
    "inflates a millionfold": (inflating, None),
    "JavaScript and attachment": (script_and_attachment, None),
    "outline with a loop": (looping_outline, None),
    "outline 400 deep": (deep_outline, None),
    "font without a Unicode map": (font_without_unicode, None),
    "CJK and right-to-left": (foreign_scripts, None),
    "script in the text": (script_in_text, None),
}
