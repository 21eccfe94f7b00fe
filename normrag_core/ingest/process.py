"""One worker process as its parent sees it: start it, send it a request, take its answers one by one, end it."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from typing import Any, BinaryIO

import psutil

_HEADROOM = 1024
"""Megabytes of address space beyond the resident limit: libraries reserve far more than they touch."""


class Worker:
    """A running `normrag_core.ingest.worker`. Used by one thread at a time."""

    def __init__(self, reader: str, megabytes: int) -> None:
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
            # Each thread of a numeric library reserves address space, and one page is read at a time anyway.
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "normrag_core.ingest.worker", reader, str(megabytes + _HEADROOM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # it may quote the document
            env=environment,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests: BinaryIO = self._process.stdin  # type: ignore[assignment]
        self._ready = False
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        threading.Thread(target=self._listen, args=(self._process.stdout,), name="parse-worker", daemon=True).start()

    def wait_until_ready(self, seconds: float) -> bool:
        """Whether it has started and answers."""
        if not self._ready:
            try:
                self._ready = self.answer(seconds) is not None
            except EOFError:
                return False
        return self._ready

    def send(self, **request: Any) -> None:
        """Hands over a request. A worker that is gone shows in `answer`."""
        try:
            self._requests.write(json.dumps(request).encode() + b"\n")
            self._requests.flush()
        except OSError:
            pass

    def answer(self, seconds: float) -> dict[str, Any] | None:
        """The next answer; None where there is none yet. Raises EOFError when the worker is gone."""
        try:
            line = self._answers.get(timeout=seconds)
        except queue.Empty:
            return None
        if line is None:
            raise EOFError
        found: dict[str, Any] = json.loads(line)
        return found

    @property
    def megabytes(self) -> float:
        """Memory in use; 0 when the worker is gone."""
        try:
            return float(psutil.Process(self._process.pid).memory_info().rss) / 1024**2
        except psutil.Error:
            return 0.0

    @property
    def exit_code(self) -> int:
        """Negative: the signal that ended it."""
        return self._process.wait()

    def end(self) -> None:
        """Ends the worker at once."""
        self._process.kill()
        self._process.wait()
        self._requests.close()

    def _listen(self, answers: BinaryIO) -> None:
        with answers:
            for line in answers:
                self._answers.put(line)
        self._answers.put(None)
