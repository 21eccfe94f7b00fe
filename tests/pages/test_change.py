"""What a changed setting did to the results: told in one line and on each card, and taken back."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from conftest import html, until  # type: ignore[attr-defined]
from streamlit.testing.v1 import AppTest

from normrag_core.movement import Change
from normrag_core.storage import Workspace
from pages import _change as change
from pages import _state as state

Open = Callable[..., AppTest]


def line(app: AppTest) -> str:
    found = re.search(r'data-testid="changed".*?</div>', html(app), re.S)
    return re.sub(r"<[^>]+>", " ", found[0].partition(">")[2]) if found else ""


def with_vectors(app: AppTest) -> AppTest:
    def ready() -> bool:
        app.run()
        return not state.without_vectors(app.session_state["last_trace"][1])

    until("the vectors", ready)
    return app


def test_a_changed_setting_says_what_it_did_and_is_taken_back(two_editions: Workspace, open_app: Open) -> None:
    app = with_vectors(open_app("search", q="field strength of the immunity test"))
    assert line(app) == ""
    first = [r.chunk.id for r in app.session_state["last_trace"][1].results]
    assert len(first) > 1
    app.select_slider(key="w_top_k").set_value(1).run()
    assert line(app).split()[:6] == ["Results", "K", "10", "→", "1", str(len(first) - 1)]
    app.button(key="change_back").click().run()
    assert [r.chunk.id for r in app.session_state["last_trace"][1].results] == first
    assert f"{len(first) - 1} new" in line(app)
    assert html(app).count(">new</small>") == len(first) - 1
    app.text_input(key="question").set_value("receivers").run()
    assert line(app) == ""  # Another question has nothing to be compared with.


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (Change("u", 5, 3), ("▲2", "Was 5")),
        (Change("u", 1, 4), ("▼3", "Was 1")),
        (Change("u", None, 2, 17), ("new", "was at 17")),
        (Change("u", None, 2), ("new", "was no candidate")),
    ],
)
def test_the_sign_on_a_card(given: Change, shown: tuple[str, str]) -> None:
    assert all(part in change.sign(given) for part in shown)


def test_what_stayed_has_no_sign() -> None:
    assert change.sign(Change("u", 2, 2)) == change.sign(None) == ""


def test_a_search_without_vectors_is_not_compared_with_one_that_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = SimpleNamespace(notes=[state.NOT_READY])
    monkeypatch.setattr(state, "search_before", lambda: (state.View(), waiting))
    assert change.since(SimpleNamespace(notes=[])) is None  # type: ignore[arg-type]
