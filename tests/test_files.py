"""Atomic writes: whole or absent, whatever happens on the way."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from normrag_core import files


def test_written_replaced_and_hashed(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a"
    files.atomic_write(path, b"old")
    files.atomic_write(path, b"abc")
    assert path.read_bytes() == b"abc"
    assert files.sha256_of(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_keeps_the_old_content_and_cleans_up(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    files.atomic_write(path, b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, step, fail)
    with pytest.raises(OSError, match="No space left"):
        files.atomic_write(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_at_the_limit_of_the_file_system_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    files.atomic_write(path, b"1")
    assert path.read_bytes() == b"1"


def test_leftovers_are_cleared_by_age(tmp_path: Path) -> None:
    old, new, kept = (tmp_path / "d" / n for n in (f"old{files.TEMPORARY}", f"new{files.TEMPORARY}", "kept"))
    old.parent.mkdir()
    for path in (old, new, kept):
        path.write_bytes(b"")
    os.utime(old, (time.time() - 100, time.time() - 100))
    assert files.clear_leftovers(tmp_path, older_than=50) == 1
    assert files.clear_leftovers(tmp_path) == 1
    assert list(old.parent.iterdir()) == [kept]


def test_the_cache_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NORMRAG_CACHE", str(tmp_path))
    assert files.cache_folder() == tmp_path
