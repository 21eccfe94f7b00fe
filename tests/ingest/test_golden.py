"""Sample standards against golden files: what the reader said when it was last looked at by a person.

`NORMRAG_REGENERATE=1 pytest tests/ingest/test_golden.py` writes the files anew (and fails, so that nobody leaves it on):
read the difference before committing it. Standards with a bookmark tree are read a second time without it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from normrag_core.ingest import read_pdf
from normrag_core.model import ParsedDocument

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
SAMPLES = sorted((ROOT / "data").glob("*.pdf"))
REGENERATE = os.environ.get("NORMRAG_REGENERATE") == "1"


def picture(parsed: ParsedDocument) -> dict[str, Any]:
    """What a golden file holds: structure, citations and the size of every body, no text."""
    key_of = {unit.id: unit.key for unit in parsed.units}
    document = parsed.document
    return {
        "document": [document.id, document.version, document.date, document.title, document.pages],
        "units": [[u.key, u.code, u.title, u.kind, u.parent, u.page, u.informative, len(u.body.split())] for u in parsed.units],
        "citations": [[key_of[c.source], c.page, c.text, c.document, c.code, c.edition] for c in parsed.citations],
        "findings": [[f.kind, f.page, f.severity] for f in document.report.findings],
    }


def lines(golden: dict[str, Any]) -> str:
    """JSON with one unit, citation or finding a line, so that differences can be read."""
    parts = [f"{json.dumps(name)}: {_list(value)}" for name, value in golden.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _list(value: list[Any]) -> str:
    if not value or not isinstance(value[0], list):
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join(f" {json.dumps(row, ensure_ascii=False)}" for row in value) + "\n]"


def test_golden_files_are_not_being_rewritten() -> None:
    assert not REGENERATE, "NORMRAG_REGENERATE is on: golden files are written, not compared. Switch it off"


def test_every_sample_has_a_golden_file_and_the_other_way_round() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == {path.stem for path in SAMPLES}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample(path: Path) -> None:
    read = picture(read_pdf(path))
    golden = GOLDEN / f"{path.stem}.json"
    if REGENERATE:
        GOLDEN.mkdir(exist_ok=True)
        golden.write_text(lines(read), "utf8")
    expected = json.loads(golden.read_text("utf8"))
    for part, rows in expected.items():
        assert read[part] == rows, part


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample_without_its_bookmarks_has_the_same_tree(path: Path, tmp_path: Path) -> None:
    bare = tmp_path / path.name
    with pymupdf.open(path) as pdf:
        pdf.set_toc([])
        pdf.save(bare, encryption=pymupdf.PDF_ENCRYPT_NONE)
    golden = json.loads((GOLDEN / f"{path.stem}.json").read_text("utf8"))
    assert picture(read_pdf(bare))["units"] == golden["units"]
