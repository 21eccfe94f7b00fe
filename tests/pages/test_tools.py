"""The inspector and the tools of the Search page without a browser: what they show, apply and refuse."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from conftest import HOSTILE, html
from streamlit.testing.v1 import AppTest

from normrag_core.storage import Workspace

Open = Callable[..., AppTest]
QUESTION = "performance criterion for the radiated field"


def _with(app: AppTest, tool: str = "", chunk: str = "", part: str = "page") -> AppTest:
    app.session_state["search_tool"] = tool or None
    app.session_state["view"] = app.session_state["view"].with_(inspected=chunk, part=part)
    app.run()
    assert not app.exception, app.exception
    return app


def test_what_was_inspected_and_fell_out_of_the_results_is_named(two_editions: Workspace, open_app: Open) -> None:
    app = open_app("search", q=QUESTION, preset="bm25")
    first = app.session_state["last_trace"][1].results[0].chunk.id
    note = "inspected before, is not among these results"
    assert note not in html(_with(app, chunk=first))
    assert f"<b>EN 1#&lt;i&gt;</b>, {note}" in html(_with(app, chunk="EN 1#<i>"))


def _labels(app: AppTest) -> list[str]:
    return [b.label for b in app.button]


@pytest.mark.parametrize("tool", ["answer", "moves", "compare", "why_not", "history", "export"])
def test_nothing_of_a_document_is_markup_in_any_tool(two_editions: Workspace, open_app: Open, tool: str) -> None:
    app = open_app("search", q=f"criterion radiated field {HOSTILE}", preset="bm25")
    app.session_state["search_why_not_unit"] = "EN 399 001 V1.1.1#5"
    shown = html(_with(app, tool, "EN 399 001 V2.1.1#5", "context"))
    assert "<script" not in shown
    assert "<img" not in shown
    assert not any(HOSTILE in m.value for m in app.markdown)
    assert not any(HOSTILE in label for label in _labels(app))


def test_the_inspector_explains_and_says_why_there_is_no_page(two_editions: Workspace, open_app: Open) -> None:
    app = open_app("search", q=QUESTION, preset="bm25")
    shown = html(_with(app, chunk="EN 399 001 V2.1.1#4.1"))
    assert "The receiver shall withstand a field of 3 V/m" in shown
    assert "The PDF itself was not kept" in shown
    shown = html(_with(app, chunk="EN 399 001 V2.1.1#4.1", part="why"))
    assert 'data-stage="bm25"' in shown
    assert "Not in it: <q>perform</q>, <q>criterion</q>." in shown
    app = _with(app, chunk="EN 399 001 V2.1.1#4.1", part="context")
    assert "ETSI EN 399 001 V2.1.1 (2020-01), clause 4.1" in [c.value for c in app.code]


def test_a_remedy_is_applied_and_history_leads_back(two_editions: Workspace, open_app: Open) -> None:
    app = open_app("search", q=QUESTION, preset="bm25", top_k="1")
    app.session_state["search_why_not_document"] = "EN 399 001 V1.1.1"
    app.session_state["search_why_not_unit"] = "EN 399 001 V1.1.1#4"
    app = _with(app, "why_not")
    remedy = next((b for b in app.button if "Results K" in b.label), None)
    if remedy is None:
        assert "fell out in the BM25 prefilter" in html(app)
    else:
        remedy.click().run()
        assert (
            int(app.query_params["top_k"] if isinstance(app.query_params["top_k"], str) else app.query_params["top_k"][0]) > 1
        )
        assert "It is result" in html(app)
        app = _with(app, "history")
        back = next(b for b in app.button if b.key == "history_1")
        back.click().run()
        assert app.session_state["view"].config.top_k == 1


def test_compare_uses_the_other_configuration_when_asked(two_editions: Workspace, open_app: Open) -> None:
    app = _with(open_app("search", q=QUESTION, preset="bm25", bm25_b="0.1"), "compare")
    assert app.selectbox(key="w_compared").value == "bm25"  # the preset that was changed
    next(b for b in app.button if b.key == "compare_use").click().run()
    assert app.session_state["view"].config.bm25_b == 0.75


@pytest.fixture
def endpoint() -> Iterator[str]:
    """An endpoint whose model was taken in by a document."""

    class Fake(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            content = "The receiver shall withstand 99 V/m [1]. <script>alert(1)</script> HACKED."
            data = json.dumps({"choices": [{"message": {"content": content}}]}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Fake)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_what_a_language_model_makes_up_is_flagged_and_is_no_markup(
    two_editions: Workspace, open_app: Open, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NORMRAG_LLM_URL", endpoint)
    monkeypatch.setenv("NORMRAG_LLM_MODEL", "toy")
    app = _with(open_app("search", q=QUESTION, preset="bm25"), "answer")
    assert 'data-testid="written"' not in html(app)  # nothing is sent unasked
    next(b for b in app.button if b.key == "answer_write").click().run()
    shown = html(app)
    assert "not found in the cited clause: 99 v/m" in shown
    assert "cites no clause" in shown
    assert "<script" not in shown


def test_shared_mode_calls_no_address_that_a_visitor_types(
    two_editions: Workspace, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = _with(open_app("search", q=QUESTION, preset="bm25"), "answer")
    assert any(t.key == "answer_url" for t in app.text_input)
    monkeypatch.setenv("NORMRAG_SHARED", "1")
    monkeypatch.delenv("NORMRAG_LLM_URL", raising=False)
    app.run()
    assert not any(t.key == "answer_url" for t in app.text_input)


def test_the_key_of_the_environment_goes_to_no_other_address(
    two_editions: Workspace, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pages import _answer

    asked = {}
    monkeypatch.setattr(_answer, "write_answer", lambda endpoint, *_: asked.update(key=endpoint.key, url=endpoint.base_url))
    monkeypatch.setattr(_answer, "written", lambda _: "")
    monkeypatch.setenv("NORMRAG_LLM_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("NORMRAG_LLM_MODEL", "toy")
    monkeypatch.setenv("NORMRAG_LLM_KEY", "s3cret")
    app = _with(open_app("search", q=QUESTION, preset="bm25"), "answer")
    next(b for b in app.button if b.key == "answer_write").click().run()
    assert asked == {"key": "s3cret", "url": "http://127.0.0.1:9/v1"}
    app.text_input(key="answer_url").set_value("http://127.0.0.1:8/v1").run()
    next(b for b in app.button if b.key == "answer_write").click().run()
    assert asked == {"key": "", "url": "http://127.0.0.1:8/v1"}
