"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The optional folder of real standards next to the checkout; the test skips where it is absent."""
    folder = ROOT.parent / "shared"
    if not (folder / "corpus").is_dir():
        pytest.skip("needs the optional folder of real standards next to the checkout (../shared/corpus), which is absent")
    return folder


@pytest.fixture(scope="session")
def shared_corpus(shared: Path) -> Path:
    """Folder of the real PDFs."""
    return shared / "corpus"


@pytest.fixture(scope="session")
def sample_dir() -> Path:
    """Folder of the sample standards, written by this project."""
    return ROOT / "data"
