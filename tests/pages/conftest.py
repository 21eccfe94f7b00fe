"""The app without a browser: Streamlit's AppTest over a workspace of two small documents."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from normrag_core.codec import from_object
from normrag_core.storage import Workspace
from pages import _library

ROOT = Path(__file__).resolve().parent.parent.parent
HOSTILE = "<script>alert(1)</script> $x^2$ :red[y] :material/home: [l](javascript:a) <img src=x onerror=a()>"


def document(version: str, level: str, title: str = "Immunity of receivers") -> dict:
    """A small standard in unit JSON."""
    return {
        "document": {"id": "EN 399 001", "version": version, "date": "2020-01", "title": title, "pages": 9, "file": "a.pdf"},
        "units": [
            {"key": "", "code": "", "title": title, "kind": "document", "parent": None, "page": 1, "body": ""},
            {
                "key": "4",
                "code": "4",
                "title": "Test conditions",
                "kind": "clause",
                "parent": "",
                "page": 4,
                "body": "General.",
            },
            {
                "key": "4.1",
                "code": "4.1",
                "title": "Radiated field",
                "kind": "clause",
                "parent": "4",
                "page": 4,
                "body": f"The receiver shall withstand a field of {level} from 80 MHz to 6 GHz. See clause 5.",
            },
            {
                "key": "4.2",
                "code": "4.2",
                "title": "Supply dips",
                "kind": "clause",
                "parent": "4",
                "page": 5,
                "body": "The supply voltage is reduced to 70 % during 25 periods while the receiver operates.",
            },
            {
                "key": "5",
                "code": "5",
                "title": HOSTILE,
                "kind": "clause",
                "parent": "",
                "page": 6,
                "body": f"{HOSTILE} Performance criterion A applies to the radiated field.",
            },
        ],
        "citations": [
            {"source": "4.1", "page": 4, "text": "clause 5", "document": "EN 399 001", "target": "5", "state": "resolved"},
            {"source": "4.1", "page": 4, "text": "EN 399 777", "document": "EN 399 777", "target": "", "state": "not-loaded"},
        ],
        "report": {
            "counts": {"clauses": 4},
            "findings": [{"kind": "page-without-text", "page": 7, "text": HOSTILE, "severity": "warning"}],
        },
    }


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """An empty workspace that the app opens; the sample was removed from it."""
    monkeypatch.setenv("NORMRAG_WORKSPACE", str(tmp_path))
    monkeypatch.setenv("NORMRAG_MODEL", "hash")
    monkeypatch.delenv("NORMRAG_SHARED", raising=False)
    monkeypatch.chdir(ROOT)
    made = Workspace(tmp_path)
    made.remember("sample", "removed")
    st.cache_resource.clear()
    _library.shelf.cache_clear()
    yield made
    st.cache_resource.clear()


@pytest.fixture
def two_editions(workspace: Workspace) -> Workspace:
    """The workspace with a document in two editions."""
    workspace.add(from_object(document("V1.1.1", "1 V/m")))
    workspace.add(from_object(document("V2.1.1", "3 V/m")))
    return workspace


@pytest.fixture
def open_app() -> Callable[..., AppTest]:
    """Runs the app at a page, with query parameters, until its vectors are made."""

    def open_at(page: str = "", **query: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
        if page:
            app.switch_page(f"pages/{page}.py")
            for name, value in query.items():
                app.query_params[name] = value
            app.run()
        assert not app.exception, app.exception
        return app

    return open_at


def html(app: AppTest) -> str:
    """All our HTML on the page, the style sheet left out."""
    return "\n".join(e.proto.body for e in app.get("html") if not e.proto.body.startswith("<style"))


def until(what: str, test: Callable[[], bool]) -> None:
    """Waits for what a background thread does."""
    end = time.monotonic() + 20
    while not test():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)
