"""Question sets: every line is checked, and what is wrong is said with line, expected and found."""

from __future__ import annotations

import json

import pytest

from normrag_core.evaluation.questions import QuestionError, Relevant, Witness, dump_csv, dump_jsonl, parse_questions

GOOD = {
    "id": "q1",
    "question": "How long?",
    "witnesses": [{"file": "a.pdf", "page": 3, "clause": "4.2", "text": "It shall last 3 s."}],
}


def lines(*rows: object) -> str:
    return "\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows)


def test_jsonl_keeps_good_lines_and_names_the_bad_ones() -> None:
    text = lines(
        GOOD,
        "{broken",
        "",
        {"id": "q2", "question": "", "witnesses": [{"text": "x"}]},
        {"id": "q3", "question": "?"},
        {"id": "q1", "question": "again", "witnesses": ["x"]},
        {"id": "q4", "question": "?", "witnesses": [{"file": "a.pdf"}]},
        {"id": "q5", "question": "?", "relevant": [{"file": "a.pdf", "code": "A.1"}, {"document": "EN 1", "code": ""}]},
        {"id": "q6", "question": "?", "relevant": [{"document": "EN 1"}]},
        ["no object"],
    )
    loaded = parse_questions(text)
    assert [q.id for q in loaded] == ["q1", "q5"]
    assert loaded.questions[0].goals == (Witness("It shall last 3 s.", "a.pdf", 3, "4.2"),)
    assert loaded.questions[1].goals == (Relevant("a.pdf", "A.1"), Relevant("EN 1", ""))
    said = [str(p) for p in loaded.problems]
    assert [p.line for p in loaded.problems] == [2, 4, 5, 6, 7, 9, 10]
    assert said[0].startswith("line 2: expected a JSON object; found")
    assert said[1] == "line 4: question: expected text; found nothing"
    assert "found neither" in said[2]
    assert said[3] == "line 6: id: expected every id once; found 'q1' as in line 1"
    assert said[4] == "line 7: witnesses[0].text: expected text; found nothing"
    assert 'relevant[0].code: expected text such as "6.2.1"; found None' in said[5]


def test_line_separator_inside_a_string_is_no_line_end() -> None:
    row = json.dumps(GOOD | {"question": "a\u2028b"}, ensure_ascii=False)
    assert parse_questions(row).questions[0].question == "a\u2028b"


def test_empty_file_is_refused() -> None:
    with pytest.raises(QuestionError, match=r"q\.jsonl: expected at least one question; found none \(the file is empty\)"):
        parse_questions("\n\n", "q.jsonl")


def test_csv_joins_rows_of_one_id_and_round_trips() -> None:
    text = "id;type;question;file;page;clause;text\nq1;crossref;Which, then?;a.pdf;3;4.2;first\nq1;;;a.pdf;;A.1;second\n"
    loaded = parse_questions(text, "q.csv")
    (question,) = loaded
    assert question.cites
    assert question.witnesses == (Witness("first", "a.pdf", 3, "4.2"), Witness("second", "a.pdf", None, "A.1"))
    again = parse_questions(dump_csv(loaded.questions), "q.csv")
    assert again.questions == loaded.questions
    assert parse_questions(dump_jsonl(loaded.questions)).fingerprint == again.fingerprint == loaded.fingerprint


def test_csv_qrels_and_bad_rows() -> None:
    loaded = parse_questions("id,question,document,code\n1,What?,EN 300 421,4.1\n2,Why?,EN 300 421,,x\n3,,EN 1,4\n", "q.csv")
    assert loaded.questions[0].relevant == (Relevant("EN 300 421", "4.1"),)
    assert [str(p) for p in loaded.problems] == [
        "line 3: expected 4 columns; found 5",
        "line 4: question: expected text; found nothing",
    ]
    with pytest.raises(QuestionError, match="expected columns id, question and text"):
        parse_questions("name,text\na,b\n", "q.csv")


def test_bad_page_in_csv_is_named() -> None:
    loaded = parse_questions("id,question,text,page\n1,What?,x,iv\n2,What?,x,4\n", "q.csv")
    assert [str(p) for p in loaded.problems] == ["line 2: witnesses[0].page: expected a whole number; found 'iv'"]


def test_what_was_judged_wrong_round_trips_and_is_no_goal() -> None:
    row = GOOD | {"rejected": [{"text": "Something else.", "file": "a.pdf"}, {"document": "EN 1", "code": "4"}]}
    (question,) = parse_questions(lines(row))
    assert question.goals == (Witness("It shall last 3 s.", "a.pdf", 3, "4.2"),)
    assert question.rejected == (Witness("Something else.", "a.pdf"), Relevant("EN 1", "4"))
    assert parse_questions(dump_jsonl((question,))).questions == (question,)
    assert parse_questions(dump_csv((question,)), "q.csv").questions == (question,)
    only_wrong = parse_questions("id,question,text,judged\n1,What?,x,\n1,,y,Wrong\n2,Why?,z,wrong\n1,,w,maybe\n", "q.csv")
    assert [q.id for q in only_wrong] == ["1"]
    assert [str(p) for p in only_wrong.problems] == [
        'line 4: expected "witnesses" (passages) or "relevant" (document and code); found neither',
        "line 5: judged: expected nothing or \"wrong\"; found 'maybe'",
    ]


EXCEL = 'ID;Question;File;Text\r\n1;Welche Länge?;a.pdf;"shall be 3 m; „long“\r\nor less"\r\n;;;\r\n;;;\r\n'


@pytest.mark.parametrize(
    ("data", "remarks"),
    [
        (EXCEL.encode("utf-8-sig"), 0),
        (EXCEL.encode("utf-16"), 0),
        (EXCEL.encode("cp1252"), 1),
        (b"sep=;\r\n" + EXCEL.encode(), 0),
        (EXCEL.replace(";", "\t").replace("m\t", "m;").encode("utf-16"), 0),
    ],
)
def test_csv_as_spreadsheets_write_it(data: bytes, remarks: int) -> None:
    loaded = parse_questions(data, "q.CSV")
    (question,) = loaded
    assert question.question == "Welche Länge?"
    assert question.witnesses == (Witness("shall be 3 m; „long“\r\nor less", "a.pdf"),)
    assert len(loaded.problems) == remarks


def test_other_bytes_than_utf8_are_refused_in_jsonl() -> None:
    with pytest.raises(QuestionError, match="expected UTF-8 text; found byte 0xe4 at position 1"):
        parse_questions(b'"\xe4"', "q.jsonl")


def test_one_id_with_two_questions_is_named() -> None:
    loaded = parse_questions("sep=,\nid,question,text\n1,What?,x\n1,Why?,y\n", "q.csv")
    assert [str(p) for p in loaded.problems] == [
        "line 4: id: expected the rows of one id to ask the same; found '1' with another question than in line 3"
    ]
    assert len(loaded.questions[0].witnesses) == 1
