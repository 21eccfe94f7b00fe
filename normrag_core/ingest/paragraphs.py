"""Printed rows outside tables and drawings → paragraphs, list items, notes, captions, code, formulas and their like."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from normrag_core.ingest.code import code_draft, is_code, is_labelled_code
from normrag_core.ingest.drafts import Draft, Printed, Row, Vocabulary, append, rect
from normrag_core.ingest.layout import PageLine
from normrag_core.ingest.scripts import prose
from normrag_core.ingest.unruled import run_of_columns, unruled_table
from normrag_core.model import BlockKind

CAPTION = re.compile(
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
_INLINE_ITEM = re.compile(r"(?:[•▪●○◦■➢]\s*|[–—-]\s+|\(?(?:\d{1,2}|[ivx]{1,5})\)\s+|\(?[a-z]{1,2}\d?\)\s*)(?=\S)")
MATH = re.compile(r"[=∑∏∫√≤≥≠±∈∉⊕⊗×÷π∞≈≡∀∃⎡-⎳⌊⌋⌈⌉←→⇔⇒]")
_MATH_FONT = ("symbol", "math", "mtextra", "mt-extra", "cmsy", "cmmi")
_WORD = re.compile(r"[^\W\d_]{4,}")
_TAG = re.compile(r"</?sub>")
_HANGING = ("list", "note", "example", "reference", "definition")
_STEP = 1.62  # baselines further apart than this many type sizes part two paragraphs


Stop = tuple[int, int]  # where a term and its text begin, in units of two points


@dataclass(frozen=True, slots=True)
class Frame:
    """The text area of a page, points."""

    left: float
    right: float

    @property
    def width(self) -> float:
        """Width of a full line."""
        return self.right - self.left


def blocks(rows: Sequence[Row], frame: Frame, vocabulary: Vocabulary, stops: Container[Stop] = ()) -> list[Draft]:
    """Rows of one page, in order, as blocks. stops: see `tab_stops`."""
    drafts: list[Draft] = []
    at = 0
    while at < len(rows):
        row = rows[at]
        stop = run_of_columns(rows, at)
        if stop > at:
            drafts.append(unruled_table(rows[at:stop], vocabulary))
            at = stop
            continue
        if _is_pair(row, stops, frame):
            drafts.append(start("definition", row, vocabulary))
            drafts[-1].printed[1].before = "\t"
            at += 1
            continue
        if is_code(rows, at):
            stop = at + 1
            while stop < len(rows) and is_code(rows, stop) and rows[stop].baseline - rows[stop - 1].baseline < 4 * row.size:
                stop += 1
            drafts.append(code_draft(rows[at:stop]))
            drafts[-1].kind = _labelled(row)
            at = stop
            continue
        if is_formula(row, frame) and kind_of(row, None, frame) == "paragraph":
            begin, stop = at, at + 1
            while drafts and _belongs_above(drafts[-1], rows[begin], frame):
                begin -= len(drafts.pop().rows)
            while stop < len(rows) and _of_formula(rows[stop], rows[stop - 1], frame):
                stop += 1
            drafts.append(_formula(rows[begin:stop]))
            at = stop
            continue
        if is_labelled_code(row):
            stop = at + 1
            while stop < len(rows) and is_code(rows, stop) and rows[stop].baseline - rows[stop - 1].baseline < 1.7 * row.size:
                stop += 1
            drafts.append(code_draft(rows[at:stop]))
            drafts[-1].kind = _labelled(row)
            at = stop
            continue
        last = drafts[-1] if drafts else None
        above = rows[at - 1] if at else None
        kind = kind_of(row, above, frame)
        if (
            last is not None
            and above is not None
            and last.rows
            and last.rows[-1] is above
            and _goes_on(last, above, row, kind, frame)
        ):
            extend(last, row, vocabulary, hard=_broken_early(above, row, frame))
        else:
            drafts.append(start(kind, row, vocabulary))
        at += 1
    _set_levels(drafts)
    return drafts


def _labelled(row: Row) -> BlockKind:
    """Kind of a block of code by the label before it."""
    return "example" if _EXAMPLE.match(row.text) else "note" if _NOTE.match(row.text) else "code"


def tab_stops(rows: Iterable[Row], frame: Frame) -> set[Stop]:
    """Places (x of the term, x of its text) at which three rows or more are set as pairs: symbols and abbreviations."""
    counts: Counter[Stop] = Counter()
    for row in rows:
        if len(row.lines) > 1 and kind_of(row, None, frame) in ("paragraph", "definition"):
            counts[_stop(row)] += 1
    return {(a, b) for a, b in counts if sum(counts[a + i, b + k] for i in (-1, 0, 1) for k in (-1, 0, 1)) >= 3}


def _stop(row: Row) -> Stop:
    return round(row.lines[0].bbox[0] / 2), round(row.lines[1].bbox[0] / 2)


def _is_pair(row: Row, stops: Container[Stop], frame: Frame) -> bool:
    if (
        len(row.lines) < 2
        or not row.texts[0]
        or not row.texts[1]
        or kind_of(row, None, frame) not in ("paragraph", "definition")
    ):
        return False
    return _stop(row) in stops and row.lines[1].bbox[0] - row.lines[0].bbox[0] > 20


def kind_of(row: Row, above: Row | None, frame: Frame) -> BlockKind:
    """What a block that begins with this row is."""
    first, text = row.texts[0], row.text
    if is_caption(row, frame):
        return "caption"
    if _NOTE.match(text):
        return "note"
    if _EXAMPLE.match(text):
        return "example"
    if _REFERENCE.fullmatch(first) and (
        len(row.texts) > 1 or above is None or row.baseline - above.baseline > _STEP * row.size
    ):
        return "reference"
    if len(row.texts) > 1 and ((_BULLET.fullmatch(first) and not MATH.search(first)) or _MARKER.fullmatch(first)):
        return "list"
    if _INLINE_ITEM.match(text) and (
        above is None or row.baseline - above.baseline > _STEP * row.size or row.box[0] > frame.left + 8
    ):
        return "list"
    if _is_definition(row):
        return "definition"
    return "paragraph"


def is_caption(row: Row, frame: Frame) -> bool:
    """Whether the row begins a table's or figure's caption: bold, or centred with a colon; not a sentence about one."""
    if not CAPTION.match(row.text):
        return False
    centred = row.box[0] > frame.left + 20 and abs((row.box[0] + row.box[2]) - (frame.left + frame.right)) < 40
    return row.bold or row.lines[0].spans[0].bold or (centred and ":" in row.text[:24])


def _is_definition(row: Row) -> bool:
    """A bold term, a colon and plain text."""
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
    if centred and words <= 9 and re.search(r" [=<>≤≥] ", row.text) and not _ends(row.text):
        return True
    if row.box[0] < frame.left + 10 or words > 4:
        return False
    if MATH.search(row.text) or re.search(r"\^.*[+/−]", row.text):
        return True
    return any(name in s.font.lower() for line in row.lines for s in line.spans if s.text.strip() for name in _MATH_FONT)


def _of_formula(row: Row, above: Row, frame: Frame) -> bool:
    if row.baseline - above.baseline > 1.5 * max(row.size, above.size) or kind_of(row, above, frame) != "paragraph":
        return False
    return row.box[0] >= frame.left + 10 and (is_formula(row, frame) or _is_fragment(row))


def _belongs_above(last: Draft, row: Row, frame: Frame) -> bool:
    """Whether the block above a formula is a numerator or a limit that stands on it."""
    if last.kind != "paragraph" or len(last.rows) != 1:
        return False
    above = last.rows[0]
    return (
        above.box[0] >= frame.left + 10
        and _is_fragment(above)
        and row.baseline - above.baseline < 1.5 * max(row.size, above.size)
    )


def _is_fragment(row: Row) -> bool:
    """A few letters without a word: a numerator, a limit of a sum."""
    return not _WORD.search(_TAG.sub("", row.text)) and len(_TAG.sub("", row.text)) <= 16


def _formula(rows: Sequence[Row]) -> Draft:
    printed = [Printed(row.text, rect(row.lines[0]), "\n") for row in rows if len(row.lines) == 1]
    if len(printed) != len(rows):
        printed = [
            Printed(text, rect(line), " " if i else "\n")
            for row in rows
            for i, (line, text) in enumerate((line, text) for line, text in zip(row.lines, row.texts, strict=True) if text)
        ]
    return Draft("formula", printed, rows=list(rows))


def start(kind: BlockKind, row: Row, vocabulary: Vocabulary) -> Draft:
    """A block begun with a row. hang: where its further rows are expected to begin."""
    draft = Draft(kind, rows=[row])
    draft.hang = row.lines[1].bbox[0] if kind in _HANGING and len(row.lines) > 1 else row.box[0]
    _add(draft, row.lines, vocabulary, False)
    return draft


def extend(draft: Draft, row: Row, vocabulary: Vocabulary, hard: bool = False) -> None:
    """Add a row; hard: the line break was meant and stays."""
    _add(draft, row.lines, vocabulary, hard)
    draft.rows.append(row)


def _add(draft: Draft, lines: Sequence[PageLine], vocabulary: Vocabulary, hard: bool) -> None:
    for index, line in enumerate(lines):
        text = prose(line)
        if text:
            append(draft.printed, Printed(text, rect(line), "\n" if hard and index == 0 else " "), vocabulary)


def _goes_on(last: Draft, above: Row, row: Row, kind: BlockKind, frame: Frame) -> bool:
    """Whether the row belongs to the block that the row above it belongs to."""
    if last.kind in ("code", "formula", "table", "figure") or kind not in ("paragraph", "definition"):
        return False
    size = max(above.size, row.size)
    if row.baseline - above.baseline > _STEP * size + _script_room(above, row):
        return False
    if last.kind == "caption":
        return row.bold == above.bold and abs(row.size - above.size) < 0.6
    if kind == "definition" and abs(row.box[0] - last.rows[0].box[0]) < 3 and not _plain_end(above):
        return False
    if abs(row.size - above.size) > 1.6 or (
        row.bold != above.bold and len(last.rows) == 1 and above.bold and last.kind == "paragraph"
    ):
        return False
    x = row.box[0]
    if last.kind in _HANGING:
        return x > last.rows[0].box[0] + 3 or abs(x - last.hang) < 3
    if x > above.box[0] + 12 and len(last.rows) >= 1 and _ends(above.text):
        return False
    return x >= last.rows[0].box[0] - 3 or abs(x - frame.left) < 3


def _plain_end(row: Row) -> bool:
    return not _ends(row.text)


def _ends(text: str) -> bool:
    return text.rstrip().endswith((".", ":", ";", "?", "!"))


def _script_room(above: Row, row: Row) -> float:
    """Rows with sub- or superscripts stand a little further apart."""
    scripted = any(s.script for r in (above, row) for line in r.lines for s in line.spans)
    return 0.2 * row.size if scripted else 0.0


def _broken_early(above: Row, row: Row, frame: Frame) -> bool:
    """Whether the first word of the row would have fitted on the one above: then the break is meant."""
    if above.box[2] > frame.left + 0.6 * frame.width and not _ends(above.text):
        return False
    line = row.lines[0]
    word = line.text.split(" ", 1)[0]
    width = (line.bbox[2] - line.bbox[0]) * len(word) / max(len(line.text), 1)
    return above.box[2] + width + 0.6 * row.size + 12 < frame.right and not above.text.endswith("-")


def _set_levels(drafts: Sequence[Draft]) -> None:
    """Depth of list items from the places of their markers; a paragraph at the margin ends the list."""
    stack: list[float] = []
    for draft in drafts:
        if draft.kind != "list":
            if draft.kind in ("paragraph", "definition") and stack and draft.rows and draft.rows[0].box[0] < stack[0] - 3:
                stack = []
            continue
        x = draft.rows[0].box[0]
        while stack and x < stack[-1] - 4:
            stack.pop()
        if not stack or x > stack[-1] + 4:
            stack.append(x)
        draft.level = len(stack) - 1
