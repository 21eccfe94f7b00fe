"""The pool with readers that die, hang, swell: each costs its file only, and the message names the file and the remedy."""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
import pytest

from normrag_core.ingest import scratch
from normrag_core.ingest.limits import Limits
from normrag_core.ingest.pool import Cancelled, IngestError, ParsePool, parse_files

READER = "pool_readers:read"


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent), *sys.path])


def quick(**limits: int) -> ParsePool:
    return ParsePool(1, Limits(**limits), READER)


@pytest.mark.parametrize(
    ("order", "limits", "says"),
    [
        ("die", {}, ("signal 11", "save the PDF anew")),
        ("exit", {}, ("exit status 3", "save the PDF anew")),
        ("hang", {"stall_seconds": 1}, ("no further for 1 s after page 1 of 3", "NORMRAG_MAX_STALL_SECONDS")),
        ("spin", {"seconds": 1}, ("more than 1 s", "NORMRAG_MAX_SECONDS")),
        ("swell", {"memory_mb": 200}, ("more than 200 MB", "NORMRAG_MAX_MEMORY_MB")),
        ("refuse", {}, ("protected by a password",)),
        ("fault", {}, ("KeyError", "save the PDF anew")),
    ],
)
def test_a_bad_file_costs_only_itself(order: str, limits: dict[str, int], says: tuple[str, ...]) -> None:
    with quick(**limits) as pool:
        with pytest.raises(IngestError) as raised:
            pool.parse("EN 1.pdf", order.encode())
        assert str(raised.value).startswith("EN 1.pdf: ")
        for words in says:
            assert words in str(raised.value)
        assert pool.parse("next.pdf", b"fine").units[0].body == "fine 3000"


def test_memory_is_capped_also_where_it_grows_between_two_looks() -> None:
    code = "import sys; from normrag_core.ingest.worker import _limit_memory; _limit_memory(600); bytearray(700_000_000)"
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if sys.platform.startswith("linux"):
        assert "MemoryError" in done.stderr


def test_what_libraries_print_is_not_taken_for_an_answer() -> None:
    with quick() as pool:
        assert pool.parse("a.pdf", b"noise").units[0].body == "noise 3000"


def test_a_worker_persists_and_is_replaced_only_after_a_fault() -> None:
    with quick() as pool:
        first = pool.parse("a.pdf", b"1").document.title
        with pytest.raises(IngestError):
            pool.parse("b.pdf", b"refuse")
        assert pool.parse("c.pdf", b"2").document.title == first
        with pytest.raises(IngestError):
            pool.parse("d.pdf", b"die")
        assert pool.parse("e.pdf", b"3").document.title != first


def test_closing_ends_the_workers() -> None:
    with quick() as pool:
        process = int(pool.parse("a.pdf", b"1").document.title)
        assert psutil.pid_exists(process)
    assert not psutil.pid_exists(process)
    with pytest.raises(IngestError, match="reading was stopped"):
        pool.parse("a.pdf", b"1")


def test_a_worker_ends_when_its_parent_is_killed() -> None:
    import subprocess

    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from normrag_core.ingest.pool import ParsePool\n"
        "pool = ParsePool(1, reader='pool_readers:read')\n"
        "print(pool.parse('a.pdf', b'1').document.title, flush=True)\n"
        "import os; os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(Path(__file__).parent)], capture_output=True, text=True, check=False)
    process = int(done.stdout)
    deadline = time.monotonic() + 20
    while psutil.pid_exists(process) and psutil.Process(process).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_progress_comes_in_pages_and_cancelling_stops_a_hanging_file() -> None:
    seen: list[tuple[int, int]] = []
    with quick() as pool:
        pool.parse("a.pdf", b"1", lambda done, total: seen.append((done, total)))
        assert seen == [(1, 3), (3, 3)]
        with pytest.raises(Cancelled):
            pool.parse("a.pdf", b"hang", cancelled=lambda: True)


def test_more_callers_than_workers_take_turns() -> None:
    titles = []
    with quick() as pool:
        threads = [threading.Thread(target=lambda: titles.append(pool.parse("a.pdf", b"1").document.title)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(titles) == 4
    assert len(set(titles)) == 1


@pytest.mark.parametrize(
    "name", ["../../etc/passwd.pdf", "x" * 300 + ".pdf", "😀 «é».pdf", "a\\b\\c.pdf", "", '"; rm -rf.pdf', "\x00.pdf"]
)
def test_any_name_is_shown_without_its_folders_and_leaves_no_file(name: str) -> None:
    before = set(_scratch())
    with quick() as pool:
        shown = pool.parse(name, b"1").document.file
    assert "/" not in shown
    assert "\\" not in shown
    assert shown == (name.replace("\\", "/").rsplit("/", 1)[-1] or "unnamed file")
    assert set(_scratch()) <= before


def test_leftovers_of_dead_processes_are_removed_and_those_of_living_ones_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "_bases", lambda: [tmp_path])
    dead, living, foreign = (tmp_path / n for n in ("normrag-999999999-a", f"normrag-{psutil.Process().pid}-a", "other-1-a"))
    for folder in (dead, living, foreign):
        folder.mkdir()
    scratch.clear_scratch()
    assert [f.exists() for f in (dead, living, foreign)] == [False, True, True]


def test_a_file_over_the_limit_is_not_even_read() -> None:
    with (
        quick(file_mb=1) as pool,
        pytest.raises(IngestError, match=r"big.pdf: has 2 MB, more than the limit of 1 MB.*NORMRAG_MAX_FILE_MB"),
    ):
        pool.parse("big.pdf", b"x" * 2_000_000)


def test_parse_files_gives_every_outcome(tmp_path: Path) -> None:
    for name, order in (("a.pdf", "1"), ("b.pdf", "die"), ("c.pdf", "refuse")):
        (tmp_path / name).write_text(order, "utf8")
    paths = [tmp_path / n for n in ("a.pdf", "b.pdf", "c.pdf", "absent.pdf")]
    outcomes = {o.path.name: o for o in parse_files(paths, workers=2, reader=READER)}
    assert outcomes["a.pdf"].parsed is not None
    assert outcomes["a.pdf"].parsed.document.file == "a.pdf"
    assert "signal 11" in outcomes["b.pdf"].error
    assert outcomes["c.pdf"].error == "c.pdf: protected by a password"
    assert "No such file" in outcomes["absent.pdf"].error
    assert list(parse_files([])) == []


def test_real_pdfs_are_read_like_in_this_process(sample_dir: Path) -> None:
    from dataclasses import replace

    from normrag_core.ingest import read_pdf

    path = sorted(sample_dir.glob("*.pdf"))[0]
    here = read_pdf(path)
    (there,) = parse_files([path])
    assert there.parsed is not None
    # Seconds differ by nature, offsets of rectangles are rounded on the way
    assert there.parsed.document.key == here.document.key
    assert [replace(u, lines=()) for u in there.parsed.units] == [replace(u, lines=()) for u in here.units]


@pytest.mark.parametrize(("name", "value"), [("NORMRAG_MAX_PAGES", "12"), ("NORMRAG_MAX_MEMORY_MB", "500")])
def test_limits_come_from_the_environment(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert getattr(Limits.from_environment(), name.removeprefix("NORMRAG_MAX_").lower()) == int(value)
    monkeypatch.setenv(name, "many")
    with pytest.raises(ValueError, match=f"{name}: expected a whole number; found 'many'"):
        Limits.from_environment()


def _scratch() -> list[Path]:
    bases = [Path("/dev/shm"), Path(tempfile.gettempdir())]
    return [f for b in bases if b.is_dir() for f in b.glob(f"normrag-{psutil.Process().pid}-*")]
