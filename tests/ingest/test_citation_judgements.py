"""Citations of real standards against what a reader found: precision of two samples, recall of sixty pages.

tests/data/citation_judgements.jsonl holds no text of the standards, one JSON object a line:
  kind "precision": a citation of the output, drawn at random (seed) over 29 files without regard to file or form, and the
    verdict of a reader who saw it in its sentence; of a wrong one `right`, the [document, code] it should have been.
    The 300 of seed 20261130 were judged first (5 wrong) and the kinds of fault mended; the 300 of seed 4711 after that.
  kind "recall": a page drawn at random (seed) behind the front matter, with every citation [document, code] on it, written
    down from the page before the output was looked at. Tables and figures are given by the clause they stand in.
A second reader judged sixty of them again: citation_second_reader.jsonl.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from normrag_core.ingest import read_pdf

JUDGEMENTS = Path(__file__).resolve().parent.parent / "data" / "citation_judgements.jsonl"

pytestmark = [pytest.mark.shared, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def judged() -> list[dict[str, Any]]:
    return [json.loads(line) for line in JUDGEMENTS.read_text("utf8").splitlines()]


@pytest.fixture(scope="module")
def output(shared_corpus: Path, judged: list[dict[str, Any]]) -> dict[tuple[str, int], Counter[tuple[str, str]]]:
    """(file, page) → how often each (document, code) is cited on it by the present reader."""
    found: dict[tuple[str, int], Counter[tuple[str, str]]] = {}
    for file in sorted({j["file"] for j in judged}):
        for citation in read_pdf(shared_corpus / file).citations:
            found.setdefault((file, citation.page), Counter())[citation.document, citation.code] += 1
    return found


@pytest.mark.parametrize(("seed", "drawn"), [(20261130, 300), (4711, 300)])
def test_precision(judged: list[dict[str, Any]], output: dict[tuple[str, int], Counter], seed: int, drawn: int) -> None:
    sample = [j for j in judged if j["kind"] == "precision" and j["seed"] == seed]
    assert len(sample) == drawn
    # The same target may have been drawn twice on one page: each needs a citation of its own.
    wanted: dict[tuple[str, int], Counter[tuple[str, str]]] = {}
    for judgement in sample:
        document, code = judgement.get("right") or (judgement["document"], judgement["code"])
        wanted.setdefault((judgement["file"], judgement["page"]), Counter())[document, code] += 1
    missing = {place: rest for place, targets in wanted.items() if (rest := targets - output.get(place, Counter()))}
    share = 1 - sum(rest.total() for rest in missing.values()) / drawn
    print(f"precision, seed {seed}: {share:.1%} of {drawn}; not as judged right: {missing}")
    assert share >= 0.98, missing


def test_recall(judged: list[dict[str, Any]], output: dict[tuple[str, int], Counter]) -> None:
    pages = [j for j in judged if j["kind"] == "recall"]
    assert len(pages) == 60
    missing = {}
    for page in pages:
        rest = Counter(tuple(t) for t in page["targets"]) - output.get((page["file"], page["page"]), Counter())
        if rest:
            missing[page["file"], page["page"]] = rest
    total = sum(len(page["targets"]) for page in pages)
    share = 1 - sum(rest.total() for rest in missing.values()) / total
    print(f"recall: {share:.1%} of {total} on 60 pages; missing: {missing}")
    assert share >= 0.96, missing
