"""PDFs read in worker processes with limits: a file that crashes, hangs or swells its reader costs itself and nothing else.

Workers are separate programs, not copies of this one: they inherit no server, no threads and no open files, and they
answer in JSON. They persist over files and are replaced when they had to be ended.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from normrag_core.codec import from_object
from normrag_core.ingest.errors import IngestError
from normrag_core.ingest.limits import Limits, setting
from normrag_core.ingest.process import Worker
from normrag_core.ingest.scratch import clear_scratch, on_disk
from normrag_core.model import ParsedDocument

Progress = Callable[[int, int], None]
"""Called with (pages done, pages)."""
Asked = Callable[[], bool]
"""Asked again and again; True stops the work."""

_READER = "normrag_core.ingest.reader:read_pdf"
_START_SECONDS = 120  # a busy machine takes long; the limits of a file count from there
_LOOK = 0.1  # seconds between two looks at a worker
_GRACE = 30  # seconds of processor time beyond the limit, so that the parent's message comes first


class Cancelled(Exception):  # noqa: N818 (a stop that the caller asked for is no error)
    """The caller's `cancelled` answered True."""


class WorkerLostError(IngestError):
    """The worker died or had to be ended; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file: parsed, or the reason why not."""

    path: Path
    parsed: ParsedDocument | None
    error: str = ""
    seconds: float = 0.0


class ParsePool:
    """At most `workers` processes, started at need. Any thread may call; those beyond the number wait for a turn.

    reader: "module:function" with the signature of `read_pdf`.
    """

    def __init__(self, workers: int | None = None, limits: Limits | None = None, reader: str = _READER) -> None:
        self.workers = workers or os.cpu_count() or 1
        self.limits = limits or Limits.from_environment()
        self._reader = reader
        self._turns = threading.Semaphore(self.workers)
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._closed = False
        clear_scratch()

    def parse(
        self, name: str, source: bytes | Path, progress: Progress | None = None, cancelled: Asked | None = None
    ) -> ParsedDocument:
        """The document of a PDF, given as its content or where it lies; its file is called by the last part of `name`.

        Raises IngestError with the reason and the remedy, Cancelled.
        """
        shown = name.replace("\\", "/").rsplit("/", 1)[-1] or "unnamed file"
        self._check_size(source, shown)
        while not self._turns.acquire(timeout=_LOOK):
            if cancelled and cancelled():
                raise Cancelled(shown)
        try:
            with on_disk(source, shown) as path:
                parsed = self._with_worker(path, shown, progress, cancelled)
        finally:
            self._turns.release()
        return replace(parsed, document=replace(parsed.document, file=shown))

    def close(self) -> None:
        """Ends all workers; files being read fail."""
        with self._lock:
            self._closed = True
            workers = [*self._idle, *self._busy]
            self._idle = []
        for worker in workers:
            worker.end()

    def __enter__(self) -> ParsePool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_size(self, source: bytes | Path, shown: str) -> None:
        try:
            size = len(source) if isinstance(source, bytes) else source.stat().st_size
        except OSError as error:
            raise IngestError(f"{shown}: cannot be opened ({error.strerror}): check the path and its permissions") from None
        if size > self.limits.file_mb * 1_000_000:
            raise IngestError(
                f"{shown}: has {size / 1e6:.0f} MB, more than the limit of {self.limits.file_mb} MB: "
                f"split it or raise {setting('file_mb')}"
            )

    def _with_worker(self, path: Path, shown: str, progress: Progress | None, cancelled: Asked | None) -> ParsedDocument:
        """Only a worker that gave a proper answer reads another file."""
        with self._lock:
            if self._closed:
                raise IngestError(f"{shown}: not read, since reading was stopped")
            worker = self._idle.pop() if self._idle else Worker(self._reader, self.limits.memory_mb)
            self._busy.add(worker)
        sound = False
        try:
            if not worker.wait_until_ready(_START_SECONDS):
                raise WorkerLostError(f"{shown}: not read, since the process that reads PDFs did not start: try again")
            parsed = self._ask(worker, path, shown, progress, cancelled)
            sound = True
            return parsed
        except IngestError as error:
            sound = not isinstance(error, WorkerLostError)
            raise
        finally:
            with self._lock:
                self._busy.discard(worker)
                sound = sound and not self._closed
                if sound:
                    self._idle.append(worker)
            if not sound:
                worker.end()

    def _ask(
        self, worker: Worker, path: Path, shown: str, progress: Progress | None, cancelled: Asked | None
    ) -> ParsedDocument:
        limits = self.limits
        worker.send(path=str(path), pages=limits.pages, cpu=limits.seconds + _GRACE)
        begun = moved = looked = time.monotonic()
        done = total = 0
        while True:
            try:
                answer = worker.answer(_LOOK)
            except EOFError:
                raise WorkerLostError(_epitaph(shown, worker.exit_code, limits)) from None
            if cancelled and cancelled():
                raise Cancelled(shown)
            now = time.monotonic()
            moved = now if answer else moved
            if now - looked >= _LOOK:  # also while answers come: one that never ends must not escape the limits
                looked = now
                self._check_costs(worker, shown, now - begun, now - moved, f"page {done} of {total}" if total else "the start")
            if answer is None:
                continue
            if "progress" in answer:
                done, total = answer["progress"]
                if progress:
                    progress(done, total)
            elif "parsed" in answer:
                return from_object(answer["parsed"], shown)
            else:
                raise _error(answer, shown, path.name, limits)

    def _check_costs(self, worker: Worker, shown: str, seconds: float, stalled: float, where: str) -> None:
        limits = self.limits
        if stalled > limits.stall_seconds:
            raise WorkerLostError(
                f"{shown}: reading got no further for {limits.stall_seconds} s after {where} and was stopped: "
                f"save the PDF anew from another program, or raise {setting('stall_seconds')}"
            )
        if seconds > limits.seconds:
            raise WorkerLostError(
                f"{shown}: reading took more than {limits.seconds} s, had come to {where} and was stopped: "
                f"split it or raise {setting('seconds')}"
            )
        if worker.megabytes > limits.memory_mb:
            raise WorkerLostError(_swollen(shown, limits))


def parse_files(
    paths: Sequence[Path],
    limits: Limits | None = None,
    on_progress: Callable[[Path, int, int], None] | None = None,
    workers: int | None = None,
    reader: str = _READER,
) -> Iterator[Outcome]:
    """Reads files in worker processes and gives each outcome as it comes. on_progress(path, pages done, pages)."""
    if not paths:
        return
    stopped = threading.Event()

    def one(path: Path) -> Outcome:
        begun = time.monotonic()
        progress = (lambda done, total: on_progress(path, done, total)) if on_progress else None
        try:
            parsed = pool.parse(path.name, path, progress, stopped.is_set)
        except IngestError as error:
            return Outcome(path, None, str(error), time.monotonic() - begun)
        except Cancelled:
            return Outcome(path, None, f"{path.name}: cancelled", time.monotonic() - begun)
        return Outcome(path, parsed, "", time.monotonic() - begun)

    workers = min(workers or os.cpu_count() or 1, len(paths))
    with ParsePool(workers, limits, reader) as pool, ThreadPoolExecutor(workers) as threads:
        try:
            # The largest first, lest one of them begins when all others have ended.
            pending = [threads.submit(one, p) for p in sorted(paths, key=_size, reverse=True)]
            for future in as_completed(pending):
                yield future.result()
        finally:
            stopped.set()
            for future in pending:
                future.cancel()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _error(answer: dict[str, str], shown: str, used: str, limits: Limits) -> IngestError:
    """What went wrong in the worker, in words. `used` is what the file was called there."""
    if answer["error"] == "memory":
        return WorkerLostError(_swollen(shown, limits))
    if answer["error"] == "IngestError":
        return IngestError(answer["text"].replace(used, shown))
    return IngestError(
        f"{shown}: the reader failed on it ({answer['error']}): save the PDF anew from another program; "
        "if that does not help, report the file as a fault of NormRAG"
    )


def _epitaph(shown: str, code: int, limits: Limits) -> str:
    if code == -24:  # SIGXCPU
        return f"{shown}: reading took more than {limits.seconds} s and was stopped: split it or raise {setting('seconds')}"
    how = f"signal {-code}" if code < 0 else f"exit status {code}"
    return (
        f"{shown}: reading crashed the PDF library or ran out of memory ({how}); other files are not affected: "
        "save the PDF anew from another program and load that"
    )


def _swollen(shown: str, limits: Limits) -> str:
    return (
        f"{shown}: reading needed more than {limits.memory_mb} MB of memory and was stopped: "
        f"split it or raise {setting('memory_mb')}"
    )
