"""The library behind the pages: opened when first asked, searched while documents come in, words before vectors."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from normrag_core.codec import from_object
from normrag_core.config import RetrieverConfig
from normrag_core.storage import MemoryWorkspace, Workspace, WorkspaceError
from pages import _intake as intake
from pages import _jobs as jobs
from pages._jobs import FileJob
from pages._library import SESSION_MB, Library, session_megabytes

WORDS = RetrieverConfig(ranking="bm25")


def unit_file(number: int, word: str) -> dict:
    title = f"Standard {number}"
    return {
        "document": {
            "id": f"EN 399 {number:03}",
            "version": "V1.1.1",
            "date": "2020-01",
            "title": title,
            "pages": 9,
            "file": "a",
        },
        "units": [
            {"key": "", "code": "", "title": title, "kind": "document", "parent": None, "page": 1, "body": ""},
            {
                "key": "4",
                "code": "4",
                "title": "Limits",
                "kind": "clause",
                "parent": "",
                "page": 2,
                "body": f"The {word} is 5 V.",
            },
        ],
    }


def upload(number: int, word: str) -> tuple[str, bytes]:
    return f"{number}.json", json.dumps(unit_file(number, word)).encode()


@pytest.fixture(autouse=True)
def _no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NORMRAG_MODEL", "hash")


def test_a_workspace_is_read_when_somebody_first_asks(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.add(from_object(unit_file(1, "voltage")))
    library = Library(workspace)
    assert not library.ready
    assert [d.id for d in library.loaded.corpus.documents] == ["EN 399 001"]
    assert library.ready
    assert Library(Workspace(tmp_path / "empty")).ready


def test_who_waits_hears_why_a_workspace_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(tmp_path)
    workspace.add(from_object(unit_file(1, "voltage")))

    def broken() -> None:
        raise WorkspaceError("no disk")

    monkeypatch.setattr(workspace, "everything", broken)
    library = Library(workspace)
    for _ in range(2):
        with pytest.raises(WorkspaceError, match="no disk"):
            library.wait()


def test_searches_go_on_in_the_old_state_while_the_new_one_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(MemoryWorkspace())
    library.add([upload(1, "voltage")])
    library._intake.wait(lambda: False)
    begun, go_on = threading.Event(), threading.Event()
    build = library._words

    def slow(loaded: object) -> None:
        begun.set()
        go_on.wait(30)
        build(loaded)  # type: ignore[arg-type]

    monkeypatch.setattr(library, "_words", slow)
    before = library.loaded.revision
    library.add([upload(2, "current")])
    assert begun.wait(30)
    assert library.reading
    assert [r.chunk.document for r in library.search("voltage", WORDS, None).results] == ["EN 399 001 V1.1.1"]
    assert not library.search("current", WORDS, None).results
    assert library.loaded.revision == before
    go_on.set()
    library._intake.wait(lambda: False)
    assert [r.chunk.document for r in library.search("current", WORDS, None).results] == ["EN 399 002 V1.1.1"]


def test_vectors_wait_until_files_are_read() -> None:
    reading, go_on = threading.Event(), threading.Event()

    def read(*_: object) -> list:
        reading.set()
        go_on.wait(30)
        return []

    files = intake.Intake(read, lambda *_: "", lambda: None)
    files.wait(lambda: False)  # Nothing is read: no waiting.
    files.add([("a.pdf", b"")])
    assert reading.wait(30)
    waited = threading.Event()
    waiter = threading.Thread(target=lambda: (files.wait(lambda: False), waited.set()))
    waiter.start()
    assert not waited.wait(0.05)
    files.wait(lambda: True)  # One who gave up does not wait on.
    go_on.set()
    waiter.join(30)
    assert waited.is_set()


def test_taking_all_files_back_leaves_what_was_read() -> None:
    library = Library(MemoryWorkspace())
    library.add([upload(1, "voltage")])
    library._intake.wait(lambda: False)
    library.add([upload(n, "current") for n in range(2, 40)])
    library.cancel_files()
    library._intake.wait(lambda: False)
    assert {f.stage for f in library.files} <= {"done", "cancelled"}
    assert len(library.loaded.corpus.documents) == sum(f.stage == "done" for f in library.files)


def test_rate_and_time_left_of_all_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs.time, "monotonic", lambda: 110.0)
    files = (
        FileJob(1, "a", "done", 30, 30, began=90.0, ended=100.0),
        FileJob(2, "b", "reading", 20, 40, began=100.0),
        FileJob(3, "c", "reading", 40, 50, began=100.0),
        FileJob(4, "d", "queued"),
    )
    # 2 + 4 pages a second; 20 + 10 pages and a queued file of (30 + 40 + 50) / 3.
    assert jobs.together(files) == (6.0, (20 + 10 + 40) / 6)
    assert jobs.together(files[:1]) == (0.0, None)
    assert jobs.together(files[3:]) == (0.0, None)


def test_who_only_searches_shares_the_shelfs_index_and_who_uploads_has_one_of_their_own() -> None:
    shelf = Library(MemoryWorkspace())
    shelf.add([upload(1, "voltage")])
    shelf._intake.wait(lambda: False)
    first, second = (Library(MemoryWorkspace(), shelf) for _ in range(2))
    assert first.loaded.retriever is second.loaded.retriever is shelf.loaded.retriever
    assert not first.may_stop_vectors
    assert shelf.may_stop_vectors
    first.add([upload(2, "current")])
    first._intake.wait(lambda: False)
    assert first.loaded.retriever is not shelf.loaded.retriever
    assert first.may_stop_vectors
    assert [d.id for d in first.loaded.corpus.documents] == ["EN 399 001", "EN 399 002"]
    assert first.search("current", WORDS, None).results
    assert not second.search("current", WORDS, None).results
    first.remove("EN 399 002 V1.1.1")
    assert first.loaded.retriever is shelf.loaded.retriever


def test_a_session_that_is_full_says_so_and_keeps_what_it_has() -> None:
    library = Library(MemoryWorkspace(limit=1_000))
    library.add([upload(1, "voltage")])
    library._intake.wait(lambda: False)
    library.add([(f"{n}.json", json.dumps(unit_file(n, "current " * 50 + os.urandom(2_000).hex())).encode()) for n in (2,)])
    library._intake.wait(lambda: False)
    assert [f.stage for f in library.files] == ["done", "failed"]
    assert "NORMRAG_MAX_SESSION_MB" in library.files[1].message
    assert [d.id for d in library.loaded.corpus.documents] == ["EN 399 001"]


def test_the_sessions_limit_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NORMRAG_MAX_SESSION_MB", raising=False)
    assert session_megabytes() == SESSION_MB
    monkeypatch.setenv("NORMRAG_MAX_SESSION_MB", "80")
    assert session_megabytes() == 80
    monkeypatch.setenv("NORMRAG_MAX_SESSION_MB", "much")
    with pytest.raises(ValueError, match="expected a whole number of megabytes; found 'much'"):
        session_megabytes()


def test_nothing_of_a_session_that_is_over_stays_or_comes_in(monkeypatch: pytest.MonkeyPatch) -> None:
    reached, over = threading.Event(), threading.Event()
    shelf = Library(MemoryWorkspace())
    library = Library(MemoryWorkspace(), shelf)
    take = library._take

    def late(*given: object) -> str:
        reached.set()
        assert over.wait(10)
        return take(*given)  # type: ignore[arg-type]

    library.add([upload(1, "voltage")])
    library._intake.wait(lambda: False)
    library._intake._take = late
    library.add([upload(2, "current")])
    assert reached.wait(10)
    library.end()
    over.set()
    library._intake.wait(lambda: False)
    assert library.loaded.corpus.documents == ()
    assert library.workspace.documents() == []
    assert library._resolver._resolved == {}
