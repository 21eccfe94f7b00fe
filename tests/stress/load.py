"""Many browser sessions at once on a real server in shared mode: errors, response times, memory of the server.

A session speaks to the server as a browser does: Streamlit's own messages over a WebSocket, files by PUT. Most ask questions,
two upload standards all the while. What a browser takes to draw is not in it: `make bench` measures that.
"""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import psutil
import requests
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import UploadedFileInfo
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from tests.bench import material
from tests.bench.app import serving
from tests.bench.table import percentile

PATIENCE = 120.0
"""Seconds after which a run of a page counts as an error."""
THINKING = 2.0  # Seconds at most between an answer and the next question.
UPLOADERS = 2
RESULT, WORKING = 'class="nr-card nr-result', 'class="nr-card nr-jobs"'


class Session:
    """One browser. `widgets`: kind of element → the id of the last one shown; `html`: what the last run showed."""

    def __init__(self, url: str, page: str) -> None:
        self._url, self._page = url, page
        self._http = requests.Session()
        self._http.get(f"{url}/_stcore/health", timeout=PATIENCE)  # Sets the cookie that uploads must repeat.
        self._socket = connect(f"{url.replace('http', 'ws')}/_stcore/stream", subprotocols=["streamlit"], max_size=None)  # type: ignore[list-item]
        self._id = ""
        self.widgets: dict[str, str] = {}
        self.html = ""
        self.run()

    def run(self, **values: Any) -> float:
        """Runs the page with text_input=... or file_uploader=...; seconds until it has run through."""
        message = BackMsg()
        message.rerun_script.page_name = self._page
        for kind, value in values.items():
            state = message.rerun_script.widget_states.widgets.add()
            state.id = self.widgets[kind]
            if isinstance(value, str):
                state.string_value = value
            else:
                state.file_uploader_state_value.uploaded_file_info.extend(value)
        began = time.monotonic()
        self._socket.send(message.SerializeToString())
        html: list[str] = []
        while True:
            answer = self._next()
            kind = answer.WhichOneof("type")
            if kind == "new_session":
                self._id = answer.new_session.initialize.session_id or self._id
                html.clear()
            elif kind == "delta":
                self._element(answer.delta.new_element, html)
            elif kind == "script_finished" and answer.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                self.html = "\n".join(html)
                return time.monotonic() - began

    def upload(self, files: Sequence[tuple[str, bytes]]) -> None:
        """Puts files, (name, content) each, where the server asks for them and runs the page with them."""
        message = BackMsg()
        message.file_urls_request.request_id = uuid.uuid4().hex
        message.file_urls_request.file_names.extend(name for name, _ in files)
        message.file_urls_request.session_id = self._id
        self._socket.send(message.SerializeToString())
        while (answer := self._next()).WhichOneof("type") != "file_urls_response":
            pass
        infos = []
        for (name, content), urls in zip(files, answer.file_urls_response.file_urls, strict=True):
            self._http.put(
                self._url + urls.upload_url,
                files={"file": (name, content)},
                headers={"X-Xsrftoken": self._http.cookies.get("_streamlit_xsrf", "")},
                timeout=PATIENCE,
            ).raise_for_status()
            infos.append(UploadedFileInfo(name=name, size=len(content), file_id=urls.file_id, file_urls=urls))
        self.run(file_uploader=infos)

    def close(self) -> None:
        self._socket.close()
        self._http.close()

    def _element(self, element: Any, html: list[str]) -> None:
        kind = element.WhichOneof("type")
        if kind in ("text_input", "file_uploader"):
            self.widgets[kind] = getattr(element, kind).id
        elif kind == "html":
            html.append(element.html.body)
        elif kind == "exception":
            raise RuntimeError(f"the page shows {element.exception.type}: {element.exception.message}")

    def _next(self) -> ForwardMsg:
        data = self._socket.recv(timeout=PATIENCE)
        answer = ForwardMsg()
        answer.ParseFromString(data if isinstance(data, bytes) else data.encode())
        return answer


def run(sessions: int, questions: int) -> int:
    """Prints errors, p50 and p95 of a question, memory; 1 where there was an error."""
    settings = {"NORMRAG_SHARED": "1", "NORMRAG_MODEL": "hash"}
    if material.real():
        settings["NORMRAG_CORPUS"] = str(material.pdfs()[0].parent)
    spent: list[float] = []
    errors: list[str] = []
    read: list[int] = []
    over = threading.Event()

    def guarded(work: Callable[[int], None], number: int) -> threading.Thread:
        def body() -> None:
            try:
                work(number)
            except Exception as error:
                errors.append(f"{work.__name__} {number}: {error!r}")

        return threading.Thread(target=body)

    with serving(material.ROOT / "app.py", settings) as url:
        (server,) = psutil.Process().children()
        first = Session(url, "search")
        _until_read(first)
        before = _megabytes(server)

        def ask(number: int) -> None:
            rng = random.Random(number)
            session = Session(url, "search")
            for _ in range(questions):
                time.sleep(rng.uniform(0.0, THINKING))
                spent.append(session.run(text_input=rng.choice(material.questions())))
                if RESULT not in session.html:
                    raise RuntimeError("no results are shown")
            session.close()

        def upload(number: int) -> None:
            files = random.Random(number).sample(material.pdfs(), len(material.pdfs()))
            session = Session(url, "")
            for file in files:
                if over.is_set():
                    break
                # A remark behind its end makes it another file than the one in the common corpus.
                session.upload([(file.name, file.read_bytes() + b"\n%% %d" % number)])
                read.append(1)
                time.sleep(THINKING)
            session.close()

        asking = [guarded(ask, n) for n in range(sessions)]
        uploading = [guarded(upload, n) for n in range(UPLOADERS)]
        for thread in (*asking, *uploading):
            thread.start()
        peak = before
        while any(thread.is_alive() for thread in asking):
            peak = max(peak, _megabytes(server))
            time.sleep(0.5)
        over.set()
        for thread in uploading:
            thread.join()
        first.close()
    print(
        f"{sessions} sessions in shared mode, {len(spent)} questions on {material.name()}; {UPLOADERS} sessions uploaded "
        f"{len(read)} standards meanwhile: {len(errors)} errors, p50 {1000 * percentile(spent, 0.5):.0f} ms, "
        f"p95 {1000 * percentile(spent, 0.95):.0f} ms; server and its workers {before:.0f} MB before, {peak:.0f} MB at most"
    )
    print("\n".join(errors[:10]))
    return int(bool(errors))


def _until_read(session: Session) -> None:
    """Until the common corpus is there for searches by words and by meaning."""
    until = time.monotonic() + 10 * PATIENCE
    while time.monotonic() < until:
        session.run(text_input="immunity")
        if RESULT in session.html and WORKING not in session.html:
            return
        time.sleep(1.0)
    raise TimeoutError(f"the common corpus was not ready after {10 * PATIENCE:.0f} s")


def _megabytes(server: psutil.Process) -> float:
    """Resident memory of a process and its children."""
    total = 0
    for process in (server, *server.children(recursive=True)):
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total / 1e6
