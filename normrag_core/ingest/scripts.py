"""Spans of one line → plain text: superscripts `2^19`, subscripts `N<sub>ldpc</sub>`, ligatures and odd spaces made plain."""

from __future__ import annotations

import re
from collections.abc import Iterable

from normrag_core.ingest.layout import Span

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
        if runs and not span.text.strip() and runs[-1][0]:
            runs[-1][1] += span.text
        elif runs and runs[-1][0] == script:
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
