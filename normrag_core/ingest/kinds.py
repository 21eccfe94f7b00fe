"""What a printed row is: the beginning of a caption, note, list item, reference, definition, a formula or plain prose."""

from __future__ import annotations

import re
from dataclasses import dataclass

from normrag_core.ingest.drafts import Row
from normrag_core.model import BlockKind

_CAPTION = re.compile(
    r"(Table|Figure)\s+(?:[A-Z]{1,2}\.?)?\d[\w.\-]*(?:\([a-z0-9]\))?\s*(?:\((?:continued|concluded)\)\s*)?(?:[:.–—-]|$|\s)",
    re.I,
)
_NOTE = re.compile(r"NOTES?(?:\s*\d+)?(?:\s*\([^)]*\))?\s*[:–-]|Note(?:\s*\d+)?\s*:|(?:Editor's|Editor’s) Note", re.M)
_EXAMPLE = re.compile(r"(?:EXAMPLES?|Example)(?:\s*\d+)?(?:\s*\([^)]*\))?\s*:")
_REFERENCE = re.compile(r"\[(?:i\.)?\d+[a-z]?\]")
_BULLET = re.compile(r"[^\w\s\[\](){}<>\"'.,;:=+/]|o")  # U+FFFD too: a glyph without a code (TR 101 190, page 47)
_MARKER = re.compile(
    r"\(?(?:\d{1,2}|[a-z]{1,2}\d?|[ivx]{1,5})\)|\d{1,2}\.|[a-z]\.|\(?(?:\d{1,2}|[A-Z])\)|step\s\d+[:.)]?|\d{1,2}(?:\.\d{1,2}){1,3}\)?",
    re.I,
)
_INLINE_ITEM = re.compile(
    r"(?:[•▪●○◦■➢]\s*|[–—-]\s+|\(?(?:\d{1,2}|[ivx]{1,5})\)\s+|\d{1,2}\.\s+(?=[A-Z])|\(?[a-z]{1,2}\d?\)\s*)(?=\S)"
)
MATH = re.compile(r"[=∑∏∫√≤≥≠±∈∉⊕⊗×÷π∞≈≡∀∃⎡-⎳\uf8e0-\uf8ff⌊⌋⌈⌉←→⇔⇒]")
_MATH_FONT = ("symbol", "math", "mtextra", "mt-extra", "cmsy", "cmmi")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]{4,}")
_TAG = re.compile(r"</?sub>")
STEP = 1.62  # baselines further apart than this many type sizes part two paragraphs


@dataclass(frozen=True, slots=True)
class Frame:
    """The text area of a page, points."""

    left: float
    right: float

    @property
    def width(self) -> float:
        """Width of a full line."""
        return self.right - self.left


def kind_of(row: Row, above: Row | None, frame: Frame) -> BlockKind:
    """What a block that begins with this row is."""
    first, text = row.texts[0], row.text
    if is_caption(row, frame):
        return "caption"
    if _NOTE.match(text):
        return "note"
    if _EXAMPLE.match(text):
        return "example"
    if _REFERENCE.fullmatch(first) and (len(row.texts) > 1 or above is None or row.baseline - above.baseline > STEP * row.size):
        return "reference"
    if any(_LETTER.search(t) for t in row.texts[1:]) and (
        (_BULLET.fullmatch(first) and not MATH.search(first)) or _MARKER.fullmatch(first)
    ):
        return "list"
    if _INLINE_ITEM.match(text) and (
        above is None or row.baseline - above.baseline > STEP * row.size or row.box[0] > frame.left + 8
    ):
        return "list"
    if _is_definition(row):
        return "definition"
    return "paragraph"


def is_caption(row: Row, frame: Frame) -> bool:
    """Whether the row begins a table's or figure's caption: bold, or centred with a colon; not a sentence about one."""
    if not _CAPTION.match(row.text):
        return False
    centred = row.box[0] > frame.left + 20 and abs((row.box[0] + row.box[2]) - (frame.left + frame.right)) < 40
    return row.bold or row.lines[0].spans[0].bold or (centred and ":" in row.text[:24])


def _is_definition(row: Row) -> bool:
    """A bold term, a colon and plain text; or a short term with a colon, set apart from its text."""
    if len(row.texts) > 1 and row.texts[0].endswith(":") and 1 < len(row.texts[0]) <= 40 and row.texts[1]:
        return True
    spans = [s for line in row.lines for s in line.spans if s.text.strip()]
    if not spans[0].bold:
        return False
    lead = 0
    while lead < len(spans) and spans[lead].bold:
        lead += 1
    term = "".join(s.text for s in spans[:lead]).rstrip()
    rest = "".join(s.text for s in spans[lead:]).lstrip()
    return bool(rest) and (term.endswith(":") or rest.startswith(":")) and len(term) < 80


def is_formula(row: Row, frame: Frame) -> bool:
    """Set off from the margin, with an operator or a symbol font, and next to no words."""
    words = len(_WORD.findall(row.text))
    centred = row.box[0] > frame.left + 40 and abs((row.box[0] + row.box[2]) - (frame.left + frame.right)) < 60
    narrow = row.box[2] - row.box[0] < 0.75 * frame.width
    if centred and narrow and words <= 9 and re.search(r" [=<>≤≥] ", row.text) and not ends(row.text):
        return True
    if row.box[0] < frame.left + 10 or words > 4 or '"' in row.text:
        return False
    if MATH.search(row.text) or re.search(r"\^.*[+/−]", row.text):
        return True
    return any(name in s.font.lower() for line in row.lines for s in line.spans if s.text.strip() for name in _MATH_FONT)


def is_fragment(row: Row) -> bool:
    """A few letters without a word: a numerator, a limit of a sum."""
    return not _WORD.search(_TAG.sub("", row.text)) and len(_TAG.sub("", row.text)) <= 16


def ends(text: str) -> bool:
    return text.rstrip().endswith((".", ":", ";", "?", "!"))


def label_of(row: Row) -> BlockKind:
    """Kind of a block of code by the label before it ("EXAMPLE 1:")."""
    return "example" if _EXAMPLE.match(row.text) else "note" if _NOTE.match(row.text) else "code"
