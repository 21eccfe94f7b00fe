"""Memory while all documents are ingested, worker processes included, and what stays afterwards, a chunk."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

from normrag_core.dense import HALF_FROM
from tests.bench import material
from tests.bench.table import Row, Section

EVERY = 0.05  # seconds between two looks

# What an ingesting process does, with the moments that are asked about on standard output: "name chunks".
SCRIPT = """
import gc, sys
from pathlib import Path
from normrag_core.config import DEFAULT_PRESET, PRESETS
from normrag_core.embedding import embedding_text, load_embedder
from normrag_core.ingest.pool import parse_files
from normrag_core.parts import Parts
from normrag_core.retriever import Retriever
from normrag_core.storage import Workspace

def at(moment, chunks=0):
    gc.collect()
    print(moment, chunks, flush=True)
    sys.stdin.readline()

config = PRESETS[DEFAULT_PRESET].config
workspace, embedder = Workspace(sys.argv[1]), load_embedder()
at("start")
for done in parse_files([Path(p) for p in sys.argv[2:]]):
    if done.parsed is not None:
        workspace.add(done.parsed, done.path.read_bytes())
at("read")
vectors = lambda chunks: workspace.vectors.embed(embedder, [embedding_text(c) for c in chunks])
retriever = Retriever(workspace.corpus(), embedder, vectors, parts=Parts(workspace))
retriever.search("Which limits apply?", config)
at("indexed", len(retriever.chunks(config)))
"""


def memory(full: bool) -> Section:
    """One ingestion in a process of its own into an empty workspace: reading, embedding, index, one question."""
    highest: dict[str, float] = {}
    resident: dict[str, float] = {}
    chunks = 0
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", SCRIPT, str(Path(folder) / "workspace"), *map(str, material.pdfs())]
        process = subprocess.Popen(command, cwd=material.ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdin is not None
        assert process.stdout is not None
        with Watch(process.pid) as watch:
            for line in process.stdout:
                moment, count = line.split()
                highest[moment], resident[moment], chunks = watch.restart(), together(process.pid), int(count)
                process.stdin.write("\n")
                process.stdin.flush()
        if process.wait():
            raise RuntimeError(f"expected the ingestion to end well; found exit status {process.returncode}")
    peak, stays = max(highest.values()), resident["indexed"]
    grown = stays - resident["start"]
    return Section(
        "Memory of an ingestion",
        f"{material.name()}, {chunks:,} chunks, from PDFs to the first answer; the memory of all processes added up, shared "
        f"pages counted once, looked at every {1000 * EVERY:.0f} ms.",
        (
            Row("peak while reading (with worker processes)", f"{highest['read']:.0f} MB"),
            Row("peak while embedding and indexing", f"{highest['indexed']:.0f} MB"),
            Row("peak, a chunk", f"{1000 * peak / chunks:.0f} kB"),
            Row("resident afterwards", f"{stays:.0f} MB", f"{resident['start']:.0f} MB (model loaded, no document)"),
            Row("resident afterwards, a chunk, without what is there at the start", f"{1000 * grown / chunks:.0f} kB"),
        ),
        (
            "Every printed line is kept with its place on the page, and every clause, chunk and citation is a Python object: "
            "that is most of it. Vectors and their neighbours' means are 3 kB a chunk, half of that from "
            f"{HALF_FROM:,} chunks on. At this rate a million chunks of real standards take {grown / chunks * 1000:.0f} GB.",
        ),
    )


class Watch:
    """Highest memory of a process and all below it since the last `restart`, in megabytes."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def restart(self) -> float:
        """The peak until now; a new one begins."""
        peak, self._peak = self._peak, 0.0
        return peak

    def _look(self) -> None:
        while not self._stop.is_set():
            self._peak = max(self._peak, together(self._pid))
            time.sleep(EVERY)


def together(pid: int) -> float:
    """Megabytes of a process and all below it. Proportional set size where there is one: a shared page counts once."""
    total = 0
    try:
        first = psutil.Process(pid)
        for process in (first, *first.children(recursive=True)):
            try:
                info = process.memory_full_info()
                total += getattr(info, "pss", info.rss)
            except psutil.Error:
                continue  # It ended between two looks.
    except psutil.NoSuchProcess:
        pass
    return total / 1e6
