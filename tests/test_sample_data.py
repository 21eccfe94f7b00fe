"""The sample standards: they can be rebuilt, hold the traps they promise, and answer the questions asked of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pymupdf
import pytest


@pytest.fixture(scope="module")
def rebuilt(sample_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the generator has just written all samples."""
    folder = tmp_path_factory.mktemp("rebuilt")
    command = [sys.executable, str(sample_dir / "make" / "build.py"), "--out", str(folder)]
    subprocess.run(command, check=True, capture_output=True, timeout=240)
    return folder


@pytest.fixture(scope="module")
def truth(sample_dir: Path) -> dict[str, dict[str, Any]]:
    """What the generator knows, by file name."""
    return {t["file"]: t for t in json.loads((sample_dir / "make" / "truth.json").read_text("utf8"))}


@pytest.fixture(scope="module")
def pdfs(sample_dir: Path) -> list[Path]:
    """The sample files."""
    return sorted(sample_dir.glob("*.pdf"))


def visible(pdf: Path) -> tuple[list[str], list[list[Any]], list[int]]:
    """Text of each page, bookmarks and number of links on each page."""
    with pymupdf.open(pdf) as doc:
        return [page.get_text() for page in doc], doc.get_toc(), [len(page.get_links()) for page in doc]


def test_rebuilding_gives_the_committed_files(rebuilt: Path, pdfs: list[Path], sample_dir: Path) -> None:
    assert sorted(p.name for p in rebuilt.glob("*.pdf")) == [p.name for p in pdfs]
    for pdf in pdfs:
        assert visible(rebuilt / pdf.name) == visible(pdf), pdf.name
    assert (rebuilt / "make" / "truth.json").read_text("utf8") == (sample_dir / "make" / "truth.json").read_text("utf8")


def test_size_of_the_sample(pdfs: list[Path]) -> None:
    assert len(pdfs) >= 6
    assert all(p.stat().st_size < 300_000 for p in pdfs)
    assert sum(len(visible(p)[0]) for p in pdfs) >= 60


def test_varieties(pdfs: list[Path], truth: dict[str, dict[str, Any]]) -> None:
    marks = {p.name: len(visible(p)[1]) for p in pdfs}
    assert sum(n == 0 for n in marks.values()) == 1, "one file without bookmarks"
    assert sum(sum(visible(p)[2]) > 5 for p in pdfs) >= 3, "some files with links"
    editions = Counter(t["document"]["id"] for t in truth.values())
    assert max(editions.values()) == 2, "one pair of versions"
    with pymupdf.open(next(p for p in pdfs if p.name.startswith("tr_"))) as doc:
        assert doc.metadata["encryption"]
        assert not doc.needs_pass
    old = visible(next(p for p in pdfs if p.name.startswith("ets")))[0]
    assert old[4].startswith("Page 5\nETS 399 826: May 1995\n")
    printed = visible(next(p for p in pdfs if p.name.startswith("ts_139")))[0]
    assert "\n5\n3GPP TS 39.113 version 16.2.0 Release 16\n" in printed[5], "printed page number differs from the physical one"


def test_truth_names_every_citation_where_it_is_printed(truth: dict[str, dict[str, Any]], sample_dir: Path) -> None:
    states: Counter[str] = Counter()
    for name, document in truth.items():
        keys = [u["key"] for u in document["units"]]
        assert len(set(keys)) == len(keys)
        with pymupdf.open(sample_dir / name) as doc:
            for cited in document["citations"] + document["not_citations"]:
                assert cited["source"] in keys
                states[cited.get("state", "none")] += 1
            for cited in document["citations"]:
                rects = [(page, pymupdf.Rect(x0 - 1, y0, x1 + 1, y1)) for page, x0, y0, x1, y1 in cited["rects"]]
                printed = "".join(doc[page - 1].get_text(clip=rect) for page, rect in rects)
                assert re.sub(r"\s", "", cited["text"]) in re.sub(r"\s", "", printed), (name, cited)
    assert set(states) == {"resolved", "version-mismatch", "missing-clause", "not-loaded", "none"}


def test_headings_stand_on_their_pages(truth: dict[str, dict[str, Any]], sample_dir: Path) -> None:
    for name, document in truth.items():
        with pymupdf.open(sample_dir / name) as doc:
            pages = ["".join(page.get_text().split()) for page in doc]
        keys = {u["key"] for u in document["units"]}
        for unit in document["units"][1:]:
            assert "".join(unit["title"].split()) in pages[unit["page"] - 1], (name, unit["key"])
            assert unit["parent"] in keys
            if unit["kind"] == "clause" and "." in unit["code"]:
                assert unit["parent"] == unit["code"].rsplit(".", 1)[0]


def test_promised_traps_are_there(truth: dict[str, dict[str, Any]]) -> None:
    units = [u for t in truth.values() for u in t["units"]]
    keys, codes = {u["key"] for u in units}, {u["code"] for u in units}
    assert {"3.1~2", "4.3.2.1.1", "7.3.75A", "7.3.76.1a", "4.2a", "I.2", "AA"} <= keys | codes
    assert {"Void"} <= {u["title"] for u in units}
    tables = [c for t in truth.values() for c in t["captions"] if "table_pages" in c]
    assert any(c["table_pages"][0] == c["page"] + 1 for c in tables), "a caption alone on the page before its table"
    assert any(len(c["table_pages"]) == 2 for c in tables), "a table over two pages"
    assert {"5 Reserved", "1 to 4", "64 800"} <= {cell for c in tables for row in c["rows"] for cell in row}
    cited = [c for t in truth.values() for c in t["citations"]]
    assert any(len({r[0] for r in c["rects"]}) == 2 for c in cited), "a citation over a page break"
    assert any(len(c["rects"]) == 2 and len({r[0] for r in c["rects"]}) == 1 for c in cited), "a citation over a line break"
    references = [r for t in truth.values() for r in t["references"]]
    for kind in ("void", "informative", "version"):
        assert any(r[kind] for r in references), kind


def test_questions_are_answered_by_the_samples(sample_dir: Path) -> None:
    checker = sample_dir / "make" / "check_questions.py"
    done = subprocess.run([sys.executable, str(checker)], capture_output=True, encoding="utf8", timeout=120)
    assert done.returncode == 0, done.stderr
    questions = [json.loads(line) for line in (sample_dir / "questions.jsonl").read_text("utf8").splitlines()]
    assert len(questions) >= 60
    assert len({q["id"] for q in questions}) == len(questions)
    assert {q["type"] for q in questions} == {"fact", "paraphrase", "procedure", "table", "definition", "crossref"}
