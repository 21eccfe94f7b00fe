"""The settings of the retriever as controls. The View holds the values; a control only shows one and hands back a change.

Every control's key is assigned from the View before it is made, so that a preset, a link or a reset moves it, and so that
nothing is lost when the page is left.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from normrag_core.config import PRESETS, RELATIONS, ConfigError, RetrieverConfig
from pages import _escape as escape
from pages import _faults as faults
from pages import _state as state
from pages import _theme as theme
from pages import _words as words
from pages._view import View

_STEPS = {
    "prefilter_n": (10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 2000, 5000),
    "top_k": (1, 3, 5, 10, 15, 20, 30, 50, 100),
    "rerank_n": (0, 5, 10, 20, 30, 50),
    "rrf_k": (1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 100, 150, 200, 500),
    "max_words": (50, 100, 150, 200, 250, 300, 400, 500, 750, 1000),
    "seeds": (1, 2, 3, 5, 7, 10, 15, 20, 30, 50),
}
_SLIDERS = {
    "alpha": (0.0, 1.0, 0.05),
    "hops": (1, 5, 1),
    "iterations": (1, 5, 1),
    "bm25_weight": (0.0, 3.0, 0.1),
    "dense_weight": (0.0, 3.0, 0.1),
    "bm25_k1": (0.0, 3.0, 0.1),
    "bm25_b": (0.0, 1.0, 0.05),
    "context_weight": (0.0, 2.0, 0.1),
    "idf_power": (0.0, 2.0, 0.1),
    "name_weight": (0.0, 5.0, 0.25),
    "expansion_weight": (0.0, 1.0, 0.05),
    "rerank_weight": (0.0, 1.0, 0.05),
}


def settings() -> None:
    """All controls, for the sidebar: preset, the main sliders, expansion, advanced by stage, what differs from the preset."""
    view = state.view()
    _preset(view)
    config = view.config
    _one("alpha", disabled=config.chunking == "vanilla" or not config.uses_dense)
    _one("prefilter_n", disabled=config.ranking in ("bm25", "dense"))
    _one("rrf_k", disabled=config.ranking != "rrf")
    _one("top_k")
    _one("expansion", disabled=config.chunking == "vanilla")
    if config.expansion:
        for name in ("seeds", "hops", "expansion_relations", "formula"):
            _one(name)
        if config.formula == "best-seed":
            _one("expansion_weight")
    with st.expander("Advanced"):
        _advanced(config)
    _changes(view)


def _advanced(config: RetrieverConfig) -> None:
    """The settings of each stage, in the order in which the stages run."""
    _group("What is ranked")
    _one("chunking")
    _one("max_words", disabled=config.chunking == "structured" and not config.best_part)
    _one("context")
    _one("headings", disabled=config.chunking == "vanilla")
    _one("edition_preference")
    _group("By words (BM25)")
    for name in ("tokenizer", "stem", "expand_abbreviations"):
        _one(name, disabled=not config.uses_bm25)
    _one("best_part", disabled=config.chunking != "structured" or not config.uses_bm25)
    for name in ("idf_power", "name_weight"):
        _one(name, disabled=not config.uses_bm25)
    _one("context_weight", disabled=config.context == "none" or not config.uses_bm25)
    for name in ("bm25_k1", "bm25_b"):
        _one(name, disabled=not config.uses_bm25)
    _group("By meaning (dense)")
    _one("iterations", disabled=not config.smoothing)
    _one("smoothing_relations", disabled=not config.smoothing)
    _group("Both together")
    _one("ranking")
    for name in ("bm25_weight", "dense_weight"):
        _one(name, disabled=config.ranking not in ("rrf", "weighted"))
    _group("Second reading (cross-encoder)")
    _one("rerank_n")
    _one("rerank_weight", disabled=not config.rerank_n)


def _group(name: str) -> None:
    st.html(f'<div class="nr-group-name nr-tiny">{name}</div>')


def _preset(view: View) -> None:
    presets = state.presets()
    shown = view.own if view.own in presets else view.preset
    st.session_state["w_preset"] = shown
    st.selectbox(
        "Preset",
        list(presets),
        key="w_preset",
        format_func=escape.plain,
        on_change=_take_preset,
        help="A named set of settings. Eight are reconstructed from the paper, which names them but not all of their "
        "values; `bm25` and `dense` are reference points; the others are ours or pinned by you.",
    )
    preset = presets[shown]
    st.html(f'<div class="nr-tiny">{escape.html(preset.description)} {theme.badge(preset.origin)}</div>')


def _take_preset() -> None:
    name = st.session_state["w_preset"]
    preset = state.presets()[name]
    own = preset.origin == "yours"
    view = state.view()
    base = view.preset if own else name
    state.set_view(view.with_(preset=base, own=name if own else "", config=preset.config, opened="", at=""))


def _changes(view: View) -> None:
    """What differs from the preset, each with its way back."""
    preset = state.presets().get(view.own) or PRESETS[view.preset]
    changed = view.config.diff(preset.config)
    with st.container(key="changes"):
        if changed:
            rows = "".join(
                f'<div class="nr-change"><span>{words.SETTING[name].label}</span><span class="nr-num">'
                f"<s>{words.value(name, old)}</s> <b>{words.value(name, new)}</b></span></div>"
                for name, (new, old) in changed.items()
            )
            st.html(f'<div class="nr-changes"><div class="nr-tiny">Changed against the preset</div>{rows}</div>')
        with st.container(horizontal=True, gap="small"):
            if changed:
                st.button(
                    "Reset", icon=":material/undo:", on_click=_reset, type="tertiary", help="Back to the preset's settings"
                )
            with st.popover(
                "Pin", icon=":material/keep:", type="tertiary", help="Keep these settings under a name of your own"
            ):
                _pin(view)


def _reset() -> None:
    view = state.view()
    preset = state.presets().get(view.own) or PRESETS[view.preset]
    state.set_view(view.with_(config=preset.config))


def _pin(view: View) -> None:
    st.text_input("Name", key="pin_name", max_chars=60, placeholder="e.g. short clauses first")
    st.button("Pin these settings", on_click=_keep, type="primary")
    if view.own:
        st.button("Unpin the preset in use", on_click=_unpin)
    if problem := st.session_state.pop("pin_problem", ""):
        st.error(problem)


@faults.told()
def _keep() -> None:
    name = escape.plain(st.session_state.get("pin_name", "")).strip()
    if not name or name in PRESETS:
        st.session_state["pin_problem"] = "Expected a name that no built-in preset has."
        return
    view = state.view()
    state.library().save_preset(name, view.config)
    state.set_view(view.with_(own=name))


@faults.told()
def _unpin() -> None:
    view = state.view()
    state.library().remove_preset(view.own)
    state.set_view(view.with_(own=""))


def _one(name: str, disabled: bool = False) -> None:
    """The control of one setting."""
    label, help_text = words.SETTING[name].label, words.SETTING[name].help
    key = f"w_{name}"
    value: Any = getattr(state.view().config, name)
    common: dict[str, Any] = {"key": key, "help": help_text, "disabled": disabled, "on_change": _take, "args": (name,)}
    if name in _STEPS:
        st.session_state[key] = value
        st.select_slider(label, sorted({*_STEPS[name], value}), **common)
    elif name in _SLIDERS:
        low, high, step = _SLIDERS[name]
        st.session_state[key] = value
        st.slider(label, low, max(high, value), step=step, **common)
    elif isinstance(value, bool):
        st.session_state[key] = value
        st.toggle(label, **common)
    elif isinstance(value, tuple):
        st.session_state[key] = list(value)
        st.pills(label, RELATIONS, selection_mode="multi", format_func=lambda r: theme.RELATION[r].label, **common)
    else:
        st.session_state[key] = value
        choices = words.CHOICE[name]
        st.selectbox(label, list(choices), format_func=choices.__getitem__, **common)


def _take(name: str) -> None:
    """Takes over a control's new value; where it excludes another setting, that one gives way and a remark says so."""
    view = state.view()
    value = st.session_state[f"w_{name}"]
    settings = {name: tuple(value) if isinstance(value, list) else value}
    remark = ""
    if name == "chunking" and value == "vanilla" and (view.config.smoothing or view.config.expansion):
        settings |= {"alpha": 1.0, "expansion": False}
        remark = "Flat windows have no neighbours, so smoothing and expansion were switched off."
    try:
        state.set_view(view.change(**settings))
    except ConfigError as error:
        remark = f"{error}."
    if remark:
        st.session_state["settings_remark"] = remark


def changed_count(config: RetrieverConfig, preset: str) -> int:
    """How many settings differ from a built-in preset."""
    return len(config.diff(PRESETS[preset].config))
