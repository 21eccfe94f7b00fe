"""The app in its own process and a real Chromium to drive it; tests that need them skip with a reason where there is none."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from walker import Walker

ROOT = Path(__file__).resolve().parent.parent.parent
_FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@contextmanager
def running_app(folder: Path, first: str = "", **settings: str) -> Iterator[str]:
    """The app's address, served from a process of its own with a fresh workspace and the toy embedder.

    first: code that this process runs before, to watch what no browser sees.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = os.environ | {"NORMRAG_WORKSPACE": str(folder / "workspace"), "NORMRAG_MODEL": "hash"} | settings
    log = (folder / "server.log").open("wb")
    code = f"{first}\nfrom streamlit.web.cli import main\nmain()"
    command = [sys.executable, "-c", code, "run", "app.py", "--server.port", str(port)]
    # A group of its own, so that the worker processes end with it.
    server = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log, start_new_session=True)
    try:
        _until_healthy(f"http://127.0.0.1:{port}/_stcore/health", server, folder / "server.log")
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
        log.close()


def _until_healthy(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    import time

    end = time.monotonic() + 60
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"the app did not start: {log.read_text('utf8', 'replace')[-2000:]}")


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the app in local mode; all tests that only look share it."""
    _chromium()
    with running_app(tmp_path_factory.mktemp("app")) as url:
        yield url


@pytest.fixture(scope="session")
def new_walker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Walker]]:
    """Makes browsers, each with a profile of its own; all are closed in the end."""
    chromium, driver = _chromium()
    from selenium import webdriver

    opened: list[Walker] = []

    def make() -> Walker:
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        profile = tmp_path_factory.mktemp("profile")
        for flag in (*_FLAGS.split(), f"--user-data-dir={profile}", "--window-size=1366,768"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        opened.append(Walker(webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))))
        return opened[-1]

    yield make
    for walker in opened:
        walker.driver.quit()


@pytest.fixture(scope="session")
def walker(new_walker: Callable[[], Walker]) -> Walker:
    """One browser for all tests that do not need a second."""
    return new_walker()


def _chromium() -> tuple[str, str]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("needs a Chromium and its driver (Debian: apt install chromium chromium-driver), which are absent")
    pytest.importorskip("selenium", reason="needs selenium, which is absent")
    return chromium, driver
