"""A workspace that cannot be written or read is told on the page, with the folder and the remedy, and costs nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from conftest import html, until  # type: ignore[attr-defined]
from streamlit.testing.v1 import AppTest

from normrag_core import files
from normrag_core.evaluation.questions import Question, Witness, dump_jsonl
from normrag_core.storage import Workspace, blobs

Open = Callable[..., AppTest]


def _full(descriptor: int) -> None:
    raise OSError(28, "No space left on device")


def test_a_workspace_of_a_later_version_is_named(workspace: Workspace, open_app: Open) -> None:
    (workspace.path / "workspace.json").write_text(json.dumps({"layout": blobs.LAYOUT + 1}), "utf8")
    (error,) = open_app().error
    assert "written by a later version" in error.value
    assert "NORMRAG\\_WORKSPACE" in error.value


def test_a_full_disk_keeps_nobody_from_searching(
    two_editions: Workspace, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app("search", q="field strength")
    monkeypatch.setattr(files.os, "fsync", _full)
    app.text_input(key="pin_name").set_value("mine")
    next(b for b in app.button if b.label == "Pin these settings").click().run()
    assert not app.exception
    assert "No space left on device" in app.error[0].value
    assert "Remedy: free space" in app.error[0].value.replace("\\", "")
    assert "nr-result" in html(app)
    app.run()
    assert not app.error


def test_a_removal_that_failed_leaves_the_document(
    two_editions: Workspace, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app()
    monkeypatch.setattr(two_editions.__class__, "remove", lambda *_: _full(0))
    from pages import _state as state

    library = state._local_library()
    with pytest.raises(OSError, match="No space left"):
        library.remove("EN 399 001 V1.1.1")
    app.run()
    assert [d.key for d in library.loaded.corpus.documents] == ["EN 399 001 V1.1.1", "EN 399 001 V2.1.1"]


def test_a_run_that_could_not_be_kept_is_shown(
    two_editions: Workspace, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = Question("1", "How strong is the field?", witnesses=(Witness("field strength"),))
    two_editions.save_question_set("mine", dump_jsonl((question,)))
    app = open_app("evaluate")
    app.multiselect(key="evaluate_names_box").set_value(["bm25"]).run()
    monkeypatch.setattr(files.os, "fsync", _full)
    next(b for b in app.button if b.label == "Run").click().run()

    def shown() -> bool:
        app.run()
        return bool(app.error)

    until("the run", shown)
    assert "could not be kept" in app.error[0].value
    assert app.selectbox(key="evaluate_run_box").options
    next(b for b in app.button if b.label == "Remove").click().run()
    assert not app.error
    assert two_editions.run_ids() == ()
