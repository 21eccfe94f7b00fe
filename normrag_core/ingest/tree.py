"""Headings → InfoUnits without bodies: keys, parents, and which parts are informative."""

from __future__ import annotations

import re
from collections.abc import Sequence

from normrag_core.ingest.headings import Heading
from normrag_core.ingest.numbering import ancestors
from normrag_core.model import InfoUnit

_INFORMATIVE = re.compile(
    r"(?:intellectual property rights|legal notice|foreword|introduction|executive summary|modal verbs terminology|"
    r"contents|history|bibliography|change history|change requests?)\b",
    re.I,
)


def build_tree(document: str, title: str, headings: Sequence[Heading], informative: bool = False) -> list[InfoUnit]:
    """The root and one unit a heading, in the order of the headings, bodies still empty.

    informative: the whole document is (a technical report).
    """
    root = InfoUnit(f"{document}#", document, "", "", title, "document", None, 1)
    units = [root]
    latest: dict[str, InfoUnit] = {"": root}
    used: set[str] = {""}
    stack: list[tuple[int, InfoUnit]] = []
    for heading in headings:
        if heading.level is not None:
            stack = [entry for entry in stack if entry[0] < heading.level]
        parent = _parent(heading, latest, stack, root)
        key = _unique(heading.code, used)
        unit = InfoUnit(
            id=f"{document}#{key}",
            document=document,
            key=key,
            code=heading.code,
            title=heading.title,
            kind=heading.kind,
            parent=parent.key,
            page=heading.page,
            y=round(heading.y, 1),
            informative=informative or _informative(heading, parent),
        )
        units.append(unit)
        latest[heading.code] = unit
        if heading.level is not None:
            stack.append((heading.level, unit))
    return units


def _parent(heading: Heading, latest: dict[str, InfoUnit], stack: list[tuple[int, InfoUnit]], root: InfoUnit) -> InfoUnit:
    """By number where there is one (bookmark levels are sometimes wrong: TS 102 773, 5.2.8.2.7), else by level."""
    if heading.kind == "clause":
        for code in ancestors(heading.code):
            if code in latest:
                return latest[code]
        if "." not in heading.code:
            return root
    if heading.kind == "annex":
        return root
    return stack[-1][1] if stack else root


def _unique(code: str, used: set[str]) -> str:
    key, n = code, 1
    while key in used:
        n += 1
        key = f"{code}~{n}"
    used.add(key)
    return key


def _informative(heading: Heading, parent: InfoUnit) -> bool:
    if heading.informative is not None:
        return heading.informative
    if parent.informative:
        return True
    return heading.kind == "heading" and parent.key == "" and bool(_INFORMATIVE.match(heading.title))
