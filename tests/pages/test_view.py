"""Settings and question in the URL: what goes in comes out, and a bad link breaks nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normrag_core.config import PRESETS, RELATIONS
from pages import _inspect as inspect
from pages._view import PARTS, View, from_query, to_query


def _lists(query: dict[str, str | list[str]]) -> dict[str, list[str]]:
    return {k: [v] if isinstance(v, str) else v for k, v in query.items()}


def test_a_view_at_its_defaults_needs_no_parameters() -> None:
    assert to_query(View()) == {}
    assert from_query({}) == (View(), ())


def test_only_differences_from_the_preset_are_written() -> None:
    config = PRESETS["chunked-smoothed"].config.with_(alpha=0.55, expansion=True, expansion_relations=("cites",))
    view = View("a & b?", "chunked-smoothed", "", config, ("EN 1 V1", "EN 2 V1"), "EN 1 V1#4", "EN 1 V1#4.1")
    assert to_query(view) == {
        "q": "a & b?",
        "preset": "chunked-smoothed",
        "alpha": "0.55",
        "expansion": "1",
        "expansion_relations": "cites",
        "doc": ["EN 1 V1", "EN 2 V1"],
        "open": "EN 1 V1#4",
        "at": "EN 1 V1#4.1",
    }
    assert from_query(_lists(to_query(view))) == (view, ())


def test_a_link_carries_what_is_inspected_and_the_part_shown() -> None:
    view = View("a").with_(inspected="EN 1 V1#4.1", part="why")
    assert to_query(view) == {"q": "a", "inspect": "EN 1 V1#4.1", "part": "why"}
    assert from_query(_lists(to_query(view))) == (view, ())
    # Without something inspected the part says nothing; a part that there is not is named.
    assert from_query({"q": ["a"], "part": ["why"]}) == (View("a"), ())
    found, remarks = from_query({"q": ["a"], "inspect": ["c"], "part": ["colour"]})
    assert (found.inspected, found.part) == ("c", "page")
    assert len(remarks) == 1
    assert "colour" in remarks[0]
    assert tuple(inspect.PARTS) == PARTS


@given(
    preset=st.sampled_from([n for n, p in PRESETS.items() if p.config.chunking != "vanilla"]),
    alpha=st.integers(0, 20),
    k=st.integers(1, 10_000),
    top=st.integers(1, 10_000),
    stem=st.booleans(),
    relations=st.sets(st.sampled_from(RELATIONS)),
    question=st.text(max_size=200),
)
def test_every_view_survives_its_link(preset, alpha, k, top, stem, relations, question) -> None:  # type: ignore[no-untyped-def]
    config = PRESETS[preset].config.with_(alpha=alpha / 20, rrf_k=k, top_k=top, stem=stem, smoothing_relations=tuple(relations))
    view = View(preset=preset, config=config).ask(question)
    assert from_query(_lists(to_query(view))) == (view, ())


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ({"preset": ["nonsense"]}, "nonsense"),
        ({"alpha": ["two"]}, "alpha"),
        ({"alpha": ["7"]}, "alpha"),
        ({"alpha": ["nan"]}, "alpha"),
        ({"rrf_k": ["1.5"]}, "rrf_k"),
        ({"expansion": ["yes"]}, "expansion"),
        ({"ranking": ["magic"]}, "ranking"),
        ({"preset": ["vanilla-rrf"], "alpha": ["0.5"]}, "vanilla"),
    ],
)
def test_what_a_link_says_wrongly_is_left_out_and_named(query: dict[str, list[str]], word: str) -> None:
    view, remarks = from_query({"q": ["question"], **query})
    assert view.question == "question"
    assert view.config == PRESETS[view.preset].config
    assert len(remarks) == 1
    assert word in remarks[0]


def test_a_question_of_any_length_is_cut_and_another_question_closes_what_was_opened() -> None:
    assert len(View().ask("x" * 10_000).question) == 2000
    opened = View("a", opened="u", at="c", inspected="c", part="why")
    assert opened.ask("a") is opened
    assert opened.ask("b") == View("b")
