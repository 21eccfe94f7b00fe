"""The Evaluate page without a browser: a run and what is said of it, earlier runs, faulty files, a way through the stages."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from conftest import document, until
from streamlit.testing.v1 import AppTest

from normrag_core.codec import from_object
from normrag_core.evaluation.from_use import Marks
from normrag_core.evaluation.generation import Endpoint, generate
from normrag_core.evaluation.generation.run import Log
from normrag_core.evaluation.questions import Question, Witness, dump_jsonl
from normrag_core.storage import MemoryWorkspace, Workspace
from pages import _evaluation as evaluation
from pages._question_sets import WorkspaceLog

Open = Callable[..., AppTest]
FIELD = "The receiver shall withstand a field of 1 V/m from 80 MHz to 6 GHz."
DIPS = "The supply voltage is reduced to 70 % during 25 periods while the receiver operates."
QUESTIONS = (
    Question("q1", "Which field must be withstood?", "fact", "1 V/m", (Witness(FIELD, "a.pdf", 4, "4.1"),)),
    Question("q2", "How low may the supply get?", "table", "", (Witness(DIPS, "a.pdf", 5, "4.2"),)),
)


@pytest.fixture
def loaded(workspace: Workspace) -> Workspace:
    workspace.add(from_object(document("V1.1.1", "1 V/m")))
    workspace.save_question_set("set", dump_jsonl(QUESTIONS))
    return workspace


def measured(app: AppTest, names: list[str]) -> AppTest:
    """Runs these configurations and waits for the record."""
    app.multiselect[0].set_value(names).run()
    before = len(_workspace(app).run_ids())
    next(b for b in app.button if b.label == "Run").click().run()
    until("the run", lambda: len(_workspace(app).run_ids()) > before)
    app.run()
    assert not app.exception, app.exception
    return app


def _workspace(app: AppTest) -> Workspace | MemoryWorkspace:
    from pages import _state as state

    return state._local_library().workspace


def said(app: AppTest) -> str:
    text = "\n".join(e.value for e in (*app.markdown, *app.caption, *app.warning, *app.text))
    return text.replace("\\", "").replace("\u2060", "")


def test_a_run_is_told_in_words_and_shown_again_by_a_new_session(loaded: Workspace, open_app: Open) -> None:
    app = measured(open_app("evaluate"), ["bm25", "vanilla-dense"])
    text = said(app)
    assert "2 questions with 2 witnesses, found from 75% of their words on" in text
    assert " s in all: " in text
    assert "The same on all 2 questions: vanilla-dense." in text
    table = next(d.value for d in app.dataframe if "ceiling" in d.value)
    assert list(table["configuration"]) == ["bm25", "vanilla-dense"]
    assert list(table["ceiling"]) == ["1.000", "1.000"]
    again = open_app("evaluate")
    assert "2 questions with 2 witnesses" in said(again)


def test_what_was_marked_wrong_is_measured(loaded: Workspace, open_app: Open) -> None:
    marks = Marks().mark(QUESTIONS[0].question.upper(), "wrong", Witness(DIPS, "a.pdf"), DIPS)
    loaded.remember("rejected passages", marks.dumps()[1])
    app = measured(open_app("evaluate"), ["dense", "bm25"])
    assert "1 passage was judged wrong for these questions" in said(app)
    metrics = next(m for m in app.multiselect if m.label == "Metrics")
    assert "wrong: share judged wrong" in metrics.options
    metrics.set_value(["wrong"]).run()
    table = next(d.value for d in app.dataframe if "ceiling" in d.value)
    assert list(table.columns[:4]) == ["configuration", "wrong@1", "wrong@5", "wrong@10"]
    assert table["wrong@10"][0].startswith("0.100")


def test_two_runs_are_compared_and_what_else_changed_is_warned_of(loaded: Workspace, open_app: Open) -> None:
    app = measured(open_app("evaluate"), ["bm25"])
    (name,) = evaluation.runs(_library())[0]
    record = json.loads(json.dumps(loaded.runs()[name]))
    record["corpus"] |= {"fingerprint": "another", "files": ["b.pdf"]}
    record["started"] = "2020-01-01T00:00:00Z"
    record["configurations"][0]["questions"][0]["ranks"] = [None]
    loaded.save_run("2020-01-01T00:00:00Z set", record)
    app.run()
    box = next(s for s in app.selectbox if s.label == "Earlier run")
    assert box.options == ["2020-01-01T00:00:00Z set"]
    box.set_value("2020-01-01T00:00:00Z set").run()
    text = said(app)
    assert "Not only the settings changed: other documents were loaded (only here: a.pdf; only there: b.pdf)." in text
    assert "Between bm25 (this run) and bm25 (run of 2020-01-01T00:00:00Z) no significant difference" in text
    assert "better on 1, worse on 0 of 2 questions" in text


def _library() -> evaluation.Library:
    from pages import _state as state

    return state._local_library()


def test_lines_that_were_left_out_stay_named_until_they_were_seen(loaded: Workspace, open_app: Open) -> None:
    app = open_app("evaluate")
    app.selectbox(key="evaluate_set_box").set_value("Upload a file").run()
    rows = ("id;question;file;text", f"q1;Wie hoch?;a.pdf;{FIELD}", "q2;;a.pdf;x", ";;;", "q3;Ja?;a.pdf;nowhere ä")
    bad = "\r\n".join(rows).encode("cp1252")
    app.file_uploader[0].set_value(("mine.csv", bad, "text/csv")).run()
    next(b for b in app.button if b.label == "Check and keep it").click().run()
    for _ in range(2):
        assert app.selectbox(key="evaluate_set_box").value == "mine"
        text = said(app)
        assert "line 3: question: expected text; found nothing" in text
        assert "read as Windows-1252" in text
        assert "question q3, witness 1: its text is not in the corpus" in text
        app.run()
    next(b for b in app.button if b.label == "Seen").click().run()
    assert "line 3" not in said(app)


@pytest.mark.parametrize("made", [MemoryWorkspace, None])
def test_what_a_model_answered_is_kept_with_the_documents(made: type | None, workspace: Workspace) -> None:
    kept = made() if made else workspace
    log: Log = WorkspaceLog(kept)
    log.append('{"source": "a"}\n')
    log.append('{"source": "b"}\n')
    assert WorkspaceLog(kept).read() == '{"source": "a"}\n{"source": "b"}\n'
    kept.clear()
    assert log.read() == ""
    report = generate(kept.corpus(), [], Endpoint("http://h/v1", "m"), log)
    assert report.asked == 0
