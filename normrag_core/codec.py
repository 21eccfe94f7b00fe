"""ParsedDocument ⇄ JSON. One form serves `parse` on the command line, the workspace on disk and foreign corpora.

The keys of the command line contract are required; all others ("blocks", "lines", "rects", ...) carry what the pages need
to show a text on its page and may be missing, so that units of any origin can be loaded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from normrag_core.model import (
    Block,
    BlockKind,
    Citation,
    CitationState,
    Document,
    Finding,
    InfoUnit,
    Line,
    ParsedDocument,
    ParseReport,
    Rect,
    Reference,
    Term,
    UnitKind,
)

T = TypeVar("T")
# What no page shows as it is. In a key it would make two clauses look alike and break the links to them.
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class UnitJsonError(ValueError):
    """The JSON is not in the unit form; the message names the file, the place, what was expected and what was found."""


def to_object(parsed: ParsedDocument) -> dict[str, Any]:
    """The parse form as plain objects, ready for `json.dumps`."""
    document = parsed.document
    key_of = {u.id: u.key for u in parsed.units}
    return {
        "document": {
            "id": document.id,
            "version": document.version,
            "date": document.date,
            "title": document.title,
            "pages": document.pages,
            "file": document.file,
            "key": document.key,
            "sha256": document.sha256,
            "page_sizes": [list(size) for size in document.page_sizes],
            "references": [_plain(r) for r in document.references],
            "terms": [_plain(t) | {"unit": key_of.get(t.unit, "")} for t in document.terms],
        },
        "units": [
            {
                "key": u.key,
                "code": u.code,
                "title": u.title,
                "kind": u.kind,
                "parent": u.parent,
                "page": u.page,
                "body": u.body,
                "y": u.y,
                "informative": u.informative,
                "blocks": [
                    [b.kind, b.start, b.end, b.level, [list(row) for row in b.rows]]
                    if b.rows
                    else [b.kind, b.start, b.end, b.level]
                    for b in u.blocks
                ],
                "lines": [[line.start, line.end, *_box(line.rect)] for line in u.lines],
            }
            for u in parsed.units
        ],
        "citations": [
            {
                "source": key_of.get(c.source, ""),
                "page": c.page,
                "text": c.text,
                "document": c.document,
                "target": c.code,
                "state": c.state,
                "edition": c.edition,
                "start": c.start,
                "end": c.end,
                "context": c.context,
                "form": c.form,
                "evidence": c.evidence,
                "label": c.label,
                "informative": c.informative,
                "rects": [_box(r) for r in c.rects],
            }
            for c in parsed.citations
        ],
        "report": {
            "counts": dict(document.report.counts),
            "findings": [_plain(f) for f in document.report.findings],
            "seconds": round(document.report.seconds, 3),
        },
    }


def from_object(data: Any, name: str = "units") -> ParsedDocument:
    """The ParsedDocument that `to_object` described; UnitJsonError where it is none. name: what messages call the source."""
    try:
        return _parsed(data, name)
    except UnitJsonError:
        raise
    except (TypeError, ValueError, AttributeError, LookupError, OverflowError) as error:
        # A list for a number, an object for a list, an infinite page: the parse form allows none of them.
        raise UnitJsonError(f"{name}: expected the parse form; found {type(error).__name__}: {error}") from None


def _parsed(data: Any, name: str) -> ParsedDocument:
    given = _get(data, "document", dict, name)
    identity = {k: str(given.get(k) or "") for k in ("id", "version", "date", "title", "file", "sha256")}
    if not identity["id"]:
        raise UnitJsonError(f'{name}: document.id: expected a text such as "EN 300 421"; found {given.get("id")!r}')
    key = _visible(str(given.get("key") or f"{identity['id']} {identity['version']}".strip()), f"{name}: document.key")
    units = tuple(_unit(u, key, f"{name}: units[{i}]") for i, u in enumerate(_get(data, "units", list, name)))
    keys = [u.key for u in units]
    if len(set(keys)) != len(keys):
        twice = next(k for k in keys if keys.count(k) > 1)
        raise UnitJsonError(f"{name}: units: expected every key once; found {twice!r} twice")
    if "" not in keys:
        root = InfoUnit(f"{key}#", key, "", "", identity["title"], "document", None, 1)
        units, keys = (root, *units), ["", *keys]
    known = set(keys)
    for unit in units:
        if unit.parent is not None and unit.parent not in known:
            raise UnitJsonError(f"{name}: unit {unit.key!r}: expected a parent among the keys; found {unit.parent!r}")
    _refuse_loops(units, name)
    citations = tuple(_citation(c, key, known, f"{name}: citations[{i}]") for i, c in enumerate(data.get("citations") or []))
    report = data.get("report") or {}
    document = Document(
        key=key,
        pages=int(given.get("pages") or 0),
        page_sizes=tuple((float(w), float(h)) for w, h in given.get("page_sizes") or ()),
        references=tuple(_record(Reference, r) for r in given.get("references") or ()),
        terms=tuple(_record(Term, t | {"unit": f"{key}#{t.get('unit', '')}"}) for t in given.get("terms") or ()),
        report=ParseReport(
            {str(k): int(v) for k, v in (report.get("counts") or {}).items()},
            tuple(_record(Finding, f) for f in report.get("findings") or ()),
            float(report.get("seconds") or 0.0),
        ),
        **identity,
    )
    return ParsedDocument(document, units, citations)


def load_parsed(source: Any) -> list[ParsedDocument]:
    """ParsedDocuments of a JSON file, a folder of JSON files, a decoded object, or a list of them."""
    if isinstance(source, (str, Path)):
        path = Path(source)
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not files:
            raise UnitJsonError(f"{path}: expected *.json files in the parse form; found none")
        return [parsed for file in files for parsed in _load_file(file)]
    objects: Iterable[Any] = source if isinstance(source, list) else [source]
    return [from_object(o, f"units[{i}]") for i, o in enumerate(objects)]


def _load_file(file: Path) -> list[ParsedDocument]:
    try:
        data = json.loads(file.read_text("utf8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UnitJsonError(f"{file.name}: expected JSON in the parse form; found {error}") from None
    return [from_object(o, file.name) for o in (data if isinstance(data, list) else [data])]


def _unit(given: Any, document: str, name: str) -> InfoUnit:
    if not isinstance(given, dict):
        raise UnitJsonError(f"{name}: expected an object; found {type(given).__name__}")
    code = str(given.get("code") or "")
    key = _visible(str(given.get("key", code)), f"{name}: key")
    kind = given.get("kind", "clause" if key else "document")
    if kind not in get_args(UnitKind):
        raise UnitJsonError(f"{name}: kind: expected one of {', '.join(get_args(UnitKind))}; found {kind!r}")
    body = str(given.get("body") or "")
    parent = given.get("parent")
    blocks = tuple(
        Block(b[0], int(b[1]), int(b[2]), int(b[3]), tuple(tuple(map(str, row)) for row in (b[4] if len(b) > 4 else ())))
        for b in given.get("blocks") or ()
        if b[0] in get_args(BlockKind)
    )
    return InfoUnit(
        id=f"{document}#{key}",
        document=document,
        key=key,
        code=code,
        title=str(given.get("title") or ""),
        kind=kind,
        parent=(None if not key else "") if parent is None else str(parent),
        page=int(given.get("page") or 1),
        body=body,
        y=float(given.get("y") or 0.0),
        blocks=blocks,
        lines=tuple(Line(int(n[0]), int(n[1]), _rect(n[2:])) for n in given.get("lines") or ()),
        informative=bool(given.get("informative", False)),
    )


def _citation(given: Any, document: str, keys: set[str], name: str) -> Citation:
    if not isinstance(given, dict):
        raise UnitJsonError(f"{name}: expected an object; found {type(given).__name__}")
    source = str(given.get("source") or "")
    if source not in keys:
        raise UnitJsonError(f"{name}: source: expected a unit's key; found {source!r}")
    state = given.get("state", "not-loaded")
    if state not in get_args(CitationState):
        raise UnitJsonError(f"{name}: state: expected one of {', '.join(get_args(CitationState))}; found {state!r}")
    evidence = given.get("evidence", "text")
    if evidence not in ("text", "link", "text+link"):
        raise UnitJsonError(f"{name}: evidence: expected text, link or text+link; found {evidence!r}")
    return Citation(
        source=f"{document}#{source}",
        page=int(given.get("page") or 1),
        start=int(given.get("start", -1)),
        end=int(given.get("end", -1)),
        text=str(given.get("text") or ""),
        context=str(given.get("context") or ""),
        document=str(given.get("document") or ""),
        code=str(given.get("target") or ""),
        edition=_text_or_none(given.get("edition")),
        state=state,
        form=str(given.get("form") or ""),
        evidence=evidence,
        label=_text_or_none(given.get("label")),
        informative=bool(given.get("informative", False)),
        rects=tuple(_rect(r) for r in given.get("rects") or ()),
    )


def _refuse_loops(units: tuple[InfoUnit, ...], name: str) -> None:
    parent = {u.key: u.parent for u in units}
    safe: set[str] = set()
    for key in parent:
        path: list[str] = []
        at: str | None = key
        while at is not None and at not in safe:
            if at in path:
                raise UnitJsonError(f"{name}: unit {key!r}: expected a tree; found that {at!r} is its own ancestor")
            path.append(at)
            at = parent[at]
        safe.update(path)


def _visible(key: str, name: str) -> str:
    if _INVISIBLE.search(key):
        raise UnitJsonError(f"{name}: expected no control characters; found {key!r}")
    return key


def _get(data: Any, key: str, kind: type, name: str) -> Any:
    if not isinstance(data, dict) or not isinstance(data.get(key), kind):
        found = type(data.get(key)).__name__ if isinstance(data, dict) else type(data).__name__
        raise UnitJsonError(f"{name}: {key}: expected {kind.__name__}; found {found}")
    return data[key]


def _record(kind: type[T], given: dict[str, Any]) -> T:
    """A flat dataclass from an object. Values of other types would be believed here and fail on some page much later."""
    wanted = _types_of(kind)  # type: ignore[arg-type]  # a class is hashable
    for name, value in given.items():
        choices = get_args(wanted.get(name, str))
        types = tuple(c for c in choices if isinstance(c, type)) or (str if choices else wanted.get(name, str))
        fits = isinstance(value, types) and (not isinstance(value, bool) or types is bool)
        if not fits or (choices and isinstance(choices[0], str) and value not in choices):
            raise ValueError(f"{kind.__name__.lower()}: {name}: {value!r}")
    return kind(**given)


@cache
def _types_of(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)  # evaluates every annotation anew each time


def _rect(given: Any) -> Rect:
    page, x0, y0, x1, y1 = given
    return Rect(int(page), float(x0), float(y0), float(x1), float(y1))


def _text_or_none(given: Any) -> str | None:
    return None if given is None else str(given)


def _box(rect: Rect) -> list[float]:
    return [rect.page, *(round(v, 1) for v in (rect.x0, rect.y0, rect.x1, rect.y1))]


def _plain(item: Any) -> dict[str, Any]:
    return {name: getattr(item, name) for name in item.__slots__}
