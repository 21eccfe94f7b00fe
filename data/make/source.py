"""The light markup in which the sample standards are written, read into blocks.

A source begins with `@name value` lines (identity and layout); after them, blocks are separated by blank lines:

    == 4.2.1 Title              heading; also `== Foreword`, `== Annex A (normative): Title`
    plain text                  paragraph
    - item / -- item            list item of the first / second level; `a) item`, `1) item` (`+` before it: second level)
    NOTE 1: / EXAMPLE: text     note, example
    ~ ABC | text                abbreviation or symbol
    [1] text => EN 399 001 V1.1.1      entry of the reference list; after `=>` the document and, where dated, its version
    $ E = m (3)                 formula, its number last
    |table 4 | Caption | 30 70 [break] [continued]      then one row a line, cells between ` | `, the first row is the head
                                (without a number there is no caption);
                                `break` parts the caption from its table by a page break, `continued` repeats the caption
    |figure 2 | Caption | 120   then drawing lines: box x y w h text, line/arrow x y x y, text x y text, curve x y x y ...
    ```                         code up to the next ```
    !newpage, !space 30         page break, vertical space in points

Inside text: `**bold**`, `^{superscript}`, `_{subscript}`, `\\p` (a page break in the middle of the sentence) and citations:
`{clause 5.2}`, `{annex B}`, `{table 3}`, `{GEN-6.1.1-04}` within the document; for others the targets follow `=>`,
separated by `;`: `{clauses 5 and 6 of EN 399 001 [1] => EN 399 001 5; EN 399 001 6}`. A version after the number is what
the citation is dated with. `{! text}` marks words that look like a citation and are none.

Settings: file, id, version, date, title, type, reference, keywords; style (`ets90`: the layout of the 1990s), body (its
committee); cover (`lines`: the number over three lines), numbers (`inline`: number and title in one text), offset (physical
minus printed page), second_header (a second line of the running header), bookmarks (`full`, `none` or a depth), links,
contents_depth, leader (`space`: around the dots), hyphens (`real`, `soft` or `none`), flowing (annexes need no new page),
metadata (`poor`: no title), protected (encrypted), informative (the whole document is).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

DOCUMENT = re.compile(
    r"((?:EN|ETS|TS|TR|ES|EG) \d{3} \d{3}(?:-\d+)?|3GPP T[RS] [\d.]+|[A-Z]+(?:/[A-Z]+)? [^\s;]+)"
    r"(?: (V\d+\.\d+\.\d+))?(?: (\S+))?$"
)
LIST = re.compile(r"(\+?)(--?|[a-z]\)|\d\)) (.*)", re.S)


@dataclass(frozen=True, slots=True)
class Block:
    """One block. label: number, list mark or reference label; rows: the lines of a table, figure or code block."""

    kind: str
    text: str = ""
    label: str = ""
    level: int = 0
    rows: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """What a citation means: document id ("" for the own document), dated version or None, clause code or ""."""

    document: str
    version: str | None
    code: str


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of text of one look. mark: "", "sup" or "sub". cite: index into the citations of the block, or None."""

    text: str
    bold: bool = False
    mark: str = ""
    cite: int | None = None


@dataclass(frozen=True, slots=True)
class Cite:
    """A marked citation (or, without targets, words that are none)."""

    targets: tuple[Target, ...]
    lookup: str = ""


@dataclass
class Source:
    """A document as written."""

    name: str
    settings: dict[str, str] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)

    def __getitem__(self, key: str) -> str:
        return self.settings.get(key, "")

    def on(self, key: str) -> bool:
        """Whether a yes/no setting is yes."""
        return self.settings.get(key, "no") == "yes"


def read_source(path: Path) -> Source:
    """Read one source file."""
    source = Source(path.stem)
    lines = path.read_text("utf8").splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("@"):
            key, _, value = line[1:].partition(" ")
            source.settings[key] = value.strip()
            at += 1
        elif not line.strip():
            at += 1
        elif line.startswith("```"):
            end = lines.index("```", at + 1)
            source.blocks.append(Block("code", rows=tuple(lines[at + 1 : end])))
            at = end + 1
        else:
            end = at
            while end < len(lines) and lines[end].strip():
                end += 1
            source.blocks += _blocks(lines[at:end], f"{path.name}:{at + 1}")
            at = end
    return source


def _blocks(lines: list[str], place: str) -> list[Block]:
    """The blocks of one group of lines. One-line kinds may follow each other without a blank line."""
    first = lines[0]
    if first.startswith("|"):
        head = [part.strip() for part in first[1:].split("|")]
        kind, _, label = head[0].partition(" ")
        return [Block(kind, head[1], label, rows=tuple(lines[1:]), options=tuple(" ".join(head[2:]).split()))]
    blocks: list[Block] = []
    for line in lines:
        starts = re.match(r"== |!|~ |\[|\$ |(NOTE|EXAMPLE)( \d+)?: |\+?(--?|[a-z]\)|\d\)) ", line)
        if starts or not blocks or blocks[-1].kind in {"heading", "formula", "term", "directive"}:
            blocks.append(_one(line.strip(), place))
        else:
            last = blocks[-1]
            blocks[-1] = Block(last.kind, f"{last.text} {line.strip()}", last.label, last.level, options=last.options)
    return blocks


def _one(line: str, place: str) -> Block:
    if line.startswith("== "):
        return Block("heading", line[3:])
    if line.startswith("!"):
        return Block("directive", line[1:])
    if line.startswith("$ "):
        text, _, number = line[2:].rpartition(" ")
        return Block("formula", text, number)
    if line.startswith("~ "):
        term, _, text = line[2:].partition(" | ")
        return Block("term", text, term)
    if match := re.match(r"\[((?:i\.)?\d+)\] (.*?)(?: => (.*))?$", line):
        return Block("reference", match[2], match[1], options=(match[3],) if match[3] else ())
    if match := re.match(r"((?:NOTE|EXAMPLE)(?: \d+)?): (.*)", line):
        return Block("note" if match[1].startswith("NOTE") else "example", match[2], match[1])
    if match := LIST.match(line):
        level = 1 if match[1] or match[2] == "--" else 0
        return Block("list", match[3], "-" if match[2].startswith("-") else match[2], level)
    if not line:
        raise ValueError(f"{place}: expected a block; found an empty line")
    return Block("paragraph", line)


def parse_target(text: str) -> Target:
    """`EN 399 001 V1.1.1 5.2` as a Target; `#5.2` is a clause of the own document."""
    if text.startswith("#"):
        return Target("", None, text[1:])
    match = DOCUMENT.match(text)
    if not match:
        raise ValueError(f"expected a target such as 'EN 399 001 V1.1.1 5.2' or '#5.2'; found {text!r}")
    return Target(match[1], match[2], match[3] or "")


def inline(text: str, cites: list[Cite], bold: bool = False) -> list[Run]:
    """Split marked text into runs; citations found are appended to `cites`."""
    runs: list[Run] = []
    at = 0
    token = re.compile(r"\*\*(.+?)\*\*|\^\{(.*?)\}|_\{(.*?)\}|\{((?:[^{}^]|\^\{.*?\})*)\}")
    for match in token.finditer(text):
        if match.start() > at:
            runs.append(Run(text[at : match.start()], bold))
        if match[1] is not None:
            runs += inline(match[1], cites, True)
        elif match[2] is not None:
            runs.append(Run(match[2], bold, "sup"))
        elif match[3] is not None:
            runs.append(Run(match[3], bold, "sub"))
        else:
            printed, _, targets = match[4].partition(" => ")
            cites.append(_cite(printed, targets))
            runs.append(Run(printed.removeprefix("! "), bold, cite=len(cites) - 1))
        at = match.end()
    if at < len(text):
        runs.append(Run(text[at:], bold))
    return runs


def _cite(printed: str, targets: str) -> Cite:
    if printed.startswith("! "):
        return Cite(())
    if targets:
        return Cite(tuple(parse_target(t.strip()) for t in targets.split(";")))
    match = re.fullmatch(r"(?:sub)?(?:clause|annex) (\S+)", printed.replace("\u00a0", " "), re.I)
    return Cite((Target("", None, match[1]),)) if match else Cite((), printed)


def plain(runs: list[Run]) -> str:
    """The words of runs: superscripts as `^x`, subscripts joined, page-break marks removed."""
    return "".join(f"^{r.text}" if r.mark == "sup" else r.text for r in runs).replace("\\p ", "").replace("\\p", "")
