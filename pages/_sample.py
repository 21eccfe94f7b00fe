"""The sample standards that come with the project, the guided tour through them, and questions that loaded documents answer."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from normrag_core.model import Corpus, InfoUnit

FOLDER = Path(__file__).resolve().parent.parent / "data"
T = TypeVar("T")
# Ids of questions in the sample's set, each with what it shows.
TOUR = {
    "sample-031": "A question in its own words: below the first place, see how far BM25 and dense disagree.",
    "sample-047": "One that names a standard.",
    "sample-053": "One whose answer is a row of a table.",
}
_DULL = (
    "scope",
    "references",
    "definitions",
    "symbols",
    "abbreviations",
    "foreword",
    "introduction",
    "history",
    "general",
    "void",
)


def files() -> tuple[Path, ...]:
    """The sample PDFs."""
    return tuple(sorted(FOLDER.glob("*.pdf")))


@lru_cache(maxsize=1)
def digests() -> frozenset[str]:
    """SHA-256 of each sample file: what makes a loaded document part of the sample."""
    return frozenset(hashlib.sha256(f.read_bytes()).hexdigest() for f in files())


@lru_cache(maxsize=1)
def questions() -> tuple[dict[str, object], ...]:
    """The sample's question set; () where it is missing."""
    path = FOLDER / "questions.jsonl"
    if not path.is_file():
        return ()
    return tuple(json.loads(line) for line in path.read_text("utf8").splitlines() if line.strip())


def examples(corpus: Corpus, wanted: int = 5) -> list[str]:
    """Questions to click: of the sample's set where the sample is loaded, else made from clauses of the documents."""
    loaded = {d.file for d in corpus.documents if d.sha256 in digests()}
    own = [d for d in corpus.documents if d.sha256 not in digests()]
    from_sample = [str(q["question"]) for q in questions() if _asks_of(q, loaded)]
    made = [
        f"What does {corpus.by_key[u.document].id} say about {_topic(u)}?"
        for u in _telling(corpus, {d.key for d in own}, wanted)
    ]
    return (made + _spread(from_sample, wanted))[:wanted]


def _asks_of(question: dict[str, object], loaded: set[str]) -> bool:
    witnesses = question.get("witnesses")
    return isinstance(witnesses, list) and bool(witnesses) and all(w.get("file") in loaded for w in witnesses)


def _telling(corpus: Corpus, documents: set[str], wanted: int) -> list[InfoUnit]:
    """Clauses with a text and a title of some words, spread over the documents."""
    fitting = [
        u
        for u in corpus.units
        if u.document in documents
        and u.kind == "clause"
        and 60 <= len(u.body.split()) <= 600
        and 2 <= len(u.title.split()) <= 7
        and not any(word in u.title.lower() for word in _DULL)
    ]
    return _spread(fitting, wanted)


def _spread(items: list[T], wanted: int) -> list[T]:
    step = max(1, len(items) // wanted) if wanted else 1
    return items[step // 2 :: step][:wanted]


def _topic(unit: InfoUnit) -> str:
    """The title as it reads inside a sentence: "Frame structure" → "frame structure", "PLP data" stays."""
    first, rest = unit.title[:1], unit.title[1:]
    return first.lower() + rest if rest[:1].islower() else unit.title


def tour(corpus: Corpus) -> list[tuple[str, str]]:
    """Three questions over the sample with what each one shows; [] until all their documents are loaded."""
    loaded = {d.file for d in corpus.documents if d.sha256 in digests()}
    by_id = {str(q["id"]): q for q in questions()}
    if not all(n in by_id and _asks_of(by_id[n], loaded) for n in TOUR):
        return []
    return [(str(by_id[n]["question"]), why) for n, why in TOUR.items()]
