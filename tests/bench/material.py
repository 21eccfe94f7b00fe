"""What is measured on: the real standards in the optional folder next to the checkout, else the sample standards."""

from __future__ import annotations

import json
import shutil
from functools import cache
from hashlib import sha256
from pathlib import Path

from normrag_core.model import Corpus

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = ROOT.parent / "shared"


@cache
def pdfs() -> tuple[Path, ...]:
    """PDFs to measure on, in name order."""
    folder = SHARED / "corpus" if (SHARED / "corpus").is_dir() else ROOT / "data"
    return tuple(sorted(folder.glob("*.pdf")))


def real() -> bool:
    """Whether the real standards are there."""
    return bool(pdfs()) and pdfs()[0].is_relative_to(SHARED)


def name() -> str:
    """How the report calls the corpus."""
    return f"{len(pdfs())} real standards" if real() else f"the {len(pdfs())} sample standards"


@cache
def corpus() -> Corpus:
    """All of them, parsed in this machine's worker processes; kept in build/ for as long as the reader stays as it is."""
    from normrag_core.ingest.pool import parse_files
    from normrag_core.storage import Workspace

    kept = ROOT / "build" / f"bench-read-{_reader()}"
    for old in kept.parent.glob("bench-read-*"):
        if old != kept:
            shutil.rmtree(old, ignore_errors=True)
    workspace = Workspace(kept)
    wanted = {sha256(file.read_bytes()).hexdigest(): file for file in pdfs()}
    for parsed in workspace.documents():
        if wanted.pop(parsed.document.sha256, None) is None:
            workspace.remove(parsed.document)
    for done in parse_files(sorted(wanted.values())):
        if done.parsed is not None:
            workspace.add(done.parsed)
    return Corpus.of(sorted(workspace.documents(), key=lambda p: p.document.file))


def _reader() -> str:
    """Changes with the code that reads a PDF."""
    code = sorted((ROOT / "normrag_core").glob("ingest/*.py")) + [ROOT / "normrag_core" / f"{n}.py" for n in ("model", "codec")]
    return sha256(b"".join(file.read_bytes() for file in code)).hexdigest()[:12]


def questions_file() -> Path:
    """Questions about them, with witnesses."""
    return SHARED / "qa" / "etsi-dev.jsonl" if real() else ROOT / "data" / "questions.jsonl"


@cache
def questions() -> tuple[str, ...]:
    """What these ask."""
    lines = questions_file().read_text("utf8").splitlines()
    return tuple(json.loads(line)["question"] for line in lines if line.strip())
