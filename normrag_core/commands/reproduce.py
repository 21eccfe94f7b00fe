"""`reproduce`: writes docs/reproduction.md from the optional folder of real standards, or from the sample data."""

from __future__ import annotations

from pathlib import Path

from normrag_core.commands.evaluate import read_questions
from normrag_core.commands.folder import NothingReadError, open_cutting, open_retriever, say
from normrag_core.config import PRESETS
from normrag_core.evaluation.reproduction import reproduce as compute
from normrag_core.evaluation.reproduction_report import write

ROOT = Path(__file__).resolve().parents[2]


def reproduce(folder: Path | None, questions_file: Path | None, out: Path) -> int:
    """Status 1 where nothing can be read. Without a folder: the optional one next to the checkout, else data/."""
    name = "the files given"
    if folder is None:
        shared = ROOT.parent / "shared"
        real = (shared / "corpus").is_dir()
        folder, default = (
            (shared / "corpus", shared / "qa" / "etsi-dev.jsonl")
            if real
            else (ROOT / "data", ROOT / "data" / "questions.jsonl")
        )
        questions_file = questions_file or default
        name = "real ETSI standards from an optional folder next to the checkout" if real else "the sample standards in `data/`"
    if questions_file is None:
        say("expected a question file beside the folder; found none")
        return 2
    questions = read_questions(questions_file)
    if questions is None:
        return 1
    try:
        retriever = open_retriever(folder, [p.config for p in PRESETS.values()], [q.question for q in questions])
    except NothingReadError as error:
        say(str(error))
        return 1
    found = compute(retriever, questions, say, open_cutting(retriever))
    for file in write(found, out, name, "python -m normrag_core reproduce"):
        print(file)
    return 0
