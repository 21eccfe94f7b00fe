"""Vectors on disk: nothing is embedded twice, models never mix, a kill loses a batch at most, removal leaves no trace."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from normrag_core.embedding import EmbeddingCancelled
from normrag_core.embedding.hashing import HashEmbedder
from normrag_core.storage import VectorStore, WorkspaceError

TEXTS = [f"clause {i} of the standard" for i in range(150)]


class Counting(HashEmbedder):
    """Counts the texts that it had to embed."""

    def __init__(self, revision: str = "1") -> None:
        super().__init__()
        self.revision = revision
        self.embedded: list[str] = []

    def encode(self, texts: Sequence[str], progress=None, cancel=None) -> np.ndarray:  # type: ignore[no-untyped-def]
        made = super().encode(texts, progress, cancel)
        self.embedded += texts
        return made


@pytest.fixture(params=["disk", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> VectorStore:
    return VectorStore(tmp_path / "v.sqlite" if request.param == "disk" else None)


def test_a_second_time_embeds_nothing_and_gives_the_very_same_numbers(tmp_path: Path) -> None:
    embedder = Counting()
    first = VectorStore(tmp_path / "v.sqlite").embed(embedder, TEXTS)
    assert embedder.embedded == TEXTS
    second = VectorStore(tmp_path / "v.sqlite").embed(embedder, TEXTS)
    assert len(embedder.embedded) == len(TEXTS)
    assert first.dtype == np.float32
    assert (first == second).all()
    np.testing.assert_allclose((first * HashEmbedder().encode(TEXTS)).sum(axis=1), 1.0, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1.0, atol=1e-6)


def test_rows_stand_in_the_order_of_the_texts_and_repeats_are_embedded_once(store: VectorStore) -> None:
    embedder = Counting()
    store.embed(embedder, ["b", "c"])
    rows = store.embed(embedder, ["a", "b", "a", "c"])
    assert embedder.embedded == ["b", "c", "a"]
    np.testing.assert_allclose(rows, HashEmbedder().encode(["a", "b", "a", "c"]), atol=1e-3)


def test_many_vectors_are_given_as_they_are_kept(store: VectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = HashEmbedder()
    wide = store.embed(embedder, TEXTS)
    monkeypatch.setattr("normrag_core.storage.vectors._WIDENED_AT_ONCE", 7)
    again = store.get(embedder, TEXTS)
    assert again is not None
    assert np.array_equal(again, wide)
    monkeypatch.setattr("normrag_core.dense.HALF_FROM", len(TEXTS))
    half = store.get(embedder, TEXTS)
    assert half is not None
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, wide, rtol=1e-3)
    few = store.get(embedder, TEXTS[1:])
    assert few is not None
    assert few.dtype == np.float32


def test_no_texts_are_no_rows(store: VectorStore) -> None:
    assert store.embed(HashEmbedder(), []).shape == (0, 64)


def test_revisions_never_mix(store: VectorStore) -> None:
    one, two = Counting("1"), Counting("2")
    store.embed(one, TEXTS[:3])
    assert store.missing(two, TEXTS[:3]) == 3
    assert store.get(two, TEXTS[:3]) is None
    store.embed(two, TEXTS[:3])
    assert two.embedded == TEXTS[:3]


def test_missing_counts_distinct_texts(store: VectorStore) -> None:
    store.embed(HashEmbedder(), TEXTS[:2])
    assert store.missing(HashEmbedder(), [*TEXTS[:3], TEXTS[2], "new"]) == 2


def test_progress_counts_what_was_there_already(store: VectorStore) -> None:
    seen: list[tuple[int, int]] = []
    store.embed(HashEmbedder(), TEXTS[:50])
    store.embed(HashEmbedder(), TEXTS, lambda done, total: seen.append((done, total)))
    assert seen == [(50, 150), (114, 150), (150, 150)]


def test_cancelling_keeps_the_batches_that_were_through(store: VectorStore) -> None:
    answers = iter([False, True])
    with pytest.raises(EmbeddingCancelled):
        store.embed(HashEmbedder(), TEXTS, None, lambda: next(answers))
    assert store.missing(HashEmbedder(), TEXTS) == 150 - 64


def test_a_kill_loses_one_batch_at_most(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from normrag_core.embedding.hashing import HashEmbedder\n"
        "from normrag_core.storage import VectorStore\n"
        "texts = [f'clause {i} of the standard' for i in range(150)]\n"
        "stop = lambda done, n: os.kill(os.getpid(), 9) if done >= 128 else None\n"
        "VectorStore(Path(sys.argv[1])).embed(HashEmbedder(), texts, stop)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "v.sqlite")], check=False)
    assert done.returncode == -signal.SIGKILL
    embedder = Counting()
    VectorStore(tmp_path / "v.sqlite").embed(embedder, TEXTS)
    assert embedder.embedded == TEXTS[128:]


def test_two_processes_embed_into_one_file(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from normrag_core.embedding.hashing import HashEmbedder\n"
        "from normrag_core.storage import VectorStore\n"
        "texts = [f'clause {i} of the standard' for i in range(150)][:: int(sys.argv[2])]\n"
        "print(VectorStore(Path(sys.argv[1])).embed(HashEmbedder(), texts).sum())\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "v.sqlite"), step], stdout=subprocess.PIPE)
        for step in ("1", "-1", "1")
    ]
    sums = [float(p.communicate()[0]) for p in running]
    assert sums[0] == pytest.approx(sums[1], rel=1e-4)
    assert len(VectorStore(tmp_path / "v.sqlite")) == 150


def test_forgetting_a_document_removes_what_it_alone_had(store: VectorStore) -> None:
    embedder = HashEmbedder()
    store.embed(embedder, ["a", "b"], owners=["one", "one"])
    store.embed(embedder, ["b", "c"], owners=["two", "two"])
    store.forget("one")
    assert [store.missing(embedder, [t]) for t in ("a", "b", "c")] == [1, 0, 0]
    store.forget("two")
    assert len(store) == 0


def test_removed_vectors_leave_no_bytes_behind(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    store, embedder = VectorStore(path), HashEmbedder()
    store.embed(embedder, TEXTS[:20], owners=["one"] * 20)
    value = embedder.encode(TEXTS[:1])[0].astype("<f2").tobytes()
    assert value in b"".join(f.read_bytes() for f in tmp_path.iterdir())
    store.forget("one")
    assert value not in b"".join(f.read_bytes() for f in tmp_path.iterdir())


def test_prune_keeps_what_is_named(store: VectorStore) -> None:
    store.embed(HashEmbedder(), TEXTS[:5])
    assert store.prune(TEXTS[3:5]) == 3
    assert store.missing(HashEmbedder(), TEXTS[:5]) == 3


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "v.sqlite").write_bytes(b"not a database, but long enough to have a header" * 10)
    assert VectorStore(tmp_path / "v.sqlite").embed(HashEmbedder(), TEXTS[:2]).shape == (2, 64)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_says_so(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(WorkspaceError, match=r"Remedy: .*NORMRAG_WORKSPACE"):
        VectorStore(tmp_path / "v.sqlite").embed(HashEmbedder(), TEXTS[:2])


def test_a_full_disk_says_so_and_keeps_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = VectorStore(tmp_path / "v.sqlite")
    store.embed(HashEmbedder(), TEXTS[:5])
    plain = store._connect

    def nearly_full() -> sqlite3.Connection:
        db = plain()
        db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
        return db

    monkeypatch.setattr(store, "_connect", nearly_full)
    with pytest.raises(WorkspaceError, match=r"full.*Remedy: free space"):
        store.embed(HashEmbedder(), TEXTS)
    monkeypatch.undo()
    assert store.missing(HashEmbedder(), TEXTS[:5]) == 0


def test_in_memory_what_was_asked_for_longest_ago_goes_first() -> None:
    embedder = Counting()
    size = 2 * embedder.dimension
    store = VectorStore(None, limit=4 * size)
    store.embed(embedder, ["a", "b"], owners=["A", "A"])
    store.embed(embedder, ["c", "d"], owners=["C", "C"])
    store.embed(embedder, ["a"])
    store.embed(embedder, ["e", "f"], owners=["E", "E"])
    assert len(store) == 4
    embedder.embedded.clear()
    store.embed(embedder, ["a", "d", "e", "f"])
    assert embedder.embedded == []
    assert store.missing(embedder, ["b", "c"]) == 2
    store.forget("E")
    assert len(store) == 2


def test_in_memory_one_call_may_need_more_than_the_limit() -> None:
    embedder = Counting()
    store = VectorStore(None, limit=10)
    assert len(store.embed(embedder, TEXTS)) == len(TEXTS)
    store.embed(embedder, ["other"])
    assert len(store) == 1


def test_what_another_is_embedding_stays_however_full_the_memory_is() -> None:
    store = VectorStore(None, limit=10)

    class Meeting(Counting):
        """Another call comes and goes while this one embeds its second batch."""

        def encode(self, texts: Sequence[str], progress=None, cancel=None) -> np.ndarray:  # type: ignore[no-untyped-def]
            if self.embedded:
                store.embed(Counting(), ["other"], owners=["other"])
            return super().encode(texts, progress, cancel)

    assert len(store.embed(Meeting(), TEXTS, owners=["mine"] * len(TEXTS))) == len(TEXTS)
    store.forget("mine")
    assert len(store) <= 1
