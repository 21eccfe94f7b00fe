"""What is true of a sample document, gathered while it is written and laid out, and its JSON form.

Nothing here comes from reading a PDF: codes, titles and targets come from the source, pages and rectangles from the layout.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from source import Source, Target

Box = tuple[int, float, float, float, float]


@dataclass
class Unit:
    """A heading and the text below it. y: baseline of the heading."""

    key: str
    code: str
    title: str
    kind: str
    parent: str | None
    page: int
    y: float
    informative: bool = False
    body: list[str] = field(default_factory=list)
    first_line: dict[str, Any] | None = None


@dataclass
class Citation:
    """A citation as printed; its targets are looked up when all documents are known."""

    source: str
    informative: bool
    targets: tuple[Target, ...]
    lookup: str
    text: str = ""
    boxes: list[Box] = field(default_factory=list)


@dataclass
class Truth:
    """Everything known about one document."""

    source: Source
    units: list[Unit] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)
    references: list[dict[str, Any]] = field(default_factory=list)
    terms: list[dict[str, Any]] = field(default_factory=list)
    captions: list[dict[str, Any]] = field(default_factory=list)
    owners: dict[str, str] = field(default_factory=dict)
    pages: int = 0

    @property
    def id(self) -> str:
        return self.source["id"]

    @property
    def version(self) -> str:
        return self.source["version"]


def parent_code(code: str) -> str:
    """ "6.2.1" → "6.2"; "6" → ""."""
    return code.rsplit(".", 1)[0] if re.match(r"(\d|[A-Z]{1,2}\.)", code) and "." in code else ""


def resolve(target: Target, own: Truth, loaded: list[Truth]) -> dict[str, str | None]:
    """Document, clause and state of a target when the whole sample is loaded."""
    document = target.document or own.id
    same = sorted((t for t in loaded if t.id == document), key=lambda t: t.source["date"])
    chosen = own if not target.document else next((t for t in same if target.version in (None, t.version)), None)
    if target.document and target.version is None and same:
        chosen = same[-1]
    if not same:
        state = "not-loaded"
    elif chosen is None:
        state = "version-mismatch"
    else:
        state = "resolved" if target.code in {u.code for u in chosen.units} else "missing-clause"
    return {"document": document, "edition": target.version, "target": target.code, "state": state}


def to_object(truth: Truth, loaded: list[Truth]) -> dict[str, Any]:
    """The JSON form of one document."""
    citations: list[dict[str, Any]] = []
    traps: list[dict[str, Any]] = []
    for cited in truth.citations:
        place = {"source": cited.source, "page": cited.boxes[0][0], "text": cited.text}
        targets = cited.targets
        if cited.lookup:
            key = cited.lookup.lower().replace("\u00a0", " ")
            if key not in truth.owners:
                raise ValueError(f"{truth.source.name}: expected {cited.lookup!r} to be defined in the document; found nothing")
            targets = (Target("", None, truth.owners[key]),)
        if not targets:
            traps.append(place)
        boxes = [list(b) for b in cited.boxes]
        citations += [place | resolve(t, truth, loaded) | {"informative": cited.informative, "rects": boxes} for t in targets]
    first = [u.first_line for u in truth.units if u.first_line]
    return {
        "file": truth.source["file"],
        "document": {k: truth.source[k] for k in ("id", "version", "date", "title")} | {"pages": truth.pages},
        "units": [
            {
                "key": u.key,
                "code": u.code,
                "title": u.title,
                "kind": u.kind,
                "parent": u.parent,
                "page": u.page,
                "informative": u.informative,
                "body": "\n".join(u.body),
            }
            for u in truth.units
        ],
        "citations": citations,
        "not_citations": traps,
        "references": truth.references,
        "terms": truth.terms,
        "captions": truth.captions,
        "lines": first,
    }


def write_truth(path: Path, truths: list[Truth]) -> None:
    """One JSON array; every unit, citation, … on a line of its own, so that a change is easy to see."""
    out = []
    for truth in truths:
        parts = []
        for key, value in to_object(truth, truths).items():
            if isinstance(value, list):
                rows = ",\n   ".join(json.dumps(v, ensure_ascii=False) for v in value)
                parts.append(f"  {json.dumps(key)}: [\n   {rows}\n  ]" if value else f"  {json.dumps(key)}: []")
            else:
                parts.append(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
        out.append(" {\n" + ",\n".join(parts) + "\n }")
    path.write_text("[\n" + ",\n".join(out) + "\n]\n", "utf8")
