"""Printed rows outside tables and drawings → paragraphs, list items, notes, captions, code, formulas and their like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence

from normrag_core.ingest.code import code_draft, is_code, is_labelled_code
from normrag_core.ingest.drafts import Draft, Printed, Row, Vocabulary, append, rect
from normrag_core.ingest.kinds import STEP, Frame, ends, is_formula, is_fragment, kind_of, label_of
from normrag_core.ingest.layout import PageLine
from normrag_core.ingest.scripts import prose
from normrag_core.ingest.unruled import run_of_columns, unruled_table
from normrag_core.model import BlockKind

_HANGING = ("list", "note", "example", "reference", "definition")

Stop = tuple[int, int]  # where a term and its text begin, in units of two points


def blocks(rows: Sequence[Row], frame: Frame, vocabulary: Vocabulary, stops: Container[Stop] = ()) -> list[Draft]:
    """Rows of one page, in order, as blocks. stops: see `tab_stops`."""
    drafts: list[Draft] = []
    at = 0
    while at < len(rows):
        at = _take(drafts, rows, at, frame, vocabulary, stops)
    return drafts


def _take(
    drafts: list[Draft], rows: Sequence[Row], at: int, frame: Frame, vocabulary: Vocabulary, stops: Container[Stop]
) -> int:
    """Put row `at`, and those that only make sense with it, into a new block or the last; the index of the next row."""
    row, above = rows[at], rows[at - 1] if at else None
    kind = kind_of(row, above, frame)
    open_ = drafts[-1] if drafts and drafts[-1].rows and drafts[-1].rows[-1] is above else None
    if open_ is not None and _flows_on(open_, row, frame) and _goes_on(open_, row, kind, frame):
        extend(open_, row, vocabulary)
        return at + 1
    stop = run_of_columns(rows, at)
    if stop > at:
        drafts.append(unruled_table(rows[at:stop], vocabulary))
        return stop
    if _is_pair(row, stops, frame):
        drafts.append(start("definition", row, vocabulary))
        drafts[-1].printed[1].before = "\t"
        return at + 1
    labelled = is_labelled_code(row)
    if labelled or is_code(rows, at):
        stop = at + 1
        while (
            stop < len(rows)
            and is_code(rows, stop)
            and rows[stop].baseline - rows[stop - 1].baseline < (1.7 if labelled else 4) * row.size
        ):
            stop += 1
        drafts.append(code_draft(rows[at:stop]))
        drafts[-1].kind = label_of(row)
        return stop
    if kind == "paragraph" and is_formula(row, frame):
        begin, stop = at, at + 1
        while drafts and _belongs_above(drafts[-1], rows[begin], frame):
            begin -= len(drafts.pop().rows)
        while stop < len(rows) and _of_formula(rows[stop], rows[stop - 1], frame):
            stop += 1
        if drafts and drafts[-1].kind == "formula" and rows[begin].box[1] - drafts[-1].rows[-1].box[3] < 0.5 * row.size:
            begin -= len(drafts.pop().rows)
        drafts.append(_formula(rows[begin:stop]))
        return stop
    if open_ is not None and above is not None and _goes_on(open_, row, kind, frame):
        extend(open_, row, vocabulary, hard=_broken_early(above, row, frame))
    else:
        drafts.append(start(kind, row, vocabulary))
    return at + 1


def _flows_on(block: Draft, row: Row, frame: Frame) -> bool:
    """Whether a row stands where the block's text goes on and the row above is full: then it is text, whatever it looks like.

    A line of prose may hold nothing but names in a typewriter font, or "PID=0x0011.".
    """
    above = block.rows[-1]
    if block.kind == "caption":
        return True
    if block.kind not in (*_HANGING, "paragraph") or _broken_early(above, row, frame):
        return False
    if block.kind in ("note", "example") and above.mono > 0.6:
        return False
    expected = above.box[0] if len(block.rows) > 1 or block.kind == "paragraph" else block.hang
    return abs(row.box[0] - expected) < 3


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
    if len(row.lines) < 2 or not all(row.texts[:2]) or "=" in row.texts[0] or _stop(row) not in stops:
        return False
    return row.lines[1].bbox[0] - row.lines[0].bbox[0] > 20 and kind_of(row, None, frame) in ("paragraph", "definition")


def _of_formula(row: Row, above: Row, frame: Frame) -> bool:
    if row.baseline - above.baseline > 1.5 * max(row.size, above.size) or kind_of(row, above, frame) != "paragraph":
        return False
    return row.box[0] >= frame.left + 10 and (is_formula(row, frame) or is_fragment(row))


def _belongs_above(last: Draft, row: Row, frame: Frame) -> bool:
    """Whether the block above a formula is a numerator or a limit that stands on it."""
    if last.kind != "paragraph" or len(last.rows) != 1:
        return False
    above = last.rows[0]
    return (
        above.box[0] >= frame.left + 10
        and is_fragment(above)
        and row.baseline - above.baseline < 1.5 * max(row.size, above.size)
    )


def _formula(rows: Sequence[Row]) -> Draft:
    printed: list[Printed] = []
    for row in rows:
        before = "\n"
        for line, text in zip(row.lines, row.texts, strict=True):
            if text:
                printed.append(Printed(text, rect(line), before))
                before = " "
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


def _goes_on(last: Draft, row: Row, kind: BlockKind, frame: Frame) -> bool:
    """Whether the row, the next below a block, belongs to it."""
    above = last.rows[-1]
    if last.kind in ("code", "formula", "table", "figure") or kind not in ("paragraph", "definition"):
        return False
    size = max(above.size, row.size)
    if row.baseline - above.baseline > STEP * size + _script_room(above, row):
        return False
    if last.kind == "caption":
        return row.bold == above.bold and abs(row.size - above.size) < 0.6
    if kind == "definition" and abs(row.box[0] - last.rows[0].box[0]) < 3 and ends(above.text):
        return False
    if abs(row.size - above.size) > 1.6 or (
        row.bold != above.bold and len(last.rows) == 1 and above.bold and last.kind == "paragraph"
    ):
        return False
    x = row.box[0]
    if last.kind in _HANGING:
        return x > last.rows[0].box[0] + 3 or abs(x - last.hang) < 3
    if x > above.box[0] + 12 and len(last.rows) >= 1 and ends(above.text):
        return False
    return x >= last.rows[0].box[0] - 3 or abs(x - frame.left) < 3


def _script_room(above: Row, row: Row) -> float:
    """Rows with sub- or superscripts stand a little further apart."""
    scripted = any(s.script for r in (above, row) for line in r.lines for s in line.spans)
    return 0.2 * row.size if scripted else 0.0


def _broken_early(above: Row, row: Row, frame: Frame) -> bool:
    """Whether the first word of the row would have fitted on the one above: then the break is meant."""
    if above.box[2] > frame.left + 0.6 * frame.width and not ends(above.text):
        return False
    line = row.lines[0]
    word = line.text.split(" ", 1)[0]
    width = (line.bbox[2] - line.bbox[0]) * len(word) / max(len(line.text), 1)
    return above.box[2] + width + 0.6 * row.size + 12 < frame.right and not above.text.endswith("-")


def set_levels(drafts: Sequence[Draft]) -> None:
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
