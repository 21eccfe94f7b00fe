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
from typing import Any, Protocol

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
MOST_FAILURES = 5
"""Requests in a row without a usable reply, after which no more are sent."""


class Log(Protocol):
    """Where the outcome of each request is kept, so that a stopped generation can be gone on with."""

    def read(self) -> str:
        """All lines so far."""

    def append(self, line: str) -> None:
        """One more line, with its end."""


class FileLog:
    """A log in a file. A kill may have left half a line at the end: it is cut off, for the next to stand alone."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> str:
        if not self.path.exists():
            return ""
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            self.path.write_bytes(whole)
        return whole.decode("utf8")

    def append(self, line: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf8") as file:
            file.write(line)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a generation will ask of the endpoint. Tokens at four characters each; cost in the currency of the prices."""

    requests: int
    input_tokens: int
    output_tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class GenerationReport:
    """What came of it. dropped: reason → count. failed: requests without a usable reply, problem what the last of them was;
    a resumed run asks them again. stopped: why not all sources were asked about.
    """

    questions: tuple[Question, ...]
    dropped: dict[str, int] = field(default_factory=dict)
    failed: int = 0
    problem: str = ""
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
    log: Log,
    *,
    prompts: tuple[str, str] | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    cancel: Callable[[], bool] | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> GenerationReport:
    """Questions from the sources. prompts: (for one clause, for a citation pair).

    log: gets a line of JSON for each answered request at once; a request that stands in it (same model, same prompt) is not
    sent again, so the same call resumes a stopped run. A fatal refusal (wrong key) and failures in a row stop the run; what was
    made so far is kept.
    """
    wanted = {s.id: _request_id(endpoint, _prompt(corpus, s, prompts)) for s in sources}
    rows = [
        row for row in map(json.loads, filter(str.strip, log.read().split("\n"))) if wanted.get(row["source"]) == row["asked"]
    ]
    done = {row["source"] for row in rows}
    questions = [from_object(row["question"]) for row in rows if row.get("question")]
    dropped = Counter(row["dropped"] for row in rows if row.get("dropped"))
    duplicates = Duplicates(q.question for q in questions)
    failed, in_a_row, asked, problem, stopped = 0, 0, 0, "", ""
    for i, source in enumerate(sources):
        if cancel is not None and cancel():
            stopped = "stopped by the user"
            break
        if source.id not in done:
            asked += 1
            row: dict[str, Any] = {"source": source.id, "asked": wanted[source.id]}
            try:
                reply = complete(endpoint, _prompt(corpus, source, prompts), sleep)
                in_a_row = 0
                question = make_question(corpus, source, reply, _id_of(source))
                duplicates.add(question.question)
                questions.append(question)
                log.append(json.dumps(row | {"question": to_object(question)}, ensure_ascii=False) + "\n")
            except DroppedError as error:
                dropped[error.reason] += 1
                log.append(json.dumps(row | {"dropped": error.reason, "detail": str(error)}, ensure_ascii=False) + "\n")
            except EndpointError as error:
                failed, in_a_row, problem = failed + 1, in_a_row + 1, str(error)
                if error.fatal or in_a_row == MOST_FAILURES:
                    stopped = problem if error.fatal else f"stopped after {in_a_row} failures in a row"
                    break
        if progress is not None:
            progress(i + 1, len(sources), source.id)
    return GenerationReport(tuple(questions), dict(dropped), failed, problem, asked, stopped)


def _prompt(corpus: Corpus, source: Source, prompts: tuple[str, str] | None) -> str:
    single, pair = prompts or (CLAUSE_PROMPT, CITATION_PROMPT)
    return render(pair if len(source.units) > 1 else single, corpus, source)


def _request_id(endpoint: Endpoint, prompt: str) -> str:
    return hashlib.sha256(f"{endpoint.model}\n{prompt}".encode()).hexdigest()[:16]


def _id_of(source: Source) -> str:
    return "gen-" + hashlib.sha256(source.id.encode()).hexdigest()[:10]
