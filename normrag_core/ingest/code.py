"""Verbatim text: typewriter rows, ASN.1, XML, JSON and message formats keep their line breaks and indentation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from normrag_core.ingest.drafts import Draft, Printed, Row, rect, typewriter
from normrag_core.ingest.scripts import marked

_TOKENS = re.compile(
    r"[*\d\s]*(?:\[[^\]]*\]|\{[^}]*\}|<[^>]*>)\s*|.*::=.*|[{}\[\]();,]+|</?[\w:!?].*>|\"[^\"]*\"\s*:.*|.*[{}]\s*(?:--.*|//.*)?|.*(?:[=<>{}\[\]]|\w\().*;\s*"
)
_STRONG = re.compile(
    r".*::="
    r"|<\?xml|<[\w:]+\s+[\w:]+=|[\w:]+=\"[^\"]*\"\s*/?>|</?[\w:!?]+[^>]*>$"
    r"|[vV]=0$|[a-z]=\S{2,}"  # session descriptions: m=audio 49170 RTP/AVP 0
    r"|[{}]+[,;]?$|\"[\w@$-]+\"\s*:"
    r"|[*\d\s]*[\[{<] ?[\w-]+ ?[\]}>]$"
)
_STEP = 1.62


def is_code(rows: Sequence[Row], at: int) -> bool:
    """Whether row `at` is code: in a typewriter font, or a line of a formal notation among others of its kind."""
    row = rows[at]
    if row.mono > 0.6 and typewriter(row.lines[0].spans[0]):
        return True
    if not _formal(row):
        return False
    near = [
        r for r in (*rows[max(at - 1, 0) : at], *rows[at + 1 : at + 2]) if abs(r.baseline - row.baseline) <= _STEP * row.size
    ]
    return any(_formal(r) for r in near)


def is_labelled_code(row: Row) -> bool:
    """Whether the row is a label ("EXAMPLE 1:") with code beside it."""
    return (
        len(row.lines) > 1
        and all(typewriter(s) for line in row.lines[1:] for s in line.spans if len(s.text) >= 6)
        and row.mono > 0.4
    )


def _formal(row: Row) -> bool:
    text = re.sub(r"</?sub>", "", row.text)
    return bool(_STRONG.match(text) or _TOKENS.fullmatch(text)) and not text.endswith(".")


def code_draft(rows: Sequence[Row]) -> Draft:
    """Rows as one verbatim block: indentation in characters of the block's own width, wide gaps kept, blank lines kept."""
    left = min(row.box[0] for row in rows)
    widths = sorted(
        (b[2] - b[0]) / len(line.text) for row in rows for line in row.lines for b in (line.bbox,) if len(line.text) > 3
    )
    width = max(widths[len(widths) // 2] if widths else 5.0, 2.0)
    printed: list[Printed] = []
    column = 0
    for index, row in enumerate(rows):
        for i, line in enumerate(row.lines):
            raw = marked(line.spans).rstrip()
            text = raw.lstrip()
            if not text:
                continue
            target = round((line.bbox[0] - left) / width) + len(raw) - len(text)
            if i == 0:
                blank = (
                    index > 0 and row.page == rows[index - 1].page and row.baseline - rows[index - 1].baseline > 2 * row.size
                )
                before = ("\n\n" if blank else "\n") + " " * target
                column = target
            else:
                before = " " * max(target - column, 1)
                column += len(before)
            printed.append(Printed(text, rect(line), before))
            column += len(text)
    if printed:
        indent = len(printed[0].before.lstrip("\n"))
        printed[0].text = " " * indent + printed[0].text
    return Draft("code", printed, rows=list(rows))
