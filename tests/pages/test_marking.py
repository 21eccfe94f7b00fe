"""A result marked right becomes a question of the user's own set, on disk in local mode and in memory in shared mode."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from conftest import document, html, until
from streamlit.testing.v1 import AppTest

from normrag_core.storage import Workspace

Open = Callable[..., AppTest]
ASKED = "field the receiver shall withstand"


def _inspected(open_app: Open) -> AppTest:
    """The Search page with the inspector of its first result open."""
    app = open_app("search", q=ASKED)
    first = app.session_state["last_trace"][1].results[0].chunk.id
    app.session_state["view"] = app.session_state["view"].with_(inspected=first)
    return app.run()


def _mark(app: AppTest, pressed: str | None) -> AppTest:
    """Presses a button; None: the one that is on, again."""
    app.button_group(key="w_mark").set_value(pressed).run()
    assert not app.exception, app.exception
    return app


def test_a_mark_makes_a_question_and_can_be_taken_back(two_editions: Workspace, open_app: Open) -> None:
    app = _mark(_inspected(open_app), "right")
    assert app.session_state["w_mark"] == "right"
    assert "✓ marked right" in html(app)
    question = json.loads(two_editions.question_sets()["mine"])
    (witness,) = question["witnesses"]
    assert question["question"] == ASKED
    assert (witness["file"], witness["page"], witness["clause"]) == ("a.pdf", 4, "4.1")
    assert witness["text"].startswith("The receiver shall withstand a field of")

    evaluate = open_app("evaluate")
    assert "mine" in evaluate.selectbox(key="evaluate_set_box").options

    _mark(app, "wrong")
    assert "✗ marked wrong" in html(app)
    assert two_editions.question_sets() == {}
    assert ASKED in two_editions.recall("rejected passages")
    _mark(app, None)
    assert two_editions.recall("rejected passages") == ""
    assert app.session_state["w_mark"] is None


def test_marks_of_a_shared_session_stay_in_its_memory(
    workspace: Workspace, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NORMRAG_SHARED", "1")
    app = open_app("search")
    library = app.session_state["library"]
    library.add([("one.json", json.dumps(document("V1.1.1", "1 V/m")).encode())])
    until("the document", lambda: len(library.loaded.corpus.documents) == 1)
    app.run()
    app.text_input(key="question").set_value(ASKED).run()
    first = app.session_state["last_trace"][1].results[0].chunk.id
    app.session_state["view"] = app.session_state["view"].with_(inspected=first)
    _mark(app.run(), "right")
    assert list(library.workspace.question_sets()) == ["mine"]
    assert workspace.question_sets() == {}
