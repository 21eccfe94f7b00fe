"""Spans of one line → plain text: superscripts `2^19`, subscripts `N<sub>ldpc</sub>`, ligatures and odd spaces made plain.

`settled` comes before: formula editors place each index as a line of its own, a little above or below the row it belongs to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from normrag_core.ingest.layout import PageLine, Span

# Compatibility characters that stand for letters; a blanket NFKC would also flatten 2² and ½.
_PLAIN = {
    **{chr(0xFB00 + i): s for i, s in enumerate(("ff", "fi", "fl", "ffi", "ffl", "st", "st"))},
    **{chr(0xFF01 + i): chr(0x21 + i) for i in range(94)},  # full-width forms (GS QKD 014, page 19)
    **dict.fromkeys(
        "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\t\r\n\v\f", " "
    ),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", ""),
    "\u2010": "-",
    "\u2011": "-",
    # The Symbol font's own code points, as Word embeds it.
    "\uf0b7": "•",
    "\uf0a7": "▪",
    "\uf0d8": "➢",
    "\uf0fc": "✓",
    "\uf02d": "-",
    "\uf02b": "+",
    "\uf03d": "=",
    "\uf0b4": "×",
    "\uf0a3": "≤",
    "\uf0b3": "≥",
    "\uf0b1": "±",
    "\uf0b0": "°",
    "\uf06d": "µ",
    "\uf061": "α",
    "\uf062": "β",
    "\uf070": "π",
}
_TABLE = str.maketrans({**_PLAIN, **{chr(c): "" for c in range(0x20) if chr(c) not in "\t\r\n\v\f"}})
_SOFT = re.compile(r"(?<=[^\W\d_])\u00ad(?=[^\W\d_])")
_ORDINAL = re.compile(r"(?:st|nd|rd|th|TM|®|™)", re.I)
_LONGEST_SCRIPT = 24
_NAMED = re.compile(r"[^\W_]")  # parts of tall brackets are neither indices nor have any


def plain(text: str) -> str:
    """Text with ligatures, full-width forms, odd spaces and hyphens made plain; soft hyphens between letters dropped."""
    if text.isascii() and text.isprintable():
        return text
    return _SOFT.sub("", text.translate(_TABLE))


def marked(spans: Iterable[Span]) -> str:
    """Text of consecutive spans with raised and lowered runs marked.

    A raised run is written `^x`, or `^(…)` where it is more than one token or a letter or digit follows; ordinals (1st) stay
    plain. A lowered run is written `<sub>…</sub>`. A run longer than 24 characters is no script but small print.
    """
    runs: list[list[str]] = []
    for span in spans:
        script = span.script
        if runs and (runs[-1][0] == script or (runs[-1][0] and not span.text.strip())):
            runs[-1][1] += span.text
        else:
            runs.append([script, span.text])
    out = ""
    for index, (script, raw) in enumerate(runs):
        text = plain(raw)
        core = text.strip()
        if not script or not core or len(core) > _LONGEST_SCRIPT:
            out += text
            continue
        tail = text[len(text.rstrip()) :]
        following = tail or (plain(runs[index + 1][1]) if index + 1 < len(runs) else " ")
        head = text[: len(text) - len(text.lstrip())]
        if script == "sub":
            out += f"{head}<sub>{core}</sub>{tail}"
        elif not out.strip() or out[-1] == " " or head or (_ORDINAL.fullmatch(core) and out[-1].isalnum()):
            out += text
        elif re.fullmatch(r"[-+−–]?\w+", core) and not (following[:1].isalnum()):
            out += f"^{core}{tail}"
        else:
            out += f"^({core}){tail}"
    return out


def prose(line: PageLine) -> str:
    """Marked text of a line without space at its ends or doubled spaces inside."""
    return re.sub(r" {2,}", " ", marked(line.spans)).strip()


def indent(line: PageLine, left: float) -> int:
    """Columns from `left` (points) to the line's first letter, in widths of its own characters."""
    spaces = len(line.text) - len(line.text.lstrip())
    width = (line.bbox[2] - line.bbox[0]) / max(len(line.text), 1)
    return max(round((line.bbox[0] - left) / max(width, 1.0)), 0) + spaces


def settled(lines: Sequence[PageLine]) -> list[PageLine]:
    """Lines of one page in reading order, loose indices put into the line they touch and spans set from left to right."""
    rows: list[list[PageLine]] = []
    for line in lines:
        if rows and rows[-1][0].row == line.row:
            rows[-1].append(line)
        else:
            rows.append([line])
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    small = 0.92 * sizes.most_common(1)[0][0] if sizes else 0.0
    moved: dict[int, list[PageLine]] = {}
    for index, row in enumerate(rows):
        for line in row:
            host = _host(line, rows, index) if line.size < small else None
            if host is not None:
                moved.setdefault(host, []).append(line)
                rows[index] = [other for other in rows[index] if other is not line]
    for index, scripts in moved.items():
        base = max(rows[index] or scripts, key=lambda line: len(line.text))
        for line in scripts:
            script = "sup" if base.baseline > line.baseline else "sub"
            spans = tuple(replace(s, script=script) for s in line.spans)
            rows[index].append(replace(line, spans=spans, row=base.row))
    return [
        line for index, row in enumerate(rows) if row for line in (_ordered(row) if index in moved or _crossed(row) else row)
    ]


def _host(line: PageLine, rows: Sequence[Sequence[PageLine]], at: int) -> int | None:
    """Index of the row that holds larger print which this small line touches a little higher or lower, None where none does."""
    if not line.upright or len(line.text.strip()) > _LONGEST_SCRIPT or not _NAMED.search(line.text):
        return None
    x0, _, x1, _ = line.bbox
    best, nearest = None, 0.0
    for index in range(max(at - 3, 0), min(at + 4, len(rows))):
        if index == at:
            continue
        for host in rows[index]:
            shift = host.baseline - line.baseline
            if (
                not host.upright
                or not _NAMED.search(host.text)
                or line.size > 0.88 * host.size
                or not -0.55 * host.size <= shift <= 0.75 * host.size
            ):
                continue
            if x0 - 3.5 <= host.bbox[2] and host.bbox[0] <= x1 + 3.5 and (best is None or abs(shift) < nearest):
                best, nearest = index, abs(shift)
    return best


def _crossed(row: Sequence[PageLine]) -> bool:
    """Whether the spans of a row are not in the order of their places: a lowered index came before its letter."""
    places = [s.bbox[0] for line in row for s in line.spans if s.text.strip()]
    return any(right < left - 0.5 for left, right in pairwise(places))


def _ordered(row: Sequence[PageLine]) -> list[PageLine]:
    """The row's spans from left to right, cut into lines again at gaps wider than a space."""
    spans = sorted(((s, line) for line in row for s in line.spans), key=lambda pair: pair[0].bbox[0])
    lines: list[list[tuple[Span, PageLine]]] = []
    for span, line in spans:
        end = max((s.bbox[2] for s, _ in lines[-1]), default=0.0) if lines else 0.0
        gap = span.bbox[0] - end
        if not lines or gap > 0.45 * line.size:
            lines.append([(span, line)])
            continue
        last = lines[-1][-1][0]
        if gap > 0.15 * line.size and not last.text.endswith(" ") and not span.text.startswith(" "):
            span = replace(span, text=" " + span.text)
        lines[-1].append((span, line))
    return [_line([span for span, _ in group], group[0][1]) for group in lines if any(s.text.strip() for s, _ in group)]


def _line(spans: Sequence[Span], like: PageLine) -> PageLine:
    main = max(spans, key=lambda s: (not s.script, len(s.text.strip())))
    box = (
        min(s.bbox[0] for s in spans),
        min(s.bbox[1] for s in spans),
        max(s.bbox[2] for s in spans),
        max(s.bbox[3] for s in spans),
    )
    return replace(
        like,
        text="".join(s.text for s in spans),
        spans=tuple(spans),
        bbox=box,
        size=main.size,
        bold=main.bold,
        baseline=main.origin[1],
    )
