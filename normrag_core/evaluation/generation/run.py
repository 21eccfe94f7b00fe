"""The generation itself: one request a source, everything verified, resumable after a stop at any point."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from normrag_core.evaluation.generation.checks import DroppedError, Duplicates, make_question
from normrag_core.evaluation.generation.passages import Source
from normrag_core.evaluation.questions import Question, from_object, to_object
from normrag_core.llm import Endpoint, EndpointError, complete
from normrag_core.model import Corpus

CLAUSE_PROMPT = """You write test questions for engineers who look things up in technical standards.
Write one question that the passage below answers. Use other words than the passage where you can. Do not name the clause
number. The question must be understandable without the passage.
Reply with one JSON object and nothing else: {"question": "...", "answer": "...", "witnesses": ["..."]}
The only witness is the sentence or table row of the passage that holds the answer, copied word for word.

Standard: {document}
Heading: {heading}
Passage:
{passage}
"""
CITATION_PROMPT = """You write test questions for engineers who look things up in technical standards.
The first passage refers to the second ("{citation}"). Write one question that needs both to be answered: asked about the
subject of the first, answered only with what the second adds. Use other words than the passages where you can. Name no clause
number.
Reply with one JSON object and nothing else: {"question": "...", "answer": "...", "witnesses": ["...", "..."]}
The first witness is the sentence of the first passage that refers to the second, the other the sentence or table row of the
second passage that completes the answer, both copied word for word.

Standard: {document}
First heading: {heading}
First passage:
{passage}

Standard: {cited_document}
Second heading: {cited_heading}
Second passage:
{cited_passage}
"""
ANSWER_TOKENS = 180


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a generation will ask of the endpoint. Tokens at four characters each; cost in the currency of the prices."""

    requests: int
    input_tokens: int
    output_tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class GenerationReport:
    """What came of it. dropped: reason → count. failed: requests without a usable reply; a resumed run asks them again."""

    questions: tuple[Question, ...]
    dropped: dict[str, int] = field(default_factory=dict)
    failed: int = 0
    asked: int = 0
    stopped: str = ""


def render(template: str, corpus: Corpus, source: Source) -> str:
    """The prompt for a source. Only the known {names} are replaced, so that braces in an edited prompt do no harm."""
    values = {"citation": source.citation}
    for prefix, unit in zip(("", "cited_"), source.units, strict=False):
        document = corpus.by_key[unit.document]
        values |= {
            f"{prefix}document": f"{document.label} {document.title}".strip(),
            f"{prefix}heading": unit.heading,
            f"{prefix}passage": unit.body,
        }
    return re.sub(r"\{(\w+)\}", lambda m: values.get(m[1], m[0]), template)


def estimate(corpus: Corpus, sources: Sequence[Source], endpoint: Endpoint, prompts: tuple[str, str] | None = None) -> Estimate:
    """Requests, tokens and cost of asking about these sources, before anything is sent."""
    tokens_in = sum(len(_prompt(corpus, s, prompts)) // 4 for s in sources)
    tokens_out = ANSWER_TOKENS * len(sources)
    cost = (tokens_in * endpoint.input_price + tokens_out * endpoint.output_price) / 1e6
    return Estimate(len(sources), tokens_in, tokens_out, cost)


def generate(
    corpus: Corpus,
    sources: Sequence[Source],
    endpoint: Endpoint,
    log: Path,
    *,
    prompts: tuple[str, str] | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    cancel: Callable[[], bool] | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> GenerationReport:
    """Questions from the sources. prompts: (for one clause, for a citation pair).

    log: JSONL file that gets a line for each answered source at once; sources that stand in it are not asked again, so the same
    call resumes a stopped run. A fatal refusal (wrong key) stops the run; what was made so far is kept.
    """
    rows = _read_log(log)
    done = {row["source"] for row in rows}
    questions = [from_object(row["question"]) for row in rows if row.get("question")]
    dropped = Counter(row["dropped"] for row in rows if row.get("dropped"))
    duplicates = Duplicates(q.question for q in questions)
    failed, asked, stopped = 0, 0, ""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf8") as file:
        for i, source in enumerate(sources):
            if cancel is not None and cancel():
                stopped = "stopped by the user"
                break
            if source.id not in done:
                asked += 1
                row: dict[str, Any] = {"source": source.id}
                try:
                    reply = complete(endpoint, _prompt(corpus, source, prompts), sleep)
                    question = make_question(corpus, source, reply, _id_of(source))
                    duplicates.add(question.question)
                    questions.append(question)
                    row["question"] = to_object(question)
                except DroppedError as error:
                    dropped[error.reason] += 1
                    row |= {"dropped": error.reason, "detail": str(error)}
                except EndpointError as error:
                    failed += 1
                    if error.fatal:
                        stopped = str(error)
                        break
                    row = {}
                if row:
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
                    file.flush()
            if progress is not None:
                progress(i + 1, len(sources), source.id)
    return GenerationReport(tuple(questions), dict(dropped), failed, asked, stopped)


def _prompt(corpus: Corpus, source: Source, prompts: tuple[str, str] | None) -> str:
    single, pair = prompts or (CLAUSE_PROMPT, CITATION_PROMPT)
    return render(pair if len(source.units) > 1 else single, corpus, source)


def _id_of(source: Source) -> str:
    return "gen-" + hashlib.sha256(source.id.encode()).hexdigest()[:10]


def _read_log(path: Path) -> list[dict[str, Any]]:
    """Rows of an earlier run. A kill may have left half a line at the end: it is cut off, for the next to stand alone."""
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        path.write_bytes(whole)
    return [json.loads(line) for line in whole.decode("utf8").split("\n") if line.strip()]
