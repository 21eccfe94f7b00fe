"""One more standard: what it costs beside many that are loaded, against reading it into an empty workspace."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from normrag_core.config import DEFAULT_PRESET, PRESETS
from normrag_core.storage import Workspace
from pages._library import Library
from tests.bench import material
from tests.bench.app import prepared
from tests.bench.table import Row, Section

CONFIG = PRESETS[DEFAULT_PRESET].config


def adding(full: bool) -> Section:
    """The same file added to all others and to nothing, by the app's own library; three times each, the median counts."""
    added = sorted(material.pdfs(), key=lambda p: p.stat().st_size)[len(material.pdfs()) // 2]
    beside = len(material.pdfs()) - 1
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        others = Path(folder) / "others"
        shutil.copytree(prepared(), others)
        workspace = Workspace(others)
        workspace.remove(next(p.document for p in workspace.documents() if p.document.file == added.name))
        _settled(Library(workspace))
        many: list[tuple[float, float]] = []
        none: list[tuple[float, float]] = []
        for n in range(3):
            shutil.copytree(others, Path(folder) / f"many-{n}")
            many.append(_add(_settled(Library(Workspace(Path(folder) / f"many-{n}"))), added))
            none.append(_add(Library(Workspace(Path(folder) / f"none-{n}")), added))
        for i, name in enumerate(("by words", "by words and by meaning")):
            ours, peer = (sorted(times[i] for times in measured)[1] for measured in (many, none))
            rows.append(
                Row(
                    f"one standard added to {beside}: searchable {name}",
                    f"{ours:.2f} s",
                    f"{peer:.2f} s (into an empty workspace)",
                    f"{ours / peer:.2f} ×",
                )
            )
    return Section(
        "One more standard",
        f"{added.name}, from the upload until a search finds its clauses, in {material.name()} and alone; model loaded before.",
        tuple(rows),
    )


def _add(library: Library, file: Path) -> tuple[float, float]:
    """(seconds until it can be searched by words, seconds until by meaning too)."""
    before = len(library.loaded.corpus.documents)
    began = time.monotonic()
    library.add([(file.name, file.read_bytes())])
    _until(lambda: len(library.loaded.corpus.documents) > before)
    library.loaded.retriever.index(CONFIG).bm25(CONFIG)
    words = time.monotonic() - began
    _until(lambda: library.vectors_ready(CONFIG))
    library.loaded.retriever.index(CONFIG).in_use(CONFIG)
    return words, time.monotonic() - began


def _settled(library: Library) -> Library:
    """With all made that the default settings need."""
    if library.loaded.corpus.documents:
        library.warm()
        _until(lambda: library.vectors_ready(CONFIG))
    return library


def _until(there: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not there():
        if time.monotonic() > end:
            raise TimeoutError(f"expected the library to be ready within {seconds:.0f} s")
        time.sleep(0.005)
