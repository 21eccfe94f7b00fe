"""The command line as a user calls it: forms of output, exit status, messages, and nothing done twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from normrag_core.cli import main

UNITS = {
    "4": (
        "Frames",
        "The frame builder shall map cells of every slice onto the symbols of a frame. A frame lasts at most 250 ms.",
    ),
    "5": (
        "Signalling",
        "The signalling descriptor carries the identifier of the network, see clause 4, and its version number.",
    ),
    "A": ("Test signals", "A pseudo random binary sequence of degree 15 shall be used where dummy cells are inserted."),
}
QUESTION = {
    "id": "q1",
    "type": "fact",
    "question": "How long may a frame last?",
    "witnesses": [{"file": "one.pdf", "page": 2, "clause": "4", "text": "A frame lasts at most 250 ms."}],
}


def unit_json(number: str, file: str) -> dict[str, object]:
    return {
        "document": {"id": number, "version": "V1.1.1", "date": "2020-01", "title": "Radio", "pages": 3, "file": file},
        "units": [
            {
                "key": code,
                "code": code,
                "title": title,
                "kind": "annex" if code == "A" else "clause",
                "parent": "",
                "page": 2,
                "body": text,
            }
            for code, (title, text) in UNITS.items()
        ],
        "citations": [],
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NORMRAG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NORMRAG_MODEL", "hash")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "one.json").write_text(json.dumps(unit_json("EN 300 001", "one.pdf")))
    return corpus


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
    return path


def test_search_prints_json_in_the_form_of_the_contract(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", str(folder), "how long does a frame last in signalling", "--top-k", "2", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert [r["rank"] for r in results] == [1, 2]
    best = results[0]
    assert set(best) == {"rank", "document", "version", "file", "code", "title", "pages", "text", "score", "stages"}
    assert (best["document"], best["version"], best["file"], best["code"]) == ("EN 300 001", "V1.1.1", "one.pdf", "4")
    assert best["pages"] == [2]
    assert set(best["stages"]) == {"bm25", "dense", "fusion"}
    assert best["stages"]["bm25"]["rank"] == 1


def test_search_for_a_person(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", str(folder), "dummy cells", "--preset", "bm25"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0].startswith("  1  EN 300 001 V1.1.1, Annex A Test signals (page 2)")
    assert "embedding" not in err


def test_evaluate_writes_the_record_and_prints_a_table(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = QUESTION | {
        "id": "q2",
        "witnesses": [{"file": "one.pdf", "text": "words that nobody wrote in any standard at all"}],
    }
    questions = write(tmp_path / "q.jsonl", QUESTION, "{broken", missing)
    out_file = tmp_path / "results.json"
    arguments = ["evaluate", str(folder), str(questions), "--presets", "bm25,chunked-rrf", "--k", "1,3", "--out", str(out_file)]
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    header, first, *_ = out.splitlines()
    assert header.split() == ["configuration", "R@1", "R@3", "AP@1", "AP@3", "MRR@1", "MRR@3", "R@3000w", "ceiling", "ms"]
    assert first.split()[:-1] == ["bm25", *["0.500"] * 8]
    assert "q.jsonl: line 2: expected a JSON object" in err
    assert "warning: question q2, witness 1: its text is not in the corpus" in err
    record = json.loads(out_file.read_text())
    assert record["corpus"]["documents"] == 1
    assert record["model"]
    names = [c["name"] for c in record["configurations"]]
    assert names == ["bm25", "chunked-rrf"]
    one = record["configurations"][0]
    assert one["settings"]["ranking"] == "bm25"
    assert one["metrics"]["R@1"] == one["ceiling"] == 0.5
    assert [(q["id"], q["ranks"]) for q in one["questions"]] == [("q1", [1]), ("q2", [None])]
    assert one["seconds"] >= 0


def test_second_run_embeds_nothing(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions = write(tmp_path / "q.jsonl", QUESTION)
    arguments = ["evaluate", str(folder), str(questions), "--presets", "chunked-rrf"]
    assert main(arguments) == 0
    assert "embedding 4 of 4 passages" in capsys.readouterr().err
    assert main(arguments) == 0
    assert "embedding" not in capsys.readouterr().err


def test_qrels_by_document_and_code(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": "1", "question": "identifier of the network", "relevant": [{"document": "EN 300 001", "code": "5"}]}]
    assert main(["evaluate", str(folder), str(write(tmp_path / "q.jsonl", *rows)), "--presets", "bm25", "--k", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:4] == ["bm25", "1.000", "1.000", "1.000"]


def test_own_settings(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tmp_path / "s.json"
    settings.write_text('{"mine": {"ranking": "bm25", "bm25_k1": 0.9}}')
    questions = write(tmp_path / "q.jsonl", QUESTION)
    assert main(["evaluate", str(folder), str(questions), "--presets", "bm25", "--settings", str(settings), "--k", "1"]) == 0
    out = capsys.readouterr().out
    assert "mine " in out
    assert "do the same in R@1 on all 1 questions" in out
    settings.write_text('{"mine": {"alpha": 3}}')
    assert main(["evaluate", str(folder), str(questions), "--settings", str(settings)]) == 2
    assert "alpha: expected 0 to 1; found 3" in capsys.readouterr().err


def test_a_bad_file_does_not_stop_the_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.json").write_text("{")
    (folder / "bad.pdf").write_bytes(b"no PDF at all")
    assert main(["search", str(folder), "frame", "--preset", "bm25"]) == 0
    err = capsys.readouterr().err
    assert "bad.json: expected JSON in the parse form" in err
    assert "bad.pdf" in err


def test_nothing_readable_is_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", str(tmp_path), "frame"]) == 1
    assert "none of 0 could be read" in capsys.readouterr().err
    assert main(["search", str(tmp_path / "absent"), "frame"]) == 1
    assert main(["evaluate", str(tmp_path), str(tmp_path / "absent.jsonl")]) == 1
    assert main(["evaluate", str(tmp_path), str(write(tmp_path / "q.jsonl", "{"))]) == 1
    assert "expected at least one question; found none" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required"),
        (["search", "."], "question"),
        (["search", ".", " "], "expected a question; found nothing"),
        (["search", ".", "x", "--preset", "best"], "invalid choice: 'best'"),
        (["search", ".", "x", "--top-k", "0"], "expected a whole number from 1 to 10000; found '0'"),
        (["evaluate", ".", "q.jsonl", "--k", "1,x"], "found 'x'"),
        (["evaluate", ".", "q.jsonl", "--threshold", "75"], "expected a share above 0 and up to 1; found '75'"),
    ],
)
def test_wrong_usage_is_status_2(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_unknown_preset_names_those_there_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(tmp_path), str(write(tmp_path / "q.jsonl", QUESTION)), "--presets", "bm25,best"]) == 2
    err = capsys.readouterr().err
    assert "--presets: expected all or some of vanilla-dense," in err
    assert err.rstrip().endswith("found best")


def test_reproduce_writes_the_report_and_its_charts(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions = write(tmp_path / "q.jsonl", QUESTION)
    assert main(["reproduce", str(folder), str(questions), "--out", str(tmp_path / "docs")]) == 0
    names = {"reproduction.md", *(f"reproduction-{n}.svg" for n in ("r", "ap", "mrr", "types", "ranks"))}
    assert {p.name for p in (tmp_path / "docs").iterdir()} == names
    text = (tmp_path / "docs" / "reproduction.md").read_text()
    assert "| tuned | 1.000 [1.00, 1.00] |" in text
    assert "No tuning: the questions are about one document" in text
    assert "reproduction.md" in capsys.readouterr().out
