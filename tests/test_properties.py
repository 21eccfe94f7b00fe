"""Whatever text or JSON comes in, only the documented errors come out; what the project writes itself, it reads back."""

from __future__ import annotations

import csv
import io
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from normrag_core.codec import UnitJsonError, from_object, load_parsed, to_object
from normrag_core.config import PRESETS, ConfigError, RetrieverConfig
from normrag_core.evaluation.questions import (
    Question,
    QuestionError,
    Relevant,
    Witness,
    dump_csv,
    dump_jsonl,
    parse_questions,
)
from normrag_core.identifiers import canonical
from normrag_core.ingest.citation_patterns import find_pieces
from normrag_core.model import Corpus
from normrag_core.retriever import Retriever
from normrag_core.tokenize import tokenize

fast = settings(deadline=None, max_examples=100, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

# Pieces of standards among any characters: random text alone hardly ever meets a pattern.
words = st.sampled_from(
    ["clause 5.1", "clauses 4", " to ", "-", "–", ", ", "and", "annex B", "table 3", "[i.1]", "[2]", "EN 302 755", "V1.4.1",
     "TS 102 606-2", "(2015-07)", "of", "ETSI", "§", "10^-7", "0,5 dB", "f<sub>c</sub>", "bullet a)", ".", "\n", "\x00",
     "\u202e", "²", "½", "İ", "ß", "IEC 61000-4-3", "figure A.1", "5.1.2.", "a" * 300]
)  # fmt: skip
texts = st.lists(words | st.text(max_size=12), max_size=12).map("".join)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@fast
@given(texts, st.sampled_from(["domain", "word"]), st.booleans())
def test_any_text_has_words(text: str, tokenizer: Any, stem: bool) -> None:
    tokens = tokenize(text, tokenizer, stem)
    assert all(tokens) or tokenizer == "word"  # As `split` does it: two blanks hold an empty word.
    assert tokens == tokenize(text, tokenizer, stem)


@fast
@given(texts)
def test_citation_patterns_take_any_text_and_their_pieces_lie_in_it_in_order(text: str) -> None:
    pieces = find_pieces(text, frozenset({"2", "i.1"}))
    assert all(0 <= p.start < p.end <= len(text) for p in pieces)
    assert all(a.end <= b.start for a, b in pairwise(pieces))


@fast
@given(texts)
def test_any_text_may_be_asked_whether_it_is_a_number_of_a_standard(text: str) -> None:
    canonical(text)


@fast
@given(st.dictionaries(st.sampled_from([*json.loads(RetrieverConfig().to_json()), "other"]), anything, max_size=4))
def test_settings_are_read_or_refused(data: dict[str, Any]) -> None:
    try:
        config = RetrieverConfig.from_json(json.dumps(data))
    except ConfigError:
        return
    assert RetrieverConfig.from_json(config.to_json()) == config
    hash(config)  # Settings are keys of caches.


@pytest.mark.parametrize("text", ["", "[1]", '{"alpha": NaN}', '{"top_k": ' + "9" * 5000 + "}", "[" * 100_000, "\x00", "nul"])
def test_text_that_is_no_settings_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        RetrieverConfig.from_json(text)


lines = st.lists(texts | anything.map(json.dumps), max_size=5).map("\n".join)


@fast
@given(lines, st.sampled_from(["q.jsonl", "q.csv", "q.json"]))
def test_any_file_is_a_question_set_or_refused(text: str, name: str) -> None:
    try:
        found = parse_questions(text, name)
    except QuestionError:
        return
    assert found.questions


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[" * 100_000, "q.jsonl"),
        ('{"id": ' + "9" * 5000 + "}", "q.jsonl"),
        ("id,question,text,page\n1,why,so,²\n", "q.csv"),
        ("id,question,text\n1,why," + "x" * 200_000 + "\n2,what\x00,so\n", "q.csv"),
        ('id,question,text\n1,"why\n', "q.csv"),
        ("id,question,text\r1,a\rb,c\n", "q.csv"),
    ],
)
def test_files_that_libraries_stumble_over(text: str, name: str) -> None:
    try:
        parse_questions(text, name)
    except QuestionError:
        return


tidy = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\x00"), max_size=20).map(str.strip)
formulas = st.sampled_from(["=1+1", "'=x", "@a", "-1", "''+"])
filled = (texts.map(lambda t: t.replace("\r", "").replace("\x00", "")) | tidy | formulas).map(str.strip)
some = filled.filter(bool)
questions = st.builds(
    Question,
    id=some,
    question=some,
    type=filled,
    answer=filled,
    witnesses=st.lists(st.builds(Witness, some, filled, st.none() | st.integers(0, 9999), filled), max_size=2).map(tuple),
    relevant=st.lists(st.builds(Relevant, some, some), min_size=1, max_size=2).map(tuple),
)


@fast
@given(st.lists(questions, min_size=1, max_size=3, unique_by=lambda q: q.id).map(tuple))
def test_question_sets_come_back_from_jsonl_and_csv_and_no_cell_is_a_formula(made: tuple[Question, ...]) -> None:
    assert parse_questions(dump_jsonl(made), "q.jsonl").questions == made
    text = dump_csv(made)
    assert parse_questions(text, "q.csv").questions == made
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    assert not [c for c in cells if c.startswith(("=", "+", "-", "@", "\t", "\r"))]


SOUND: dict[str, Any] = {
    "document": {
        "id": "EN 399 001", "version": "V1.1.1", "date": "2020-01", "title": "A standard", "pages": 3, "file": "a.pdf",
        "page_sizes": [[595, 842]],
        "references": [{"label": "1", "text": "EN 399 002", "document": "EN 399 002", "version": None, "title": "", "page": 1}],
        "terms": [{"term": "mast", "text": "a pole", "kind": "definition", "unit": "1", "page": 1}],
    },
    "units": [
        {"key": "1", "code": "1", "title": "Scope", "kind": "clause", "parent": "", "page": 1, "body": "See clause 2.",
         "y": 70.0, "blocks": [["paragraph", 0, 13, 0]], "lines": [[0, 13, 1, 70, 100, 200, 110]]},
        {"key": "2", "code": "2", "title": "Tests", "kind": "clause", "parent": "", "page": 2, "body": "Shall pass."},
    ],
    "citations": [{"source": "1", "page": 1, "text": "clause 2", "document": "EN 399 001", "target": "2", "state": "resolved",
                   "edition": None, "start": 4, "end": 12, "context": "See clause 2.", "rects": [[1, 70, 100, 90, 110]]}],
    "report": {"counts": {"pages": 3}, "findings": [{"kind": "a", "page": 1, "text": "b"}], "seconds": 0.1},
}  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a decoded JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(p for key, v in inner for p in places(v, (*path, key)))]


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy with another value at one place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(value[path[0]], path[1:], new)
    return copy


@settings(fast, max_examples=400)
@given(st.sampled_from(places(SOUND)), anything)
def test_units_in_json_are_read_or_refused_and_what_is_read_can_be_searched(path: tuple[Any, ...], new: Any) -> None:
    data = json.loads(json.dumps(put(SOUND, path, new)))
    try:
        parsed = from_object(data, "a.json")
    except UnitJsonError:
        return
    again = from_object(json.loads(json.dumps(to_object(parsed))), "a.json")
    assert again.units == parsed.units
    corpus = Corpus.of([parsed])
    Retriever(corpus).search("tests of a mast", PRESETS["bm25"].config)


def test_the_sound_one_is_read() -> None:
    parsed = from_object(SOUND)
    assert [u.key for u in parsed.units] == ["", "1", "2"]
    assert Corpus.of([parsed]).citations[0].state == "resolved"


@pytest.mark.parametrize("hidden", ["\x07", "\n", "\u202e", "\x9f"])
@pytest.mark.parametrize("place", [("units", 0, "key"), ("units", 0, "code"), ("document", "key"), ("document", "id")])
def test_no_key_holds_what_cannot_be_seen(place: tuple[Any, ...], hidden: str) -> None:
    data = json.loads(json.dumps(SOUND | {"document": SOUND["document"] | {"key": ""}}))
    data = put(data, place, f"1{hidden}")
    if place[-1] == "code":
        data["units"][0].pop("key")  # Then the code is the key.
    with pytest.raises(UnitJsonError, match="expected no control characters"):
        from_object(data, "a.json")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[" * 100_000, b"1", b"null", b'[{"document": 1}]', b"9" * 5000])
def test_a_file_that_holds_no_units_is_refused_by_name(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(UnitJsonError, match=r"^a\.json: "):
        load_parsed(tmp_path / "a.json")
