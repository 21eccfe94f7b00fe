"""Check data/questions.jsonl against the PDFs: `python data/make/check_questions.py [--write]`.

A witness must stand, word by word, in the text of the clause (as the generator knows it) and be printed on the page it
names. --write puts in the page where the clause prints the words, for questions that are new or whose page has moved.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import pymupdf

DATA = Path(__file__).resolve().parent.parent
TYPES = {"fact", "paraphrase", "procedure", "table", "definition", "crossref"}


def words(text: str) -> list[str]:
    """Lower-case words and numbers; words divided at a line end are joined."""
    return re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z])[-\u00ad]\n(?=[a-z])", "", text).lower())


def squeeze(text: str) -> str:
    """The text's letters and figures alone, so that spaces, hyphens and superscripts do not matter."""
    return "".join(words(text))


def printed_pages(pdf: Path, first: int, last: int, text: str) -> list[int]:
    """Physical pages between `first` and `last` on which `text` is printed in one piece."""
    with pymupdf.open(pdf) as doc:
        pages = range(first, min(last, len(doc)) + 1)
        return [number for number in pages if squeeze(text) in squeeze(doc[number - 1].get_text())]


def check(question: dict[str, Any], truth: dict[str, Any], write: bool) -> list[str]:
    """What is wrong with one question; with `write`, pages are put right first."""
    wrong = []
    if question["type"] not in TYPES:
        wrong.append(f"type: expected one of {', '.join(sorted(TYPES))}; found {question['type']!r}")
    if question["type"] == "crossref" and len(question["witnesses"]) != 2:
        wrong.append(f"crossref: expected two witnesses; found {len(question['witnesses'])}")
    for witness in question["witnesses"]:
        document = truth[witness["file"]]
        at = [i for i, u in enumerate(document["units"]) if u["code"] == witness["clause"]]
        units = [document["units"][i] for i in at]
        holders = [i for i, u in zip(at, units, strict=True) if squeeze(witness["text"]) in squeeze(u["body"])]
        if not holders:
            wrong.append(f"clause {witness['clause']} of {witness['file']}: expected {witness['text']!r} in it; found {units}")
            continue
        unit = document["units"][holders[0]]
        rest = document["units"][holders[0] + 1 :]
        last = rest[0]["page"] if rest else document["document"]["pages"]
        pages = printed_pages(DATA / witness["file"], unit["page"], last, witness["text"])
        if write and pages and witness.get("page") not in pages:
            witness["page"] = pages[0]
        if witness.get("page") not in pages:
            wrong.append(f"{witness['text'][:50]!r}: expected on page {witness.get('page')}; found on {pages}")
    return [f"{question['id']}: {w}" for w in wrong]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    path = DATA / "questions.jsonl"
    questions = [json.loads(line) for line in path.read_text("utf8").splitlines() if line.strip()]
    truth = {t["file"]: t for t in json.loads((DATA / "make" / "truth.json").read_text("utf8"))}
    wrong = [w for q in questions for w in check(q, truth, args.write)]
    if args.write:
        path.write_text("".join(json.dumps(q, ensure_ascii=False) + "\n" for q in questions), "utf8")
    print(*wrong, sep="\n", file=sys.stderr, end="\n" if wrong else "")
    print(f"{len(questions)} questions, {sum(len(q['witnesses']) for q in questions)} witnesses, {len(wrong)} faults")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
