"""The design system: one look on every page, in light and dark.

Use
    from pages import _theme as theme
    theme.apply()                       once per run; `app.py` does it, pages need not
    theme.RELATION["cites"].label       words for a relation kind: "cites"
    theme.RELATION["cites"].css         "var(--nr-cites)": its colour in HTML, right in light and dark by itself
    theme.colour("cites")               "#b45309" or the dark one, for canvases and charts that need a literal colour
    theme.STAGE["bm25"]                 the same for ranking stages: bm25, dense, fusion, rerank, expansion, edition
    theme.STATE["resolved"]             the same for citation states
    theme.badge("Sample", "muted")      a small rounded label as HTML; tones: muted, info, good, warn, bad
    theme.dot("parent")                 a coloured dot as HTML

Rules
- Colour means something: a relation kind, a stage or a state has one colour everywhere (graph, reader, results, charts), and
  never colour alone: a word or a sign stands beside it. Everything else is text colour, greys and the primary colour.
- Spacing in steps of 4 px: --nr-1 (4) --nr-2 (8) --nr-3 (12) --nr-4 (16) --nr-6 (24). Radius --nr-radius (8). Type: 1rem for
  reading, .8125rem (class nr-small) for secondary, .75rem (nr-tiny) for labels; numbers that are compared use nr-num (tabular).
- HTML goes through `st.html` (sanitised by Streamlit, no script), built from `_escape.html` of any text that is not a
  literal of ours. Classes start with nr-. Shared ones: nr-card, nr-row (wrapping flex line), nr-badge, nr-chip (a button),
  nr-path (breadcrumb), nr-clause (text of a clause), nr-table, nr-mark (a hit inside text), nr-empty (empty state).
- Something clickable inside HTML is a <button data-nr="name" data-value="..."> and `_components.clicks` tells what was clicked.
- Pages work at 1366x768 and 480 px wide: flex lines wrap, wide tables scroll inside their own box, no fixed width above
  300 px.
- Icons are `:material/...:` names (shipped with Streamlit, no outside font).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from pages import _escape as escape


@dataclass(frozen=True, slots=True)
class Tone:
    """A meaning with its word and its two colours. name: of the CSS variable, `--nr-<name>`."""

    name: str
    label: str
    light: str
    dark: str
    sign: str = ""

    @property
    def css(self) -> str:
        """The colour inside HTML or CSS."""
        return f"var(--nr-{self.name})"


def _tones(*tones: Tone) -> dict[str, Tone]:
    return {t.name: t for t in tones}


RELATION: dict[str, Tone] = _tones(
    Tone("parent", "parent", "#6941c6", "#b79cff", "↑"),
    Tone("child", "children", "#0f766e", "#5fd3c3", "↓"),
    Tone("sibling", "siblings", "#56657a", "#a9b6c9", "↔"),
    Tone("cites", "cites", "#a84b05", "#f3b060", "→"),
    Tone("cited-by", "cited by", "#be185d", "#f793bd", "←"),
)
STAGE: dict[str, Tone] = _tones(
    Tone("bm25", "BM25", "#1d5fb8", "#7fb6ff"),
    Tone("dense", "Dense", "#4d7c0f", "#a5d65c"),
    Tone("fusion", "Fusion", "#334155", "#d3dbe7"),
    Tone("rerank", "Cross-encoder", "#b3261e", "#ff9d92"),
    Tone("expansion", "Expansion", "#8a1fa3", "#e29bf5"),
    Tone("edition", "Editions", "#6b5a00", "#d9c46a"),
)
STATE: dict[str, Tone] = _tones(
    Tone("resolved", "resolved", "#12805c", "#63d2a6"),
    Tone("version-mismatch", "other version", "#a16207", "#f0c050"),
    Tone("missing-clause", "no such clause", "#b3261e", "#ff9d92"),
    Tone("not-loaded", "not loaded", "#8a94a3", "#7d8797"),
)
_PLAIN: dict[str, Tone] = _tones(
    Tone("text", "", "#1b2430", "#e8ecf2"),
    Tone("soft", "", "#55606f", "#a8b3c2"),
    Tone("line", "", "#dfe4ea", "#303945"),
    Tone("card", "", "#ffffff", "#171d26"),
    Tone("sunk", "", "#f4f6f9", "#10151c"),
    Tone("sidebar", "", "#f4f6f9", "#1a212b"),
    Tone("accent", "", "#0b57a4", "#86b9ff"),
    Tone("mark", "", "#fff0b3", "#5a4a10"),
    Tone("good", "", "#12805c", "#63d2a6"),
    Tone("warn", "", "#8f5a00", "#f0c050"),
    Tone("bad", "", "#b3261e", "#ff9d92"),
)
_ALL = {**RELATION, **STAGE, **STATE, **_PLAIN}
_SHEET = Path(__file__).with_name("_theme.css")


def colour(name: str) -> str:
    """The literal colour of a tone in the theme that is shown now; for canvases and charts."""
    tone = _ALL[name]
    return tone.dark if st.context.theme.type == "dark" else tone.light


def apply() -> None:
    """Puts the style sheet and the colour variables on the page; once per run."""
    variables = "".join(f"--nr-{t.name}:light-dark({t.light},{t.dark});" for t in _ALL.values())
    st.html(f"<style>.stApp{{{variables}}}{_sheet()}</style>")


@st.cache_resource(max_entries=1)
def _sheet() -> str:
    return _SHEET.read_text("utf8")


def badge(text: str, tone: str = "muted", title: str = "") -> str:
    """A small rounded label as HTML; the text is escaped. tone: muted, info, good, warn or bad."""
    tip = f' title="{escape.html(title)}"' if title else ""
    return f'<span class="nr-badge nr-{tone}"{tip}>{escape.html(text)}</span>'


def dot(name: str) -> str:
    """A dot in the colour of a relation, stage or state, as HTML."""
    return f'<i class="nr-dot" style="background:{_ALL[name].css}"></i>'
