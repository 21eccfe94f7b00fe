"""Vectors kept on disk, so that no text is embedded twice: an SQLite file keyed by model, revision and SHA-256 of the text.

Vectors are float16: half the size, and its rounding (a cosine moves by about 1e-5) is far below that of int8 weights. What
is returned always went through the store, so that a second start ranks exactly like the first. A row names no text; which
documents asked for it is noted, so that a removed document takes its vectors along.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path

import numpy as np
from filelock import FileLock

from normrag_core.dense import held_as
from normrag_core.embedding import Embedder
from normrag_core.storage.errors import WorkspaceError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS model (id INTEGER PRIMARY KEY, name TEXT, revision TEXT, dimension INTEGER, UNIQUE (name, revision));
CREATE TABLE IF NOT EXISTS vector (id INTEGER PRIMARY KEY, model INTEGER, text BLOB, value BLOB, UNIQUE (model, text));
CREATE TABLE IF NOT EXISTS owner (text BLOB, document TEXT, PRIMARY KEY (text, document)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS owned ON owner (document);
"""
_USED = """
CREATE TABLE used (text BLOB PRIMARY KEY, at INTEGER) WITHOUT ROWID;
CREATE INDEX of_text ON vector (text);
"""
_BATCH = 64
"""Texts a commit: what a kill can lose, about a second of work."""
_ASKED_AT_ONCE = 500  # below SQLite's limit of variables in a statement
_WIDENED_AT_ONCE = 16_384  # so that what is worked on stays small beside the result
_WAIT = 60.0  # seconds that a writer waits for another process


class VectorStore:
    """Vectors in one SQLite file (write-ahead log: readers never wait), or in memory where path is None.

    Safe with several threads and processes. A damaged file is replaced by an empty one: it can be computed again.
    limit: bytes of vectors that may stay in memory, 0 for any; beyond it those go that were asked for longest ago. What one
    `embed` needs stays until it has returned, so for that time there may be more. A file has no limit.
    """

    def __init__(self, path: Path | None, limit: int = 0) -> None:
        self._path = path
        self._limit = limit if path is None else 0
        self._asked = 0
        self._asking: set[int] = set()
        self._prepared = False
        self._lock = threading.RLock()
        self._memory: sqlite3.Connection | None = None
        if path is None:
            self._memory = sqlite3.connect(":memory:", check_same_thread=False)
            self._memory.executescript(_SCHEMA + _USED)

    def embed(
        self,
        embedder: Embedder,
        texts: Sequence[str],
        progress: Callable[[int, int], None] | None = None,
        cancel: Callable[[], bool] | None = None,
        owners: Sequence[str] | None = None,
    ) -> np.ndarray:
        """As `get`. Embeds what is missing and commits it batch by batch.

        owners: for each text the document that it is of; `forget` goes by them. progress(done, n) counts what was there
        already as done. Raises EmbeddingCancelled (what was committed stays), EmbeddingError, WorkspaceError.
        """
        keys = [_key(t) for t in texts]
        with self._bounded(keys):
            return self._embed(embedder, texts, keys, progress, cancel, owners)

    def _embed(
        self,
        embedder: Embedder,
        texts: Sequence[str],
        keys: Sequence[bytes],
        progress: Callable[[int, int], None] | None,
        cancel: Callable[[], bool] | None,
        owners: Sequence[str] | None,
    ) -> np.ndarray:
        with self._open() as db:
            model = _model(db, embedder)
            if owners is not None:
                db.executemany("INSERT OR IGNORE INTO owner VALUES (?, ?)", zip(keys, owners, strict=True))
            have = _present(db, model, keys)
        missing = list(dict.fromkeys(i for i, k in enumerate(keys) if k not in have))
        first = {keys[i]: i for i in reversed(missing)}  # a text that occurs twice is embedded once
        todo = sorted(first.values())
        done = len(texts) - len(todo)
        if progress:
            progress(done, len(texts))
        for start in range(0, len(todo), _BATCH):
            part = todo[start : start + _BATCH]
            made = embedder.encode([texts[i] for i in part], None, cancel)
            rows = [(model, keys[i], v.astype("<f2").tobytes()) for i, v in zip(part, made, strict=True)]
            with self._open() as db:
                db.executemany("INSERT OR IGNORE INTO vector (model, text, value) VALUES (?, ?, ?)", rows)
            done += len(part)
            if progress:
                progress(done, len(texts))
        found = self.get(embedder, texts)
        if found is None:
            raise WorkspaceError(
                f"vectors: expected all {len(texts)} to be kept; found some removed meanwhile. Remedy: try again"
            )
        return found

    def get(self, embedder: Embedder, texts: Sequence[str]) -> np.ndarray | None:
        """(n, dimension) rows L2-normalised, float32 or what `held_as` says; None where even one is missing. Embeds nothing."""
        keys = [_key(t) for t in texts]
        with self._open() as db:
            found = _present(db, _model(db, embedder), keys)
        if any(k not in found for k in keys):
            return None
        out = np.empty((len(keys), embedder.dimension), dtype=held_as(len(keys)))
        for start in range(0, len(keys), _WIDENED_AT_ONCE):
            part = b"".join(found[k] for k in keys[start : start + _WIDENED_AT_ONCE])
            values = np.frombuffer(part, dtype="<f2").reshape(-1, embedder.dimension).astype(np.float32)
            out[start : start + len(values)] = values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-12)
        return out

    def missing(self, embedder: Embedder, texts: Sequence[str]) -> int:
        """How many distinct texts would have to be embedded."""
        keys = {_key(t) for t in texts}
        with self._open() as db:
            return len(keys) - len(_present(db, _model(db, embedder), list(keys)))

    def forget(self, document: str) -> None:
        """Removes the vectors that only this document asked for. Freed pages are overwritten, not just marked free."""
        with self._open() as db:
            texts = [row[0] for row in db.execute("SELECT text FROM owner WHERE document = ?", (document,))]
            db.execute("DELETE FROM owner WHERE document = ?", (document,))
            db.executemany(
                "DELETE FROM vector WHERE text = ?1 AND NOT EXISTS (SELECT 1 FROM owner WHERE text = ?1)", [(t,) for t in texts]
            )
        self._checkpoint()

    def prune(self, keep: Sequence[str]) -> int:
        """Removes all vectors but those of these texts, of every model. Returns how many went."""
        with self._open() as db:
            db.execute("CREATE TEMP TABLE IF NOT EXISTS kept (text BLOB PRIMARY KEY)")
            db.execute("DELETE FROM kept")
            db.executemany("INSERT OR IGNORE INTO kept VALUES (?)", [(_key(t),) for t in keep])
            gone = db.execute("DELETE FROM vector WHERE text NOT IN (SELECT text FROM kept)").rowcount
            db.execute("DELETE FROM owner WHERE text NOT IN (SELECT text FROM kept)")
        self._checkpoint()
        return gone

    def clear(self) -> None:
        """Removes everything."""
        with self._open() as db:
            for table in ("vector", "owner", "model", *(["used"] if self._memory is not None else [])):
                db.execute(f"DELETE FROM {table}")
        self._checkpoint()

    def __len__(self) -> int:
        with self._open() as db:
            return int(db.execute("SELECT count(*) FROM vector").fetchone()[0])

    @contextmanager
    def _bounded(self, keys: Sequence[bytes]) -> Iterator[None]:
        """Notes that these texts are asked for now; afterwards lets go of what is beyond the limit."""
        if not self._limit:
            yield
            return
        with self._open() as db:
            self._asked += 1
            now = self._asked
            self._asking.add(now)
            db.executemany("INSERT OR REPLACE INTO used VALUES (?, ?)", [(k, now) for k in keys])
        try:
            yield
        finally:
            with self._open() as db:
                self._asking.discard(now)
                self._drop_oldest(db)

    def _drop_oldest(self, db: sqlite3.Connection) -> None:
        """Down to the limit, but for what somebody is asking for, and for what was asked for last of all."""
        beyond = int(db.execute("SELECT total(length(value)) FROM vector").fetchone()[0]) - self._limit
        if beyond <= 0:
            return
        gone = []
        oldest = "SELECT id, text, length(value) FROM vector JOIN used USING (text) WHERE at < ? ORDER BY at, id"
        for row, text, size in db.execute(oldest, (min(self._asking, default=self._asked),)):
            gone.append((row, text))
            beyond -= size
            if beyond <= 0:
                break
        db.executemany("DELETE FROM vector WHERE id = ?", [(row,) for row, _ in gone])
        # By text: of what somebody is just embedding there are owners and no vectors yet.
        for table in ("owner", "used"):
            db.executemany(
                f"DELETE FROM {table} WHERE text = ?1 AND NOT EXISTS (SELECT 1 FROM vector WHERE text = ?1)",
                [(text,) for _, text in gone],
            )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection whose work is committed at the end, or not at all."""
        if self._memory is not None:
            with self._lock, self._memory:
                yield self._memory
            return
        try:
            db = self._connect()
            try:
                with db:
                    yield db
            finally:
                db.close()
        except (sqlite3.Error, OSError) as error:
            raise WorkspaceError(
                f"{self._path}: expected to read and write vectors; found: {error}. "
                "Remedy: free space on the disk, check the folder's permissions, or name another one in NORMRAG_WORKSPACE"
            ) from error

    def _connect(self) -> sqlite3.Connection:
        assert self._path is not None
        if not self._prepared or not self._path.exists():
            _prepare(self._path)
            self._prepared = True
        db = sqlite3.connect(self._path, timeout=_WAIT)
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("PRAGMA secure_delete=ON")
        return db

    def _checkpoint(self) -> None:
        """Folds the write-ahead log into the file and empties it: it too held what was removed."""
        if self._memory is None:
            with self._open() as db:
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _prepare(path: Path) -> None:
    """Makes the file, or replaces a damaged one.

    One process at a time: SQLite refuses the switch to the write-ahead log at once where another process is just making it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(path.name + ".lock"), timeout=_WAIT):
        try:
            _make_tables(path)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:  # not a database, or a damaged one
            for ending in ("", "-wal", "-shm"):
                path.with_name(path.name + ending).unlink(missing_ok=True)
            _make_tables(path)


def _make_tables(path: Path) -> None:
    with closing(sqlite3.connect(path, timeout=_WAIT)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.executescript(_SCHEMA)


def _key(text: str) -> bytes:
    return sha256(text.encode("utf8", "surrogatepass")).digest()


def _model(db: sqlite3.Connection, embedder: Embedder) -> int:
    """The row id of a model's revision, made at first need."""
    facts = (embedder.name, embedder.revision)
    row = db.execute("SELECT id FROM model WHERE name = ? AND revision = ?", facts).fetchone()
    if row is None:
        db.execute("INSERT OR IGNORE INTO model (name, revision, dimension) VALUES (?, ?, ?)", (*facts, embedder.dimension))
        row = db.execute("SELECT id FROM model WHERE name = ? AND revision = ?", facts).fetchone()
    return int(row[0])


def _present(db: sqlite3.Connection, model: int, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    """text hash → vector of those that are there."""
    found: dict[bytes, bytes] = {}
    for start in range(0, len(keys), _ASKED_AT_ONCE):
        part = keys[start : start + _ASKED_AT_ONCE]
        marks = ",".join("?" * len(part))
        found.update(db.execute(f"SELECT text, value FROM vector WHERE model = ? AND text IN ({marks})", (model, *part)))
    return found
