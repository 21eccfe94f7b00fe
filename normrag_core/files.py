"""Files that are either whole or absent: atomic writes, checksums, the cache folder, and the clearing of leftovers."""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from pathlib import Path

TEMPORARY = ".tmp~"
"""Every unfinished file's name ends so; nothing with this ending is ever read."""


def atomic_write(path: Path, data: bytes, durable: bool = True) -> None:
    """Writes beside the target, flushes to the disk, renames. After a kill the old content or the new one is there.

    durable: False spares the waiting for the disk, for what can be made again; a power cut may then leave a torn file.
    Raises OSError (disk full, read-only folder); the old content then stands and the unfinished file is gone.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name[:60]}.{os.getpid()}.{uuid.uuid4().hex[:8]}{TEMPORARY}")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Makes renames and removals in a folder durable, where the system can (not on Windows)."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def clear_leftovers(folder: Path, older_than: float = 0.0) -> int:
    """Removes unfinished files of killed runs anywhere under `folder`; older_than in seconds. Returns how many."""
    removed = 0
    for leftover in folder.rglob(f"*{TEMPORARY}"):
        try:
            if time.time() - leftover.stat().st_mtime >= older_than:
                leftover.unlink()
                removed += 1
        except FileNotFoundError:  # another process was quicker
            continue
    return removed


def sha256_of(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cache_folder() -> Path:
    """Where converted models are kept: `NORMRAG_CACHE`, else the user's cache folder. May be deleted at any time."""
    given = os.environ.get("NORMRAG_CACHE")
    if given:
        return Path(given).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("normrag", appauthor=False)
