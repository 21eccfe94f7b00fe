"""Uploaded content as a file while it is read: private, in memory where the system has such a folder, removed after."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

_MEMORY = Path("/dev/shm")
_PREFIX = "normrag-"
_STEM = 80
_UNSAFE = re.compile(r"[^\w.-]+")


@contextmanager
def on_disk(source: bytes | Path, name: str) -> Iterator[Path]:
    """A path with the content; a Path is given back as it is. The file's stem hints at `name`: titles are guessed from it."""
    if isinstance(source, Path):
        yield source
        return
    base = next((b for b in _bases() if shutil.disk_usage(b).free > 2 * len(source)), None)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=base))  # readable by its owner alone
    try:
        stem = _UNSAFE.sub("_", name.rsplit(".", 1)[0]).strip(".")[:_STEM].encode()[:_STEM].decode("utf8", "ignore")
        path = folder / f"{stem or 'document'}.pdf"
        path.write_bytes(source)
        yield path
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def clear_scratch() -> None:
    """Removes what processes left that were killed while they read."""
    for base in _bases():
        for folder in base.glob(f"{_PREFIX}*-*"):
            process = folder.name.removeprefix(_PREFIX).split("-")[0]
            if process.isdecimal() and not psutil.pid_exists(int(process)):
                shutil.rmtree(folder, ignore_errors=True)


def _bases() -> list[Path]:
    return [b for b in (_MEMORY, Path(tempfile.gettempdir())) if b.is_dir() and os.access(b, os.W_OK)]
