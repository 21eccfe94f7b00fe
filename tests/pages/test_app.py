"""The Corpus and Search pages driven without a browser: what they show, keep and refuse."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import HOSTILE, document, html, until
from streamlit.testing.v1 import AppTest

from normrag_core.storage import Workspace
from pages import _state as state

Open = Callable[..., AppTest]


def _results(app: AppTest) -> list[str]:
    return [e.proto.body for e in app.get("html") if 'aria-label="Result' in e.proto.body]


def test_the_table_says_how_each_document_was_read(two_editions: Workspace, open_app: Open) -> None:
    shown = html(open_app())
    assert "2 standards · 8 clauses · 4 citations, 50% of them resolved" in shown
    assert "1 resolved, 1 not loaded" in shown
    assert "1 warning" in shown
    assert shown.count("newer loaded: V2.1.1") == 1


def test_an_empty_workspace_offers_the_sample(workspace: Workspace, open_app: Open) -> None:
    app = open_app()
    assert "No standards loaded" in html(app)
    assert [b.label for b in app.button] == ["Load the sample"]
    assert "No standards loaded" in html(open_app("search"))


def test_nothing_of_a_document_is_markup_on_either_page(two_editions: Workspace, open_app: Open) -> None:
    corpus = open_app()
    corpus.session_state["corpus_opened"] = "EN 399 001 V1.1.1"
    corpus.run()
    search = open_app("search", q="criterion radiated field")
    for shown in (html(corpus), html(search)):
        assert "&lt;script&gt;" in shown
        assert "<script" not in shown
        assert "<img" not in shown
    # Nor is any of it Markdown: labels of buttons and options are the only other way in.
    assert not any(HOSTILE in m.value for m in [*corpus.markdown, *search.markdown])


def test_a_question_is_ranked_and_stands_in_the_address(two_editions: Workspace, open_app: Open) -> None:
    app = open_app("search")
    app.text_input(key="question").set_value("field the receiver shall withstand").run()
    first = _results(app)[0]
    assert "4.1 Radiated field" in first
    assert "4 Test conditions" in first
    assert '<mark class="nr-mark">field</mark>' in first
    assert app.query_params["q"] == "field the receiver shall withstand"
    assert any("newer edition loaded: EN 399 001 V2.1.1" in r for r in _results(app))


def test_a_changed_setting_is_shown_against_the_preset_and_can_be_reset(two_editions: Workspace, open_app: Open) -> None:
    app = open_app("search", q="radiated field", preset="chunked-rrf")
    app.slider(key="w_alpha").set_value(0.5).run()
    assert "<s>1</s> <b>0.5</b>" in html(app)
    assert app.query_params["alpha"] == "0.5"
    next(b for b in app.button if b.label == "Reset").click().run()
    assert "nr-changes" not in html(app)
    assert "alpha" not in app.query_params
    assert app.slider(key="w_alpha").value == 1.0


def test_flat_windows_switch_smoothing_off_and_say_so(two_editions: Workspace, open_app: Open) -> None:
    app = open_app("search", q="radiated field", alpha="0.5")
    app.selectbox(key="w_chunking").set_value("vanilla").run()
    assert "smoothing and expansion were switched off" in html(app)
    assert app.slider(key="w_alpha").value == 1.0
    assert app.slider(key="w_alpha").disabled


def test_a_link_brings_its_settings_and_says_what_it_got_wrong(two_editions: Workspace, open_app: Open) -> None:
    app = open_app("search", q="radiated field", preset="chunked-smoothed", rrf_k="7", hops="many")
    assert app.selectbox(key="w_preset").value == "chunked-smoothed"
    assert app.select_slider(key="w_rrf_k").value == 7
    assert "hops" in html(app)


def test_a_reference_shows_the_clause_of_the_latest_edition(two_editions: Workspace, open_app: Open) -> None:
    shown = html(open_app("search", q="EN 399 001 4.1"))
    opened = shown[shown.index("nr-opened") :]
    assert "EN 399 001 V2.1.1" in opened[:300]
    assert "3 V/m" in opened[:1500]


def test_questions_about_something_else_are_said_to_be_weak(two_editions: Workspace, open_app: Open) -> None:
    assert "Weak results" in html(open_app("search", q="sourdough bread baking general"))
    assert "Nowhere in the loaded documents" in html(open_app("search", q="sourdough bread baking general"))
    assert "Weak results" not in html(open_app("search", q="supply voltage dips receiver operates"))


def test_a_neighbour_is_opened_in_place_and_survives_as_a_link(two_editions: Workspace, open_app: Open) -> None:
    where = {"open": "EN 399 001 V2.1.1#5", "at": "EN 399 001 V2.1.1#4.1"}
    app = open_app("search", q="field the receiver shall withstand", **where)
    opened = next(e.proto.body for e in app.get("html") if "nr-opened" in e.proto.body)
    assert "Performance criterion A" in opened.replace('<mark class="nr-mark">', "").replace("</mark>", "")
    assert "cited here" in opened
    assert dict(app.query_params).items() >= where.items()


def test_a_filter_keeps_other_documents_out(two_editions: Workspace, open_app: Open) -> None:
    app = open_app("search", q="radiated field", doc="EN 399 001 V1.1.1")
    assert _results(app)
    assert not any("V2.1.1</b>" in r for r in _results(app))


def test_own_settings_are_pinned_by_name_and_kept_in_the_workspace(two_editions: Workspace, open_app: Open) -> None:
    app = open_app("search", q="radiated field", rrf_k="7")
    app.text_input(key="pin_name").set_value("seven").run()
    next(b for b in app.button if b.label == "Pin these settings").click().run()
    assert two_editions.presets()["seven"].rrf_k == 7
    assert app.selectbox(key="w_preset").value == "seven"
    app.text_input(key="pin_name").set_value("dense").run()
    next(b for b in app.button if b.label == "Pin these settings").click().run()
    assert [e.value for e in app.error] == ["Expected a name that no built-in preset has."]


def test_unit_files_are_taken_bad_ones_say_why_and_a_second_copy_counts_once(workspace: Workspace, open_app: Open) -> None:
    open_app()
    library = state._local_library()
    good = json.dumps(document("V1.1.1", "1 V/m")).encode()
    library.add([("bad.json", b"{"), ("worse.json", b'{"document": {}}'), ("good.json", good)])
    until("the end of reading", lambda: not any(f.active for f in library.files))
    stages = {f.name: f.stage for f in library.files}
    assert stages == {"bad.json": "failed", "worse.json": "failed", "good.json": "done"}
    message = next(f.message for f in library.files if f.name == "worse.json")
    assert message.startswith("worse.json: no file of units (")
    assert "expected" in message
    assert "python -m normrag_core parse" in message
    until("the document", lambda: len(library.loaded.corpus.documents) == 1)
    assert "bad.json" in html(open_app())


def test_removing_and_deleting_everything_leaves_nothing(two_editions: Workspace, open_app: Open) -> None:
    app = open_app()
    library = state._local_library()
    library.remove("EN 399 001 V1.1.1")
    app.run()
    assert "1 standard ·" in html(app)
    assert len(two_editions.documents()) == 1
    two_editions.save_preset("mine", state.View().config)
    # The page reruns by itself when the vectors are there, which would close the dialog.
    for _ in range(200):
        if not library.busy:
            break
        time.sleep(0.05)
    app.run()
    next(b for b in app.button if b.label == "Delete everything").click().run()
    assert len(two_editions.documents()) == 1
    # The dialog's own button is pressed in the browser test: AppTest does not rerun a dialog.
    assert app.get_by_key("really_delete").label == "Delete everything"
    library.clear()
    app.run()
    assert two_editions.documents() == []
    assert two_editions.presets() == {}
    assert "No standards loaded" in html(app)


def test_shared_sessions_see_nothing_of_each_other(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_app: Open
) -> None:
    monkeypatch.setenv("NORMRAG_SHARED", "1")
    (tmp_path / "shelf").mkdir()
    monkeypatch.setenv("NORMRAG_CORPUS", str(tmp_path / "shelf"))
    one, two = open_app(), open_app()
    mine = one.session_state["library"]
    mine.add([("mine.json", json.dumps(document("V1.1.1", "1 V/m")).encode())])
    until("the document", lambda: len(mine.loaded.corpus.documents) == 1)
    mine.save_preset("secret", state.View().config)
    one.run()
    two.run()
    assert "EN 399 001" in html(one)
    assert "EN 399 001" not in html(two)
    assert two.session_state["library"].own_presets() == {}
    assert workspace.documents() == []
    assert workspace.presets() == {}


def test_local_mode_is_not_served_to_other_machines(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, open_app: Open
) -> None:
    from streamlit import config

    monkeypatch.setattr(state.st, "get_option", lambda name: "0.0.0.0" if name == "server.address" else config.get_option(name))
    app = open_app()
    assert len(app.error) == 1
    assert "127.0.0.1" in app.error[0].value
    assert html(app).count("nr-documents") == 0
    monkeypatch.setenv("NORMRAG_SHARED", "1")
    assert state.too_wide() == ""


def test_the_first_page_does_not_wait_for_heavy_libraries(workspace: Workspace) -> None:
    script = (
        "import sys; from streamlit.testing.v1 import AppTest\n"
        "app = AppTest.from_file(sys.argv[1], default_timeout=30).run(); assert not app.exception, app.exception\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'onnxruntime', 'pymupdf'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    root = Path(state.ROOT)
    done = subprocess.run([sys.executable, "-c", script, str(root / "app.py")], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-1500:]
