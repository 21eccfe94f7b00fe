"""Settings refuse what makes no sense and say why."""

from __future__ import annotations

from typing import Any

import pytest

from normrag_core.config import PAPER_PRESETS, PRESETS, RELATIONS, ConfigError, RetrieverConfig


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 1.5}, "alpha: expected 0 to 1; found 1.5"),
        ({"alpha": -0.1}, "alpha: expected 0 to 1; found -0.1"),
        ({"alpha": float("nan")}, "alpha: expected 0 to 1; found nan"),
        ({"alpha": "high"}, "alpha: expected a number from 0 to 1; found 'high'"),
        ({"rrf_k": 0}, "rrf_k: expected 1 to 10000; found 0"),
        ({"rrf_k": 2.5}, "rrf_k: expected a whole number; found 2.5"),
        ({"prefilter_n": 0}, "prefilter_n: expected 1 to 1e"),
        ({"top_k": True}, "top_k: expected a number from 1 to 10000; found True"),
        ({"bm25_b": 1.1}, "bm25_b: expected 0 to 1; found 1.1"),
        ({"chunking": "paragraphs"}, "chunking: expected one of vanilla, structured"),
        ({"edition_preference": "newest"}, "edition_preference: expected all or latest; found 'newest'"),
        ({"smoothing_relations": ("uncle",)}, "smoothing_relations: expected some of parent, child"),
        ({"expansion": "yes"}, "expansion: expected true or false; found 'yes'"),
        ({"chunking": "vanilla", "alpha": 0.5}, "vanilla chunks have no neighbours, so smoothing"),
        ({"chunking": "vanilla", "expansion": True}, "vanilla chunks have no neighbours, so expansion"),
        ({"bm25_weight": 0.0, "dense_weight": 0.0}, "expected at least one above 0; found both 0"),
    ],
)
def test_refused_with_the_setting_and_what_was_found(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        RetrieverConfig(**settings)
    assert message in str(refusal.value)


def test_json_and_back() -> None:
    for preset in PRESETS.values():
        assert RetrieverConfig.from_json(preset.config.to_json()) == preset.config
    changed = RetrieverConfig(alpha=0.25, smoothing_relations=("cites", "parent"))
    assert RetrieverConfig.from_json(changed.to_json()) == changed


def test_relations_are_one_set_whatever_their_order() -> None:
    one, other = (
        RetrieverConfig(smoothing_relations=("cites", "parent")),
        RetrieverConfig(smoothing_relations=("parent", "cites")),
    )
    assert one == other
    assert hash(one) == hash(other)
    assert one.smoothing_relations == tuple(r for r in RELATIONS if r in ("parent", "cites"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected JSON"),
        ("[1]", "expected an object of settings; found list"),
        ('{"alhpa": 0.5}', "unknown setting alhpa; known: alpha"),
        ('{"alpha": 7}', "alpha: expected 0 to 1; found 7"),
    ],
)
def test_bad_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        RetrieverConfig.from_json(text)
    assert message in str(refusal.value)


def test_diff_names_what_was_changed() -> None:
    base = PRESETS["chunked-rrf"].config
    assert base.with_(alpha=0.5, top_k=3).diff(base) == {"alpha": (0.5, 1.0), "top_k": (3, 10)}


def test_settings_behind_the_prefilter_share_it_and_those_of_it_do_not() -> None:
    base = PRESETS["tuned"].config
    later = {"alpha": 0.3, "dense_weight": 2.0, "expansion": True, "rerank_n": 5, "top_k": 20, "edition_preference": "latest"}
    assert base.with_(**later).prefilter == base.prefilter
    for change in ({"bm25_k1": 2.0}, {"idf_power": 0.1}, {"headings": not base.headings}, {"prefilter_n": 7}, {"stem": False}):
        assert base.with_(**change).prefilter != base.prefilter
    # A ranking of the whole corpus keeps as many as are to be shown.
    assert base.with_(ranking="bm25", prefilter_n=20, top_k=30).prefilter.prefilter_n == 30


def test_the_eight_presets_of_the_paper() -> None:
    assert PAPER_PRESETS == (
        "vanilla-dense",
        "vanilla-bm25-dense",
        "vanilla-rrf",
        "structured-rrf",
        "structured-smoothed",
        "chunked-rrf",
        "chunked-smoothed",
        "chunked-expanded",
    )
    for name in PAPER_PRESETS:
        preset = PRESETS[name]
        assert preset.config.context == ("none" if name.startswith("vanilla") else "path")
        assert preset.config.smoothing == (name in ("structured-smoothed", "chunked-smoothed", "chunked-expanded"))
        assert preset.config.expansion == (name == "chunked-expanded")
