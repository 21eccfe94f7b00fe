"""Blocks onto pages, in the look of a standard, with the truth noted on the way.

Sizes follow common practice: headings of 18, 16, 14, 12 and 11 points, text of 10 points, tables of 9 points.
"""

from __future__ import annotations

import re
from dataclasses import replace

import figures
from canvas import Canvas, text_width
from front import Contents, Entry, cover, furniture, notice
from headings import set_heading
from lines import Fragment, Word, break_lines, words_of
from source import Block, Cite, Run, Source, inline, plain
from tables import set_table
from truth import Citation, Truth, Unit

LEFT, RIGHT, TOP, BOTTOM = 57.0, 541.0, 84.0, 788.0


class Typesetter:
    """Lays out one source. `earlier`: the pass before this one; it knows the page of every heading."""

    def __init__(self, source: Source, earlier: Typesetter | None = None) -> None:
        self.source = source
        self.known = earlier.places if earlier else {}
        self.old = source["style"] == "ets90"
        self.family = "sans" if self.old else "serif"
        self.hyphen = {"real": "-", "soft": "\u00ad"}.get(source["hyphens"], "")
        self.pages: list[Canvas] = []
        self.truth = Truth(source)
        self.truth.units.append(Unit("", "", source["title"], "document", None, 1, 0.0))
        self.outline: list[tuple[int, str, int, float]] = []
        self.places: dict[str, tuple[int, float]] = {}
        self.contents = Contents(source, earlier.entries if earlier else [])
        self.entries: list[Entry] = []
        self.informative, self.y = False, TOP
        self.gaps: list[str] = []

    # -- pages -------------------------------------------------------------------------------------------------------

    @property
    def page(self) -> Canvas:
        return self.pages[-1]

    @property
    def unit(self) -> Unit:
        return self.truth.units[-1]

    def new_page(self) -> None:
        """Start a page with its running header and footer."""
        self.pages.append(Canvas())
        furniture(self.page, self.source, len(self.pages))
        self.y = TOP

    def need(self, height: float) -> None:
        """Start a page unless `height` points are left on this one."""
        if self.y + height > BOTTOM:
            self.new_page()

    def printed(self) -> str:
        """Printed number of the current page."""
        return str(len(self.pages) - int(self.source["offset"] or 0))

    def run(self) -> None:
        """Lay out the whole document."""
        self.pages.append(Canvas())
        cover(self.page, self.source)
        self.pages.append(Canvas())
        furniture(self.page, self.source, 2)
        notice(self.page, self.source)
        self.new_page()
        self.contents.draw(self._next, self.page)
        self.y = BOTTOM
        for block, after in zip(self.source.blocks, [*self.source.blocks[1:], None], strict=True):
            self.follower = after.kind if after else ""
            getattr(self, f"do_{block.kind}")(block)
        self.truth.pages = len(self.pages)

    def _next(self) -> Canvas:
        self.new_page()
        return self.page

    # -- text --------------------------------------------------------------------------------------------------------

    def runs(self, text: str) -> tuple[list[Run], int]:
        """Parse marked text; its citations join the truth. Gives the runs and the index of the first citation."""
        cites: list[Cite] = []
        runs = inline(text, cites)
        base = len(self.truth.citations)
        for cite in cites:
            self.truth.citations.append(Citation(self.unit.key, self.informative or self.quiet, cite.targets, cite.lookup))
        return [r if r.cite is None else replace(r, cite=r.cite + base) for r in runs], base

    quiet = False
    """Inside a note or an example, which are informative wherever they stand."""
    follower = ""
    """Kind of the next block; a heading keeps together with the beginning of what follows it."""

    def draw_line(self, words: list[Word], x: float, size: float, centre: bool = False, width: float = 0.0) -> None:
        """Print one line of words with its baseline at self.y."""
        space = text_width(" ", words[0].fragments[0].font, size)
        if centre:
            total = sum(w.width for w in words) + space * sum(not w.glued for w in words[1:])
            x += (width - total) / 2
        start, text = x, ""
        segment: Fragment | None = None
        begin = x
        for i, word in enumerate(words):
            gap = " " if i and not word.glued else ""
            text += gap + "".join(f.text for f in word.fragments)
            for j, fragment in enumerate(word.fragments):
                lead = gap if j == 0 else ""
                same = segment and (segment.font, segment.size, segment.rise) == (fragment.font, fragment.size, fragment.rise)
                if segment and same:
                    segment = replace(segment, text=segment.text + lead + fragment.text)
                else:
                    if segment:
                        self._print(segment, begin)
                    begin = x
                    segment = replace(fragment, text=lead + fragment.text)
                x += (space if lead else 0.0) + fragment.width
                if fragment.cite is not None:
                    self._note_citation(fragment, lead, x, size)
        if segment:
            self._print(segment, begin)
        unit = self.unit
        if unit.body and unit.first_line is None:
            box = [round(v, 1) for v in (start, self.y - size * 0.75, x, self.y + size * 0.22)]
            unit.first_line = {"unit": unit.key, "page": len(self.pages), "text": text, "rect": box}

    def _print(self, fragment: Fragment, x: float) -> None:
        self.page.text(x, self.y - fragment.rise, fragment.text, fragment.font, fragment.size)

    def _note_citation(self, fragment: Fragment, lead: str, end: float, size: float) -> None:
        cited = self.truth.citations[fragment.cite or 0]
        page, top, bottom = len(self.pages), round(self.y - size * 0.75, 1), round(self.y + size * 0.22, 1)
        begin = round(end - fragment.width, 1)
        last = cited.boxes[-1] if cited.boxes else None
        if last and last[0] == page and abs(last[2] - top) < 1:
            cited.boxes[-1] = (page, last[1], top, round(end, 1), bottom)
            cited.text += lead + fragment.text
        else:
            cited.boxes.append((page, begin, top, round(end, 1), bottom))
            cited.text += (" " if cited.text else "") + fragment.text
        own = bool(cited.targets) and not any(t.document for t in cited.targets)
        if self.source.on("links") and (own or fragment.text.startswith("[")):
            self._link(fragment.text, begin, top, bottom)

    def _link(self, text: str, x: float, top: float, bottom: float) -> None:
        """A link over the number of a clause of this document, or over a reference in brackets."""
        code = text.strip("().,;")
        if code in self.known:
            page, y = self.known[code]
            self.page.links.append(((x, top, x + text_width(code, self.family, 10), bottom), page, y))

    def flow(
        self, words: list[Word], x: float, size: float = 10.0, leading: float = 11.5, after: float = 9.0, right: float = RIGHT
    ) -> None:
        """Print words as a paragraph between x and `right`, over as many pages as it takes."""
        for line, page_ends in break_lines(words, right - x, size, self.hyphen):
            if self.y > BOTTOM:
                self.new_page()
            self.draw_line(line, x, size)
            self.y += leading
            if page_ends:
                self.gaps.append(f"{self.source.name} page {len(self.pages)}: {BOTTOM - self.y:.0f} pt left at a forced break")
                self.new_page()
        self.y += after

    def say(self, text: str) -> None:
        """Note text as part of the current unit's body."""
        self.unit.body.append(text)

    # -- blocks ------------------------------------------------------------------------------------------------------

    def do_heading(self, block: Block) -> None:
        set_heading(self, block)

    def do_paragraph(self, block: Block) -> None:
        runs, _ = self.runs(block.text)
        for identifier in re.findall(r"\*\*([A-Z]{3}-[\d.]+-\d\d):\*\*", block.text):
            self.truth.owners[identifier.lower()] = self.unit.key
        definition = re.match(r"\*\*(.+?):\*\* (.*)", block.text)
        if definition and self.unit.title.lower() in {"terms", "definitions"}:
            self._term(definition[1], plain(inline(definition[2], [])), "definition")
        self.say(plain(runs))
        self.need(24)
        self.flow(words_of(runs, self.family, 10), LEFT)

    def _term(self, term: str, text: str, kind: str) -> None:
        self.truth.terms.append({"term": term, "text": text, "kind": kind, "unit": self.unit.key, "page": len(self.pages)})

    def _labelled(self, block: Block, at: float, x: float, after: float, text: str) -> None:
        runs, _ = self.runs(block.text)
        self.say(text + plain(runs))
        self.need(14)
        first = self.y
        self.page.text(at, first, block.label, self.family, 10)
        self.flow(words_of(runs, self.family, 10), x, after=after)

    def do_list(self, block: Block) -> None:
        mark = block if block.label != "-" or not block.level else replace(block, label="•")
        at = 71.0 + 24 * block.level
        self._labelled(mark, at, at + 18, 7, f"{mark.label} ")

    def do_note(self, block: Block) -> None:
        self.quiet = True
        mark = replace(block, label=f"{block.label}:")
        self._labelled(mark, 71, 71 + max(42, 9 + text_width(mark.label, self.family, 10)), 9, f"{mark.label} ")
        self.quiet = False

    do_example = do_note

    def do_term(self, block: Block) -> None:
        runs, _ = self.runs(block.text)
        kind = "symbol" if "symbol" in self.unit.title.lower() and "abbrev" not in self.unit.title.lower() else "abbreviation"
        self._term(plain(inline(block.label, [])), plain(runs), kind)
        self.say(f"{plain(inline(block.label, []))} {plain(runs)}")
        self.need(14)
        self.draw_line(words_of(inline(block.label, []), self.family, 10), 71, 10)
        self.flow(words_of(runs, self.family, 10), 142, after=1.5)

    def do_reference(self, block: Block) -> None:
        words = (block.options[0] if block.options else "").rsplit(" ", 1)
        dated = len(words) == 2 and bool(re.match(r"V\d|\(|[12]\d{3}-|Edition", words[1]))
        document = words[0] if dated else " ".join(words)
        title = re.search(r'"(.*)"', block.text)
        self.truth.references.append(
            {
                "label": block.label,
                "document": document,
                "version": words[1].strip("()") if dated else None,
                "title": title[1] if title else "",
                "page": len(self.pages),
                "informative": block.label.startswith("i."),
                "void": block.text.rstrip(".") == "Void",
            }
        )
        entry = replace(block, label=f"[{block.label}]")
        self.need(14)
        self.places[entry.label] = (len(self.pages), self.y)
        self._labelled(entry, 71, 142, 7, f"[{block.label}] ")

    def do_formula(self, block: Block) -> None:
        runs, _ = self.runs(block.text)
        self.say(f"{plain(runs)} {block.label}")
        self.truth.owners[f"formula {block.label}"] = self.unit.key
        self.need(24)
        self.y += 3
        words = words_of(runs, self.family, 11)
        self.draw_line(words, 142, 11)
        self.page.text(RIGHT - text_width(block.label, self.family, 10), self.y, block.label, self.family, 10)
        self.y += 22

    def do_code(self, block: Block) -> None:
        self.say("\n".join(block.rows))
        for row in block.rows:
            self.need(10)
            if row.strip():
                indent = len(row) - len(row.lstrip())
                self.page.text(LEFT + 14 + indent * 4.8, self.y, row.strip(), "mono", 8)
            self.y += 9.6
        self.y += 10

    def do_directive(self, block: Block) -> None:
        if block.text == "newpage":
            self.new_page()
        else:
            self.y += float(block.text.removeprefix("space "))

    def caption(self, kind: str, label: str, title: str, more: str = "") -> None:
        """A centred caption."""
        text = f"{kind} {label}: {title}{more}"
        runs, _ = self.runs(text)
        for line, _ in break_lines(words_of(runs, "sans-bold", 10), 420, 10):
            self.draw_line(line, LEFT, 10, centre=True, width=RIGHT - LEFT)
            self.y += 12
        if not more:
            self.truth.owners[f"{kind} {label}".lower()] = self.unit.key
            self.say(plain(runs))

    def do_table(self, block: Block) -> None:
        set_table(self, block)

    def do_figure(self, block: Block) -> None:
        height = float(block.options[0])
        self.need(height + 34)
        words = figures.draw(self.page, block.rows, (LEFT + RIGHT) / 2 - 200, self.y - 6)
        self.y += height + 8
        entry = {"label": f"Figure {block.label}", "title": block.text, "unit": self.unit.key, "page": len(self.pages)}
        self.truth.captions.append(entry | {"words": words})
        self.caption("Figure", block.label, block.text)
        self.y += 9
