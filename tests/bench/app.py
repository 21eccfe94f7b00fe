"""The app in a real Chromium: time to the first page, and from a question to its painted results."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench import material
from tests.bench.table import Row, Section, peer, percentile

KEPT = material.ROOT / "build" / "bench-workspace"
EMPTY = "import streamlit as st\nst.text_input('Question')\n"
THERE = "return !!document.querySelector(arguments[0])"
BOX, RESULT = ".st-key-question input", ".nr-result"
COUNTING = """
window.WebSocket = class extends WebSocket {
  constructor(...args) {
    super(...args);
    this.addEventListener('message', e => { window.received += e.data.byteLength ?? e.data.size ?? e.data.length; });
  }
};
"""
STATE = "const app = document.querySelector('.stApp'); return !!app && app.dataset.testScriptState === 'notRunning'"


def start(full: bool) -> Section:
    """From the command to a page that can be used and to the first answer; three starts each, the median counts."""
    with browser() as driver, tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(EMPTY, "utf8")
        empty = sorted(_empty(driver, bare) for _ in range(3))[1]
        firsts = [_first(driver, Path(folder) / f"workspace-{n}") for n in range(3)]
        fresh, lexical = (sorted(times)[1] for times in zip(*firsts, strict=True))
        workspace = prepared()
        seconds = [_second(driver, workspace) for _ in range(3)]
        painted, answered = (sorted(times)[1] for times in zip(*seconds, strict=True))
    name = peer("streamlit")
    beside = f"{empty:.1f} s (empty app)"
    loaded = f"second start, {material.name()} in the workspace"
    return Section(
        "Start",
        f"From `streamlit run` to a page that answers, in Chromium. The empty app of {name} has one text box.",
        (
            Row("first start, empty workspace: first page", f"{fresh:.1f} s", beside, f"{fresh / empty:.1f} ×"),
            Row("first start: first results by words on the sample", f"{lexical:.1f} s", beside, f"{lexical / empty:.1f} ×"),
            Row(
                f"{loaded}: Search page takes a question",
                f"{painted:.1f} s",
                beside,
                f"{painted / empty:.1f} ×",
                "≤ 3 ×",
                painted <= 3 * empty,
            ),
            Row(
                f"{loaded}: first question answered, asked as soon as the page took it",
                f"{answered:.1f} s",
                beside,
                f"{answered / empty:.1f} ×",
                "≤ 3 ×",
                answered <= 3 * empty,
            ),
        ),
    )


def round_trip(full: bool) -> Section:
    """Type a question, press Enter, wait for the painted results of that question."""
    from selenium.webdriver.common.keys import Keys

    questions = material.questions()[:50]
    spent: list[float] = []
    sizes: list[float] = []
    with browser() as driver, serving(material.ROOT / "app.py", {"NORMRAG_WORKSPACE": str(prepared())}) as url:
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": COUNTING})
        driver.get(f"{url}/search")
        _until(driver, THERE, BOX)
        for number, question in enumerate((questions[0], *questions)):
            box = driver.find_element("css selector", BOX)
            box.send_keys(Keys.CONTROL, "a")
            box.send_keys(f"{question} " if number else "warm up")
            before = driver.execute_script("const r = document.querySelector('.nr-result'); return r ? r.innerText : ''")
            driver.execute_script("window.received = 0")
            began = time.monotonic()
            box.send_keys(Keys.ENTER)
            changed = "const r = document.querySelector('.nr-result'); return !!r && r.innerText !== arguments[0]"
            _until(driver, changed, before)
            if number:
                spent.append(time.monotonic() - began)
            _until(driver, STATE)
            if number:
                sizes.append(driver.execute_script("return window.received") / 1000)
    p50, p95 = 1000 * percentile(spent, 0.5), 1000 * percentile(spent, 0.95)
    return Section(
        "Round trip in the browser",
        f"{len(spent)} questions on {material.name()}, from Enter to the painted first result.",
        (
            Row("p50", f"{p50:.0f} ms", target="≤ 700 ms", met=p50 <= 700),
            Row("p95", f"{p95:.0f} ms"),
            Row("sent to the browser a question, median", f"{percentile(sizes, 0.5):.0f} kB"),
        ),
    )


def prepared() -> Path:
    """A workspace with all documents and the vectors of the default preset, kept for the next run."""
    from normrag_core.chunking import make_chunks
    from normrag_core.config import DEFAULT_PRESET, PRESETS
    from normrag_core.embedding import embedding_text, load_embedder
    from normrag_core.ingest.pool import parse_files
    from normrag_core.storage import Workspace, handle

    workspace = Workspace(KEPT)
    known = {p.document.file for p in workspace.documents()}
    for done in parse_files([f for f in material.pdfs() if f.name not in known]):
        if done.parsed is not None:
            workspace.add(done.parsed, done.path.read_bytes())
    workspace.remember("sample", "removed")
    corpus, config = workspace.corpus(), PRESETS[DEFAULT_PRESET].config
    chunks = make_chunks(corpus, config.chunking, config.max_words, config.context)
    owners = [handle(corpus.by_key[c.document]) for c in chunks]
    workspace.vectors.embed(load_embedder(), [embedding_text(c) for c in chunks], owners=owners)
    return KEPT


@contextmanager
def browser() -> Iterator[Any]:
    """A headless Chromium at laptop size."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"):
            options.add_argument(flag)
        options.add_argument(f"--user-data-dir={profile}")
        options.add_argument("--window-size=1366,768")
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver") or ""))
        try:
            yield driver
        finally:
            driver.quit()


@contextmanager
def serving(script: Path, settings: dict[str, str]) -> Iterator[str]:
    """Address of an app in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port), "--server.headless", "true"]
    server = subprocess.Popen(
        command,
        cwd=material.ROOT,
        env=os.environ | settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(server, url)
        yield url
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def _empty(driver: Any, script: Path) -> float:
    """Seconds until the empty app's box is there."""
    began = time.monotonic()
    with serving(script, {}) as url:
        driver.get(url)
        _until(driver, THERE, "input")
        return time.monotonic() - began


def _second(driver: Any, workspace: Path) -> tuple[float, float]:
    """(seconds to the Search page's box, seconds to the results of a question typed there at once)."""
    from selenium.webdriver.common.keys import Keys

    began = time.monotonic()
    with serving(material.ROOT / "app.py", {"NORMRAG_WORKSPACE": str(workspace)}) as url:
        driver.get(f"{url}/search")
        _until(driver, THERE, BOX)
        page = time.monotonic() - began
        driver.find_element("css selector", BOX).send_keys(material.questions()[0], Keys.ENTER)
        _until(driver, THERE, RESULT)
        return page, time.monotonic() - began


def _first(driver: Any, workspace: Path) -> tuple[float, float]:
    """(seconds to the first page, seconds to the first results by words) with nothing there before."""
    began = time.monotonic()
    with serving(material.ROOT / "app.py", {"NORMRAG_WORKSPACE": str(workspace)}) as url:
        driver.get(url)
        _until(driver, THERE, "[data-testid=stTopNavLink], [data-testid=stSidebarNavLink]")
        page = time.monotonic() - began
        driver.get(f"{url}/search?q=immunity")
        _until(driver, THERE, RESULT)
        return page, time.monotonic() - began


def _wait(server: subprocess.Popen[bytes], url: str, seconds: float = 60) -> None:
    """Until the server answers; RuntimeError where it ends or stays silent instead."""
    from urllib.request import urlopen

    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            with urlopen(f"{url}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError(f"{url}: expected an answer within {seconds:.0f} s; found none (exit status {server.poll()})")


def _until(driver: Any, script: str, *args: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if driver.execute_script(script, *args):
            return
        time.sleep(0.01)
    raise TimeoutError(script)
