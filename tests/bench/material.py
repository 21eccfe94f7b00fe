"""What is measured on: the real standards in the optional folder next to the checkout, else the sample standards."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from normrag_core.model import Corpus

ROOT = Path(__file__).resolve().parent.parent.parent
SHARED = ROOT.parent / "shared"


@cache
def pdfs() -> tuple[Path, ...]:
    """PDFs to measure on, in name order."""
    folder = SHARED / "corpus" if (SHARED / "corpus").is_dir() else ROOT / "data"
    return tuple(sorted(folder.glob("*.pdf")))


def name() -> str:
    """How the report calls the corpus."""
    real = bool(pdfs()) and pdfs()[0].is_relative_to(SHARED)
    return f"{len(pdfs())} real standards" if real else f"the {len(pdfs())} sample standards"


@cache
def corpus() -> Corpus:
    """All of them, parsed in this machine's worker processes."""
    from normrag_core.ingest.pool import parse_files

    parsed = [o.parsed for o in parse_files(pdfs()) if o.parsed is not None]
    return Corpus.of(sorted(parsed, key=lambda p: p.document.file))


@cache
def questions() -> tuple[str, ...]:
    """Questions about them."""
    file = SHARED / "qa" / "etsi-dev.jsonl" if pdfs()[0].is_relative_to(SHARED) else ROOT / "data" / "questions.jsonl"
    return tuple(json.loads(line)["question"] for line in file.read_text("utf8").splitlines() if line.strip())
