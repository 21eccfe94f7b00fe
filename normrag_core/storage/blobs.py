"""Named pieces of bytes in a few kinds (documents, originals, presets, ...): in a folder, or in memory for shared mode.

A piece is found by kind and id, and an id is always `piece_id` of a name: nothing that a user or a document is called
reaches the file system.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

from normrag_core.files import atomic_write, clear_leftovers, sync_folder
from normrag_core.storage.errors import WorkspaceError

LAYOUT = 1
"""Of the folder. A later one is refused; an earlier one has to be migrated when there is one."""
_ID = re.compile(r"[0-9a-f]{32}")
_VERSION_FILE = "workspace.json"
_PATIENCE = 60.0  # seconds that a writer waits for another process
_REMEDY = "Remedy: free space on the disk, check the folder's permissions, or name another one in NORMRAG_WORKSPACE"


class Blobs(Protocol):
    """Where a workspace keeps its pieces. Writes are whole or did not happen."""

    def read(self, kind: str, piece: str) -> bytes | None: ...

    def write(self, kind: str, piece: str, data: bytes, durable: bool = True) -> None:
        """durable: False for what can be made again, see `atomic_write`."""
        ...

    def delete(self, kind: str, piece: str) -> None: ...

    def has(self, kind: str, piece: str) -> bool: ...

    def ids(self, kind: str) -> list[str]:
        """Ids of a kind, the one first written first."""
        ...

    def below(self, kind: str) -> list[str]:
        """Ids for which there are kinds "kind/id"."""
        ...

    def locked(self) -> AbstractContextManager[None]:
        """Keeps other writers out, so that several writes count as one."""
        ...


def piece_id(name: str) -> str:
    """32 hexadecimal characters for any name, long, empty, with slashes or pictures."""
    return sha256(name.encode("utf8", "surrogatepass")).hexdigest()[:32]


class FolderBlobs:
    """One file a piece, `folder/kind/id`, written atomically. Opening clears what killed runs left."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with self._explained():
            folder.mkdir(parents=True, exist_ok=True)
            found = _layout(folder)
            if found is not None and found > LAYOUT:
                raise WorkspaceError(
                    f"{folder}: expected a workspace of layout {LAYOUT} or before; found {found}, written by a later version. "
                    "Remedy: update NormRAG or name another folder in NORMRAG_WORKSPACE"
                )
        with self.locked():
            clear_leftovers(folder)
            if found is None:
                atomic_write(folder / _VERSION_FILE, json.dumps({"layout": LAYOUT}).encode())

    def read(self, kind: str, piece: str) -> bytes | None:
        with self._explained():
            try:
                return (self.folder / kind / piece).read_bytes()
            except FileNotFoundError:
                return None

    def write(self, kind: str, piece: str, data: bytes, durable: bool = True) -> None:
        with self.locked():
            atomic_write(self.folder / kind / piece, data, durable)

    def delete(self, kind: str, piece: str) -> None:
        path = self.folder / kind / piece
        with self.locked():
            if path.exists():
                path.unlink()
                sync_folder(path.parent)
                if "/" in kind and not any(path.parent.iterdir()):
                    path.parent.rmdir()  # Its name tells of the piece that it was for.

    def has(self, kind: str, piece: str) -> bool:
        return (self.folder / kind / piece).exists()

    def ids(self, kind: str) -> list[str]:
        written = []
        for path in (self.folder / kind).glob("*"):
            with suppress(FileNotFoundError):  # removed by another process meanwhile
                if _ID.fullmatch(path.name):
                    written.append((path.stat().st_mtime_ns, path.name))
        return [name for _, name in sorted(written)]

    def below(self, kind: str) -> list[str]:
        return [path.name for path in (self.folder / kind).glob("*") if _ID.fullmatch(path.name)]

    @contextmanager
    def locked(self) -> Iterator[None]:
        with self._explained(), FileLock(self.folder / "lock", timeout=_PATIENCE, is_singleton=True):
            yield

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except WorkspaceError:
            raise
        except Timeout as error:
            raise WorkspaceError(
                f"{self.folder}: another process has kept the workspace locked for {_PATIENCE:.0f} s. Remedy: end it or wait"
            ) from error
        except OSError as error:
            raise WorkspaceError(
                f"{self.folder}: expected a folder to read and write; found: {error.strerror}. {_REMEDY}"
            ) from error


class MemoryBlobs:
    """The same in memory: nothing reaches a disk, all of it goes with the object. limit: bytes that it may hold; 0 for any."""

    def __init__(self, limit: int = 0) -> None:
        self._lock = threading.RLock()
        self._limit = limit
        self._kinds: dict[str, dict[str, bytes]] = {}

    def read(self, kind: str, piece: str) -> bytes | None:
        return self._kinds.get(kind, {}).get(piece)

    def write(self, kind: str, piece: str, data: bytes, durable: bool = True) -> None:
        with self._lock:
            held = sum(len(d) for pieces in self._kinds.values() for d in pieces.values()) - len(self.read(kind, piece) or b"")
            if self._limit and held + len(data) > self._limit:
                raise WorkspaceError(
                    f"this session may hold {self._limit / 1e6:.0f} MB and holds {held / 1e6:.1f} MB; "
                    f"found {len(data) / 1e6:.1f} MB more. "
                    "Remedy: remove documents, or ask whoever runs this server for a larger NORMRAG_MAX_SESSION_MB"
                )
            self._kinds.setdefault(kind, {})[piece] = data

    def delete(self, kind: str, piece: str) -> None:
        with self._lock:
            self._kinds.get(kind, {}).pop(piece, None)
            if not self._kinds.get(kind):
                self._kinds.pop(kind, None)

    def has(self, kind: str, piece: str) -> bool:
        return piece in self._kinds.get(kind, {})

    def ids(self, kind: str) -> list[str]:
        with self._lock:
            return list(self._kinds.get(kind, {}))

    def below(self, kind: str) -> list[str]:
        with self._lock:
            return [name.removeprefix(f"{kind}/") for name in self._kinds if name.startswith(f"{kind}/")]

    @contextmanager
    def locked(self) -> Iterator[None]:
        with self._lock:
            yield


def _layout(folder: Path) -> int | None:
    try:
        return int(json.loads((folder / _VERSION_FILE).read_text("utf8"))["layout"])
    except FileNotFoundError:
        return None
    except (
        ValueError,
        KeyError,
        TypeError,
        OverflowError,
        RecursionError,
    ):  # only a foreign hand can leave it so: written atomically
        return None
