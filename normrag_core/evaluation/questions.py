"""Question sets: JSONL and CSV in and out, validated line by line.

A question says where its answer stands in one of two ways: by *witnesses* (the golden passages, as text) or by *relevant*
clauses (qrels by document and code). Nothing here looks into a corpus; `evaluation.witnesses` does.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

CITATION_TYPE = "crossref"
CSV_COLUMNS = ("id", "type", "question", "answer", "file", "page", "clause", "text", "document", "code", "judged")
WRONG = "wrong"
"""What `judged` says in a CSV row whose passage or clause does not answer the question; empty: it does."""

_SEPARATOR = re.compile(r"sep=([,;\t])\r?\n", re.IGNORECASE)
# Apostrophes too: a cell that had one before its sign must come back with it.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


class QuestionError(ValueError):
    """A question set holds nothing usable; the message carries the problems line by line."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A golden passage: `text` as it stands in `file` (name of the PDF), printed page and clause for the reader's use."""

    text: str
    file: str = ""
    page: int | None = None
    clause: str = ""


@dataclass(frozen=True, slots=True)
class Relevant:
    """A clause judged relevant. document: key, id or file name of the document; code: the printed number, "" for the root."""

    document: str
    code: str


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked and where the answer stands.

    The witnesses of a citation question are in this order: asked clause, cited clause. rejected: passages and clauses that
    somebody read and judged not to answer it, the qrels of relevance 0.
    """

    id: str
    question: str
    type: str = ""
    answer: str = ""
    witnesses: tuple[Witness, ...] = ()
    relevant: tuple[Relevant, ...] = ()
    rejected: tuple[Witness | Relevant, ...] = ()

    @property
    def goals(self) -> tuple[Witness | Relevant, ...]:
        """G: what has to be found. Witnesses where there are some, else relevant clauses."""
        return self.witnesses or self.relevant

    @property
    def group(self) -> str:
        """The document it is about (of its first goal): folds of a cross-validation keep a group together."""
        goal = self.goals[0]
        return goal.file if isinstance(goal, Witness) else goal.document

    @property
    def cites(self) -> bool:
        """Whether it needs both a citing and a cited clause."""
        return self.type == CITATION_TYPE and len(self.goals) > 1


@dataclass(frozen=True, slots=True)
class Problem:
    """One line that could not be used, or a warning about one that could."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions in file order. problems: the lines that were left out, and why."""

    name: str
    questions: tuple[Question, ...]
    problems: tuple[Problem, ...] = ()

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def __len__(self) -> int:
        return len(self.questions)

    @property
    def fingerprint(self) -> str:
        """Hash over all questions and goals; two runs are comparable when it is the same. Hexadecimal, 16 characters.

        What was judged wrong does not count: it comes while the set is used, and changes no figure but its own.
        """
        asked = tuple(replace(q, rejected=()) for q in self.questions)
        return hashlib.sha256(dump_jsonl(asked).encode()).hexdigest()[:16]


def load_questions(path: str | Path) -> QuestionSet:
    """Question set of a .jsonl, .json (a list) or .csv file.

    OSError where it cannot be read, QuestionError where no line is usable.
    """
    path = Path(path)
    return parse_questions(path.read_bytes(), path.name)


def parse_questions(text: str | bytes, name: str = "questions.jsonl") -> QuestionSet:
    """Question set of what a file holds; the form follows the name's ending. QuestionError where no line is usable."""
    remarks: list[Problem] = []
    if isinstance(text, bytes):
        text, remarks = _decoded(text, name)
    if name.lower().endswith(".csv"):
        rows, problems = _csv_rows(text)
    else:
        rows, problems = _json_rows(text)
    problems += remarks
    questions: list[Question] = []
    first_line: dict[str, int] = {}
    for line, row in rows:
        try:
            question = from_object(row)
        except ValueError as error:
            problems.append(Problem(line, str(error)))
            continue
        if question.id in first_line:
            problems.append(
                Problem(line, f"id: expected every id once; found {question.id!r} as in line {first_line[question.id]}")
            )
            continue
        first_line[question.id] = line
        questions.append(question)
    problems.sort(key=lambda p: p.line)
    if not questions:
        details = "; ".join(map(str, problems[:5])) or "the file is empty"
        raise QuestionError(f"{name}: expected at least one question; found none ({details})")
    return QuestionSet(name, tuple(questions), tuple(problems))


def from_object(row: Any) -> Question:
    """One question from a decoded JSON object; ValueError names the field, what was expected and what was found."""
    if not isinstance(row, dict):
        raise ValueError(f"expected an object with id, question and witnesses; found {type(row).__name__}")
    witnesses = tuple(_witness(w, f"witnesses[{i}]") for i, w in enumerate(_list(row, "witnesses")))
    relevant = tuple(_relevant(r, f"relevant[{i}]") for i, r in enumerate(_list(row, "relevant")))
    if not witnesses and not relevant:
        raise ValueError('expected "witnesses" (passages) or "relevant" (document and code); found neither')
    rejected = tuple(
        _relevant(r, f"rejected[{i}]") if isinstance(r, dict) and "code" in r else _witness(r, f"rejected[{i}]")
        for i, r in enumerate(_list(row, "rejected"))
    )
    return Question(
        id=_text(row, "id", True),
        question=_text(row, "question", True),
        type=_text(row, "type"),
        answer=_text(row, "answer"),
        witnesses=witnesses,
        relevant=relevant,
        rejected=rejected,
    )


def to_object(question: Question) -> dict[str, Any]:
    """The JSON form of a question; the reverse of `from_object`."""
    row: dict[str, Any] = {"id": question.id, "type": question.type, "question": question.question, "answer": question.answer}
    held: dict[str, Sequence[Witness | Relevant]] = {
        "witnesses": question.witnesses,
        "relevant": question.relevant,
        "rejected": question.rejected,
    }
    return row | {key: [_goal_object(g) for g in goals] for key, goals in held.items() if goals}


def _goal_object(goal: Witness | Relevant) -> dict[str, Any]:
    if isinstance(goal, Relevant):
        return {"document": goal.document, "code": goal.code}
    return {"file": goal.file, "page": goal.page, "clause": goal.clause, "text": goal.text}


def dump_jsonl(questions: tuple[Question, ...]) -> str:
    """One question a line."""
    return "".join(json.dumps(to_object(q), ensure_ascii=False) + "\n" for q in questions)


def dump_csv(questions: tuple[Question, ...]) -> str:
    """One goal a row; rows of one question share its id. Cells that a spreadsheet would run get an apostrophe in front."""
    out = io.StringIO()
    writer = csv.DictWriter(out, CSV_COLUMNS, lineterminator="\n", restval="")
    writer.writeheader()
    for q in questions:
        head = {"id": q.id, "type": q.type, "question": q.question, "answer": q.answer}
        goals: list[Witness | Relevant] = [*q.witnesses, *q.relevant]
        rows = [_goal_object(g) for g in goals]
        rows += [_goal_object(g) | {"judged": WRONG} for g in q.rejected]
        for row in rows:
            writer.writerow({k: _guarded("" if v is None else str(v)) for k, v in (head | row).items()})
    return out.getvalue()


def _guarded(cell: str) -> str:
    """With an apostrophe before what a spreadsheet takes for a formula; `_unguarded` takes it off again."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell) else cell


def _decoded(data: bytes, name: str) -> tuple[str, list[Problem]]:
    """Text of a file. Excel writes CSV in the code page of the machine, and "Unicode text" in UTF-16."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace"), []
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        if not name.lower().endswith(".csv"):
            found = f"byte 0x{data[error.start]:02x} at position {error.start}"
            raise QuestionError(f"{name}: expected UTF-8 text; found {found}") from None
    return data.decode("cp1252", "replace"), [Problem(1, "expected UTF-8; read as Windows-1252, so look at accented letters")]


def _json_rows(text: str) -> tuple[list[tuple[int, Any]], list[Problem]]:
    if text.lstrip().startswith("["):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            return [], [Problem(getattr(error, "lineno", 1), f"expected a JSON list of questions; found {error}")]
        return list(enumerate(data, 1)), []
    rows: list[tuple[int, Any]] = []
    problems: list[Problem] = []
    # Not splitlines(): it also breaks at U+2028 and form feeds, which may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            rows.append((number, json.loads(line)))
        except (ValueError, RecursionError) as error:
            problems.append(Problem(number, f"expected a JSON object; found {error}"))
    return rows, problems


def _csv_rows(text: str) -> tuple[list[tuple[int, Any]], list[Problem]]:
    before = 0
    if hint := _SEPARATOR.match(text):  # Excel's own first line, `sep=;`.
        delimiter, text, before = hint[1], text[hint.end() :], 1
    else:
        try:
            # The delimiter only: a dialect sniffed from the header does not know that quotes are doubled.
            delimiter = csv.Sniffer().sniff(text.split("\n", 1)[0], ",;\t").delimiter
        except csv.Error:
            delimiter = ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        columns = [c.strip().lower() for c in reader.fieldnames or ()]
    except csv.Error as error:
        return [], [Problem(1, f"expected a header; found {error}")]
    missing = [c for c in ("id", "question") if c not in columns]
    if missing or not ("text" in columns or "code" in columns):
        wanted = "columns id, question and text (or document and code)"
        return [], [Problem(1, f"expected {wanted}; found {', '.join(columns) or 'no header'}")]
    reader.fieldnames = columns
    merged: dict[str, tuple[int, dict[str, Any]]] = {}
    problems: list[Problem] = []
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            problems.append(Problem(before + reader.line_num, f"expected a row of CSV; found {error}"))
            continue
        if row is None:
            break
        line = before + reader.line_num
        if not any(v.strip() for k, v in row.items() if k is not None and v):
            continue  # Spreadsheets leave rows of delimiters below the table.
        if any(row.get(None) or ()):
            problems.append(Problem(line, f"expected {len(columns)} columns; found {len(columns) + len(row[None])}"))
            continue
        fields = {k: _unguarded((v or "").strip()) for k, v in row.items()}
        first, question = merged.setdefault(fields["id"], (line, {k: fields.get(k, "") for k in CSV_COLUMNS[:4]}))
        if fields["question"] not in ("", question["question"]):
            was = f"found {fields['id']!r} with another question than in line {first}"
            problems.append(Problem(line, f"id: expected the rows of one id to ask the same; {was}"))
            continue
        judged = fields.get("judged", "").lower()
        if judged not in ("", WRONG):
            problems.append(Problem(line, f'judged: expected nothing or "{WRONG}"; found {judged!r}'))
            continue
        if fields.get("text"):
            page = fields.get("page", "")
            witness = {k: fields.get(k, "") for k in ("file", "clause", "text")} | {
                "page": int(page) if page.isdecimal() and len(page) < 10 else page or None
            }
            question.setdefault("rejected" if judged else "witnesses", []).append(witness)
        if fields.get("code") or (fields.get("document") and not fields.get("text")):
            document = fields.get("document") or fields.get("file", "")
            question.setdefault("rejected" if judged else "relevant", []).append(
                {"document": document, "code": fields.get("code", "")}
            )
    return list(merged.values()), problems


def _witness(given: Any, name: str) -> Witness:
    if isinstance(given, str):
        given = {"text": given}
    if not isinstance(given, dict):
        raise ValueError(f"{name}: expected an object with text and file; found {type(given).__name__}")
    page = given.get("page")
    if page is not None and (isinstance(page, bool) or not isinstance(page, int)):
        raise ValueError(f"{name}.page: expected a whole number; found {page!r}")
    try:
        text = _text(given, "text", True)
        return Witness(text, _text(given, "file"), page, _text(given, "clause"))
    except ValueError as error:
        raise ValueError(f"{name}.{error}") from None


def _relevant(given: Any, name: str) -> Relevant:
    if not isinstance(given, dict):
        raise ValueError(f"{name}: expected an object with document (or file) and code; found {type(given).__name__}")
    document = given.get("document") or given.get("file")
    if not isinstance(document, str):
        raise ValueError(f"{name}: expected document or file as text; found {document!r}")
    code = given.get("code")
    if not isinstance(code, str):
        raise ValueError(f'{name}.code: expected text such as "6.2.1"; found {code!r}')
    return Relevant(document.strip(), code.strip())


def _list(row: dict[str, Any], key: str) -> list[Any]:
    value = row.get(key) or []
    if not isinstance(value, list):
        raise ValueError(f"{key}: expected a list; found {type(value).__name__}")
    return value


def _text(row: dict[str, Any], key: str, needed: bool = False) -> str:
    value = row.get(key)
    if value is None:
        value = ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise ValueError(f"{key}: expected text; found {type(value).__name__}")
    if needed and not value.strip():
        raise ValueError(f"{key}: expected text; found nothing")
    return value.strip()
