"""Ruled tables, continued over pages with their head repeated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from canvas import text_width
from lines import Word, break_lines, words_of
from source import Block, plain

if TYPE_CHECKING:
    from layout import Typesetter

LEFT, RIGHT, BOTTOM = 57.0, 541.0, 788.0
SIZE, LEADING, PAD = 9.0, 10.4, 4.0


@dataclass(frozen=True, slots=True)
class Row:
    """A laid-out row: lines of words of each cell; one cell alone spans the table."""

    cells: tuple[tuple[list[Word], ...], ...]
    plain: tuple[str, ...]

    @property
    def height(self) -> float:
        return max(len(c) for c in self.cells) * LEADING + 5


def set_table(setter: Typesetter, block: Block) -> None:
    """Caption and rows; notes the caption, its pages and its cells."""
    shares = [float(o) for o in block.options if o.isdigit()]
    width = min(RIGHT - LEFT, 484.0)
    widths = [width * s / 100 for s in shares]
    x = LEFT + (width - sum(widths)) / 2
    setter.need(4 if "break" in block.options else 80)
    page = len(setter.pages)
    if block.label:
        setter.caption("Table", block.label, block.text)
        setter.y += 1
    if "break" in block.options:
        setter.gaps.append(f"{setter.source.name} page {page}: {BOTTOM - setter.y:.0f} pt left below a caption")
        setter.new_page()
    rows = []
    for i, line in enumerate(block.rows):
        rows.append(_row(setter, line, widths, i == 0))
        setter.say(" | ".join(rows[-1].plain))
    full = [r for r in rows[1:] if len(r.cells) == len(widths)]
    middle = [i > 0 and all(len(r.cells[i]) == 1 and _length(r.cells[i][0]) < 70 for r in full) for i in range(len(widths))]
    pages = [len(setter.pages)]
    for row in rows:
        if setter.y + row.height > BOTTOM:
            setter.new_page()
            pages.append(len(setter.pages))
            if "continued" in block.options:
                setter.caption("Table", block.label, block.text, " (continued)")
            _draw(setter, rows[0], x, widths, middle)
        _draw(setter, row, x, widths, middle)
    if block.label:
        entry = {"label": f"Table {block.label}", "title": block.text, "unit": setter.unit.key, "page": page}
        setter.truth.captions.append(entry | {"table_pages": pages, "rows": [list(r.plain) for r in rows]})
    setter.y += 16


def _length(words: list[Word]) -> float:
    return text_width(" ".join("".join(f.text for f in w.fragments) for w in words), "sans", SIZE)


def _row(setter: Typesetter, line: str, widths: list[float], head: bool) -> Row:
    cells = [c.strip() for c in line.split("|")]
    if len(cells) not in (1, len(widths)):
        raise ValueError(f"{setter.source.name}: expected {len(widths)} cells; found {len(cells)} in {line!r}")
    laid, texts = [], []
    for i, cell in enumerate(cells):
        runs, _ = setter.runs(f"**{cell}**" if head else cell)
        room = (widths[i] if len(cells) > 1 else sum(widths)) - 2 * PAD
        words = words_of(runs, "sans", SIZE)
        laid.append(tuple(part for part, _ in break_lines(words, room, SIZE)))
        texts.append(plain(runs))
    return Row(tuple(laid), tuple(texts))


def _draw(setter: Typesetter, row: Row, x: float, widths: list[float], middle: list[bool]) -> None:
    """Borders and text of one row; setter.y moves below it. middle: the columns whose text is centred."""
    top = setter.y - 8
    spans = widths if len(row.cells) == len(widths) else [sum(widths)]
    for cell, width, centre in zip(row.cells, spans, middle, strict=False):
        setter.page.box(x, top, width, row.height)
        for i, words in enumerate(cell):
            setter.y = top + 9.5 + i * LEADING
            setter.draw_line(words, x + PAD, SIZE, centre=centre, width=width - 2 * PAD)
        x += width
    setter.y = top + row.height + 8
