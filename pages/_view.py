"""What the user is looking at, as plain data, and its form in the URL. No Streamlit in here.

A link carries the question, the base preset, only the settings that differ from it, the filter and what is opened, so that
it reproduces the page on any machine with the same documents: `?q=...&preset=chunked-rrf&alpha=0.7&doc=EN 302 755 V1.4.1`.
A link written by hand or by an older version must not break the page: what is not understood is dropped and named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from normrag_core.config import DEFAULT_PRESET, INTEGERS, PRESETS, ConfigError, RetrieverConfig

_DEFAULTS = {f.name: getattr(RetrieverConfig(), f.name) for f in fields(RetrieverConfig)}
_MAX_QUESTION = 2000
PARTS = ("page", "why", "context")


@dataclass(frozen=True, slots=True)
class View:
    """preset: name of a built-in preset that `config` is compared with. own: name of the user's preset in use, "" if none.

    documents: keys of the documents searched, () = all. opened: id of the unit opened inside a result. at: id of the chunk
    it is opened under. inspected: id of the chunk in the inspector. part: which of the inspector's `PARTS` is shown.
    """

    question: str = ""
    preset: str = DEFAULT_PRESET
    own: str = ""
    config: RetrieverConfig = PRESETS[DEFAULT_PRESET].config
    documents: tuple[str, ...] = ()
    opened: str = ""
    at: str = ""
    inspected: str = ""
    part: str = PARTS[0]

    def with_(self, **changes: Any) -> View:
        return replace(self, **changes)

    def ask(self, question: str) -> View:
        """The same settings with another question; what was opened belongs to the old one."""
        question = question.strip()[:_MAX_QUESTION]
        return self if question == self.question else replace(self, question=question).closed()

    def closed(self) -> View:
        """The same question and settings with nothing opened or inspected."""
        return replace(self, opened="", at="", inspected="", part=PARTS[0])

    def change(self, **settings: Any) -> View:
        """The same view with some settings changed; raises ConfigError where they exclude each other."""
        return replace(self, config=self.config.with_(**settings))


def to_query(view: View) -> dict[str, str | list[str]]:
    """Query parameters of a view; nothing for what is at its default."""
    query: dict[str, str | list[str]] = {}
    if view.question:
        query["q"] = view.question
    if view.preset != DEFAULT_PRESET:
        query["preset"] = view.preset
    if view.own:
        query["own"] = view.own
    for name, (mine, _) in view.config.diff(PRESETS[view.preset].config).items():
        query[name] = _write(mine)
    if view.documents:
        query["doc"] = list(view.documents)
    if view.opened and view.at:
        query["open"], query["at"] = view.opened, view.at
    if view.inspected:
        query["inspect"] = view.inspected
        if view.part != PARTS[0]:
            query["part"] = view.part
    return query


def from_query(query: Mapping[str, list[str]]) -> tuple[View, tuple[str, ...]]:
    """(view, remarks on what was not understood) of query parameters, each name with its list of values."""
    one = {name: values[-1] for name, values in query.items() if values}
    remarks: list[str] = []
    preset = one.get("preset", DEFAULT_PRESET)
    if preset not in PRESETS:
        remarks.append(f"The link names the preset {preset!r}, which this version does not have; {DEFAULT_PRESET} is used.")
        preset = DEFAULT_PRESET
    config = PRESETS[preset].config
    given: dict[str, Any] = {}
    for name in one.keys() & _DEFAULTS.keys():
        try:
            given[name] = _read(name, one[name])
        except ValueError:
            remarks.append(f"The link sets {name} to {one[name]!r}, which is no value for it.")
    try:
        config = config.with_(**given)
    except ConfigError as error:
        remarks.append(f"The settings of the link were left out: {error}.")
    opened, at = one.get("open", ""), one.get("at", "")
    part = one.get("part", PARTS[0])
    if part not in PARTS:
        remarks.append(f"The link names the part {part!r} of the inspector; there are {', '.join(PARTS)}.")
        part = PARTS[0]
    view = View(
        question=one.get("q", "").strip()[:_MAX_QUESTION],
        preset=preset,
        own=one.get("own", ""),
        config=config,
        documents=tuple(query.get("doc", ())),
        opened=opened if at else "",
        at=at if opened else "",
        inspected=one.get("inspect", ""),
        part=part if "inspect" in one else PARTS[0],
    )
    return view, tuple(remarks)


def _write(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _read(name: str, text: str) -> Any:
    default = _DEFAULTS[name]
    if isinstance(default, bool):
        if text not in ("0", "1"):
            raise ValueError(text)
        return text == "1"
    if isinstance(default, tuple):
        return tuple(t for t in text.split(",") if t)
    if name in INTEGERS:
        return int(text)
    return float(text) if isinstance(default, float) else text
