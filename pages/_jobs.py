"""What a file or a computation in the background is doing, as plain data that a page can show."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

FileStage = Literal["queued", "reading", "storing", "done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class FileJob:
    """One file on its way in. done, total: pages. message: why it failed, or what it turned out to be."""

    id: int
    name: str
    stage: FileStage = "queued"
    done: int = 0
    total: int = 0
    began: float = 0.0
    ended: float = 0.0
    message: str = ""

    @property
    def active(self) -> bool:
        return self.stage in ("queued", "reading", "storing")

    @property
    def rate(self) -> float:
        """Pages a second since reading began; 0 before the first page."""
        return _rate(self.done, self.began, self.ended)

    @property
    def left(self) -> float | None:
        """Seconds that reading will still take at this rate; None while it is not known."""
        return _left(self.done, self.total, self.rate)


@dataclass(frozen=True, slots=True)
class VectorJob:
    """The embedding of one chunk list. done, total: chunks. error: why it stopped, "" while all is well."""

    done: int
    total: int
    began: float = field(default_factory=time.monotonic)
    ended: float = 0.0
    error: str = ""

    @property
    def active(self) -> bool:
        return not self.ended

    @property
    def rate(self) -> float:
        """Chunks a second."""
        return _rate(self.done, self.began, self.ended)

    @property
    def left(self) -> float | None:
        return _left(self.done, self.total, self.rate)


def together(files: Sequence[FileJob]) -> tuple[float, float | None]:
    """(pages a second, seconds left) of all files that are being read; (0, None) where none is or nothing is known yet.

    A file in the queue counts as long as those whose pages are known.
    """
    now = [f for f in files if f.stage == "reading" and f.rate]
    known = [f.total for f in files if f.total]
    rate = sum(f.rate for f in now)
    if not rate:
        return 0.0, None
    queued = sum(f.stage == "queued" for f in files) * sum(known) / len(known)
    return rate, (sum(f.total - f.done for f in now) + queued) / rate


def _rate(done: int, began: float, ended: float) -> float:
    spent = (ended or time.monotonic()) - began
    return done / spent if began and done and spent > 0 else 0.0


def _left(done: int, total: int, rate: float) -> float | None:
    return max(0, total - done) / rate if rate and total else None


def duration(seconds: float | None) -> str:
    """ "8 s", "3 min", "" where it is not known."""
    if seconds is None:
        return ""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
