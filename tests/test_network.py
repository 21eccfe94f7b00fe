"""No data leaves the machine: everything from reading to the graph runs with sockets shut, and nobody is told of it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

ROOT = Path(__file__).resolve().parent.parent

# Loopback stays open: worker processes may talk over it. Every other attempt is written down, also where it is caught.
SHUT = """
import socket, sys
attempts = []

def local(address):
    host = address[0] if isinstance(address, tuple) else address
    return not isinstance(host, str) or host.startswith(("127.", "/")) or host in ("::1", "localhost", "")

def shut(name, place):
    real = getattr(socket.socket, name)
    def call(self, *given):
        address = given[place] if len(given) > place else None
        if self.family in (socket.AF_INET, socket.AF_INET6) and not local(address):
            attempts.append(f"{name} {address}")
            raise OSError("network is shut in this test")
        return real(self, *given)
    setattr(socket.socket, name, call)

for name in ("connect", "connect_ex", "sendto"):
    shut(name, -1 if name == "sendto" else 0)
real_lookup = socket.getaddrinfo

def lookup(host, *rest, **more):
    if host is not None and not local(host):
        attempts.append(f"getaddrinfo {host}")
        raise OSError("network is shut in this test")
    return real_lookup(host, *rest, **more)

socket.getaddrinfo = lookup
"""

WORK = """
from pathlib import Path
import normrag_core
import os
assert os.environ["HF_HUB_DISABLE_TELEMETRY"] == "1"
from normrag_core.config import PRESETS
from normrag_core.embedding import load_embedder
from normrag_core.graph import Graph, analysis, export, views
from normrag_core.graph.table import CitationTable
from normrag_core.ingest.pool import parse_files
from normrag_core.model import Corpus
from normrag_core.results_export import to_html
from normrag_core.retriever import Retriever

def main():
    files = sorted(Path(sys.argv[1]).glob("*.pdf"))[:2]
    corpus = Corpus.of([done.parsed for done in parse_files(files)])
    embedder = load_embedder()
    trace = Retriever(corpus, embedder).search("immunity to transients", PRESETS["chunked-expanded"].config)
    table = CitationTable.of(corpus)
    view = views.documents_view(table, views.Filters(), ())
    page = export.to_html(view, {}, {})
    assert trace.results and any(s.name == "dense" for s in trace.stages)
    assert "src=\\"http" not in page and "href=\\"http" not in page and "://" not in to_html(corpus, trace)
    export.to_gexf(Graph.of(corpus)), analysis.cycles(table, "document")
    print(embedder.name)
    print("attempts:", attempts)

if __name__ == "__main__":
    main()
"""


@pytest.mark.model
def test_reading_embedding_searching_and_drawing_call_nobody(tmp_path: Path, sample_dir: Path) -> None:
    script = tmp_path / "offline.py"
    script.write_text(SHUT + WORK)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("NORMRAG_", "HF_", "http", "HTTP"))}
    done = subprocess.run(
        [sys.executable, str(script), str(sample_dir)],
        cwd=ROOT,
        env=env | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "attempts: []"


def test_the_shut_sockets_would_notice() -> None:
    tried = (
        "import urllib.request\n"
        "for url in ('http://example.com', 'http://192.0.2.1'):\n"
        "    try: urllib.request.urlopen(url, timeout=2)\n"
        "    except OSError: pass\n"
        "print(attempts)"
    )
    env = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
    done = subprocess.run([sys.executable, "-c", SHUT + tried], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['getaddrinfo example.com', 'getaddrinfo 192.0.2.1']"


SERVE = """
import atexit, pathlib
from streamlit.web.cli import main
file = pathlib.Path(sys.argv[2])
atexit.register(lambda: file.write_text("\\n".join(attempts)))
main(["run", "app.py", "--server.port", sys.argv[1]])
"""


def test_a_website_that_knocks_is_refused_and_nobody_is_asked_who_we_are(tmp_path: Path) -> None:
    """Streamlit would ask checkip.amazonaws.com whether the site's address is ours."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    script, tried = tmp_path / "serve.py", tmp_path / "attempts.txt"
    script.write_text(SHUT + SERVE)
    env = {k: v for k, v in os.environ.items() if not k.startswith("NORMRAG_") and "proxy" not in k.lower()}
    env |= {"NORMRAG_WORKSPACE": str(tmp_path / "workspace"), "NORMRAG_MODEL": "hash", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(script), str(port), str(tried)]
    server = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _visit(port, f"http://127.0.0.1:{port}")
        with pytest.raises(InvalidStatus):
            _visit(port, "http://evil.example")
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)
    assert tried.read_text() == ""


def _visit(port: int, origin: str) -> None:
    """A browser's WebSocket from a page of that origin, until the app has run once for it."""
    end = time.monotonic() + 60
    while True:
        try:
            url = f"ws://127.0.0.1:{port}/_stcore/stream"
            options: dict[str, Any] = {"origin": origin, "subprotocols": ["streamlit"], "max_size": None}
            found = connect(url, **options)
            break
        except OSError:  # Not up yet.
            assert time.monotonic() < end
            time.sleep(0.1)
    with found as websocket:
        message = BackMsg()
        message.rerun_script.page_name = ""
        websocket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            answer.ParseFromString(bytes(websocket.recv(timeout=60)))
            if answer.WhichOneof("type") == "script_finished":
                return


def test_telemetry_is_off_and_requests_from_elsewhere_are_refused() -> None:
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf8"))
    assert settings["browser"]["serverAddress"] == "127.0.0.1"  # Else the start with 0.0.0.0 asks an outside host.
    assert settings["browser"]["gatherUsageStats"] is False
    assert settings["server"]["address"] == "127.0.0.1"
    assert settings["server"]["enableXsrfProtection"] is True
    assert settings["server"]["enableCORS"] is True
    assert settings["server"]["maxUploadSize"] <= 500


def test_a_telemetry_wish_of_the_user_is_kept() -> None:
    code = "import os; import normrag_core; print(os.environ['HF_HUB_DISABLE_TELEMETRY'])"
    env = os.environ | {"HF_HUB_DISABLE_TELEMETRY": "0"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"
