"""kill -9 at random moments of an ingest: at the next start all finished work is there and whole, and the rest resumes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from normrag_core.chunking import make_chunks
from normrag_core.config import PRESETS
from normrag_core.embedding import embedding_text, load_embedder
from normrag_core.ingest.pool import parse_files
from normrag_core.storage import Workspace, handle

ROOT = Path(__file__).resolve().parent.parent.parent


def files() -> list[Path]:
    return sorted((ROOT / "data").glob("*.pdf"))


def ingest(folder: Path) -> None:
    """Reads what is not yet in the workspace and embeds what has no vector: the work that is killed."""
    workspace = Workspace(folder)
    names = {p.document.file for p in workspace.documents()}
    for done in parse_files([f for f in files() if f.name not in names]):
        assert done.parsed is not None, done.error
        workspace.add(done.parsed, done.path.read_bytes())
    _vectors(workspace)


def _vectors(workspace: Workspace) -> int:
    config = PRESETS["chunked-rrf"].config
    corpus = workspace.corpus()
    chunks = make_chunks(corpus, config.chunking, config.max_words, config.context)
    owners = [handle(corpus.by_key[c.document]) for c in chunks]
    return len(workspace.vectors.embed(load_embedder("hash"), [embedding_text(c) for c in chunks], owners=owners))


def run(count: int, seed: int) -> int:
    """`count` kills over as many ingests as they need; 1 where a state was broken or work was lost."""
    rng = random.Random(seed)
    expected = {o.path.name: len(o.parsed.units) for o in parse_files(files()) if o.parsed is not None}
    kills = finished = 0
    faults: list[str] = []
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "0"
        before: set[str] = set()
        while kills < count:
            child = subprocess.Popen(
                [sys.executable, "-m", "tests.stress.kill", str(folder)],
                cwd=ROOT,
                start_new_session=True,
                stderr=subprocess.DEVNULL,
            )
            try:
                child.wait(rng.uniform(0.3, 9.0))
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                kills += 1
            workspace = Workspace(folder)
            found = {p.document.file: len(p.units) for p in workspace.documents()}
            if workspace.damaged():
                faults.append(f"kill {kills}: damaged documents")
            if any(expected[name] != n for name, n in found.items()):
                faults.append(f"kill {kills}: a half-read document")
            if not before <= found.keys():
                faults.append(f"kill {kills}: lost {sorted(before - found.keys())}")
            if any(workspace.original(p.document) is None for p in workspace.documents()):
                faults.append(f"kill {kills}: a document without its file")
            before = set(found)
            if child.returncode == 0:
                finished += 1
                if found != expected:
                    faults.append(f"after a whole run: {len(found)} of {len(expected)} documents")
                folder, before = Path(top) / str(finished), set()
    print(f"{kills} kills, {finished} ingests finished in between, {len(faults)} faults, {time.monotonic() - began:.0f} s")
    print("\n".join(faults[:20]))
    return int(bool(faults))


if __name__ == "__main__":
    ingest(Path(sys.argv[1]))
