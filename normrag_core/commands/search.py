"""`search DIR "question"`: the ranked clauses, as text or JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from normrag_core.commands.folder import NothingReadError, open_retriever, say
from normrag_core.config import PRESETS
from normrag_core.model import Corpus
from normrag_core.trace import Result, Trace


def search(folder: Path, question: str, preset: str, top_k: int, as_json: bool) -> int:
    """Prints the first top_k results. Status 1 where nothing in the folder could be read."""
    config = PRESETS[preset].config.with_(top_k=top_k)
    try:
        retriever = open_retriever(folder, [config])
    except NothingReadError as error:
        say(str(error))
        return 1
    trace = retriever.search(question, config)
    for note in trace.notes:
        say(note)
    if as_json:
        print(json.dumps(to_object(retriever.corpus, trace), ensure_ascii=False))
    else:
        print(to_text(retriever.corpus, trace))
    return 0


def to_object(corpus: Corpus, trace: Trace) -> dict[str, Any]:
    """The results in the form of the command line contract."""
    return {"results": [_result(corpus, r) for r in trace.results]}


def to_text(corpus: Corpus, trace: Trace) -> str:
    """The results for a person: one head line each, the first words of the text, ranks by stage."""
    if not trace.results:
        return "No results."
    out = []
    for r in trace.results:
        document, unit = corpus.by_key[r.chunk.document], corpus.by_id[r.chunk.unit]
        pages = ", ".join(map(str, r.chunk.pages))
        out.append(f"{r.rank:>3}  {document.label}, {unit.heading} (page {pages})  score {r.score:.4f}")
        text = " ".join(r.chunk.text.split())
        out.append(f"     {text[:160]}{'…' if len(text) > 160 else ''}")
        out.append("     " + ", ".join(f"{stage} {rank}" for stage, (rank, _) in r.ranks.items()))
    return "\n".join(out)


def _result(corpus: Corpus, r: Result) -> dict[str, Any]:
    document, unit = corpus.by_key[r.chunk.document], corpus.by_id[r.chunk.unit]
    return {
        "rank": r.rank,
        "document": document.id,
        "version": document.version,
        "file": document.file,
        "code": unit.code,
        "title": unit.title,
        "pages": list(r.chunk.pages),
        "text": r.chunk.text,
        "score": r.score,
        "stages": {stage: {"rank": rank, "score": score} for stage, (rank, score) in r.ranks.items()},
    }
