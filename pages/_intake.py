"""Files on their way in: queued, read several at once, handed over. One bad file costs only itself and says why."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from normrag_core.model import ParsedDocument
from pages._jobs import FileJob

SETTLE_EVERY = 1.0  # Seconds between two new corpora while files keep coming,
SETTLE_SHARE = 5.0  # or so many times as long as making the last one took, where that is more.
LOOK = 0.2  # Seconds between two looks of one who waits and may be cancelled.
READERS = max(1, min(4, (os.cpu_count() or 2)))

Read = Callable[[str, bytes, Callable[[int, int], None], Callable[[], bool]], Sequence[ParsedDocument]]
"""(name, content, progress(pages done, pages), cancelled()) → documents of one file."""


class RefusedError(Exception):
    """A file cannot be read; the message says why and what to do."""


class CancelledError(Exception):
    """The user took the file back while it was being read."""


class Intake:
    """A queue with a few threads that live as long as there is something in it.

    read: content to documents; raises RefusedError or CancelledError.
    take: keeps a document, gives what to say about it. settle: makes all that was taken searchable.
    """

    def __init__(self, read: Read, take: Callable[[ParsedDocument, bytes], str], settle: Callable[[], None]) -> None:
        self._read, self._take, self._settle = read, take, settle
        self._lock = threading.RLock()
        self._jobs: dict[int, FileJob] = {}
        self._queue: list[tuple[int, bytes]] = []
        self._cancelled: set[int] = set()
        self._threads = 0
        self._next = 1
        self._unsettled = False
        self._settling = 0
        self._settled = 0.0
        self._pause = SETTLE_EVERY
        self._through = threading.Event()  # Nothing is read now.
        self._through.set()

    @property
    def jobs(self) -> tuple[FileJob, ...]:
        """All files since the list was last cleared, in the order they came."""
        with self._lock:
            return tuple(self._jobs.values())

    @property
    def active(self) -> bool:
        # Until all is searchable: who watches would stop at the last page read and miss the last documents.
        return any(j.active for j in self.jobs) or self._unsettled or self._settling > 0

    def wait(self, cancelled: Callable[[], bool]) -> None:
        """Until nothing is being read, or `cancelled`."""
        while not self._through.wait(LOOK) and not cancelled():
            pass

    def add(self, files: Sequence[tuple[str, bytes]]) -> None:
        """Queues files: (name, content) each."""
        with self._lock:
            for name, data in files:
                self._jobs[self._next] = FileJob(self._next, name)
                self._queue.append((self._next, data))
                self._next += 1
            if self._queue:
                self._through.clear()
            for _ in range(min(READERS - self._threads, len(self._queue))):
                self._threads += 1
                threading.Thread(target=self._work, name="reader", daemon=True).start()

    def cancel(self, job: int) -> None:
        """Takes a waiting file out of the queue; stops one that is being read."""
        with self._lock:
            self._cancelled.add(job)
            if any(waiting == job for waiting, _ in self._queue):
                self._queue = [q for q in self._queue if q[0] != job]
                self._set(job, stage="cancelled", ended=time.monotonic())

    def cancel_all(self) -> None:
        for job in self.jobs:
            if job.active:
                self.cancel(job.id)

    def forget_finished(self) -> None:
        """Clears the list of files that are through."""
        with self._lock:
            self._jobs = {i: j for i, j in self._jobs.items() if j.active}

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._queue:
                    self._threads -= 1
                    last = not self._threads
                    break
                job, data = self._queue.pop(0)
            self._one(job, data)
            self._maybe_settle(self._pause)
        if last:
            self._maybe_settle(0.0)
            with self._lock:
                if not self._threads:  # Else more files came while the last ones were made searchable.
                    self._through.set()

    def _one(self, job: int, data: bytes) -> None:
        name = self._jobs[job].name
        self._set(job, stage="reading", began=time.monotonic())
        try:
            documents = self._read(
                name, data, lambda done, total: self._set(job, done=done, total=total), lambda: job in self._cancelled
            )
            self._set(job, stage="storing")
            said = [self._take(document, data) for document in documents]
        except CancelledError:
            self._end(job, "cancelled", "")
        except (RefusedError, OSError) as error:
            self._end(job, "failed", str(error))
        except Exception as error:  # A reader's fault must not end the thread: the files behind it would wait for ever.
            self._end(job, "failed", f"unexpected fault while reading ({type(error).__name__}: {error})")
        else:
            with self._lock:
                self._unsettled = True
                self._end(job, "done", "; ".join(said))

    def _end(self, job: int, stage: str, message: str) -> None:
        self._set(job, stage=stage, message=message, ended=time.monotonic())

    def _set(self, job: int, **changes: Any) -> None:
        with self._lock:
            if job in self._jobs:
                self._jobs[job] = replace(self._jobs[job], **changes)

    def _maybe_settle(self, every: float) -> None:
        with self._lock:
            if not self._unsettled or time.monotonic() - self._settled < every:
                return
            began = time.monotonic()
            self._unsettled, self._settled = False, began
            self._settling += 1
        try:
            self._settle()
        finally:
            with self._lock:
                self._settling -= 1
                self._pause = max(SETTLE_EVERY, SETTLE_SHARE * (time.monotonic() - began))
