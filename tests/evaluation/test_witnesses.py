"""Witnesses that are not in the corpus are named, with the nearest passage."""

from __future__ import annotations

from normrag_core.evaluation.questions import Question, Relevant, Witness
from normrag_core.evaluation.witnesses import find_missing
from normrag_core.model import Corpus, Document, InfoUnit


def corpus() -> Corpus:
    documents, units = [], []
    texts = {
        "a": [
            ("4", "the receiver shall discard every frame whose header checksum does not match and"),
            ("5", "then wait for the next superframe before it opens the output again"),
        ],
        "b": [("4", "the modulator may insert dummy cells between two slices so that the frame has its full length")],
    }
    for name, bodies in texts.items():
        key = f"EN {name} V1.1.1"
        documents.append(Document(key, f"EN {name}", "V1.1.1", "2020-01", "T", 3, f"{name}.pdf"))
        units.append(InfoUnit(f"{key}#", key, "", "", "T", "document", None, 1))
        units += [InfoUnit(f"{key}#{c}", key, c, c, "Title", "clause", "", 2, "filler words here. " * 9 + t) for c, t in bodies]
    return Corpus(tuple(documents), tuple(units), ())


def missing(*goals: Witness | Relevant) -> list[str]:
    if isinstance(goals[0], Witness):
        question = Question("q1", "?", witnesses=goals)  # type: ignore[arg-type]
    else:
        question = Question("q1", "?", relevant=goals)  # type: ignore[arg-type]
    return [str(m) for m in find_missing(corpus(), [question])]


def test_present_witnesses_are_not_missing() -> None:
    inside = Witness("discard every frame whose header check-\nsum does not match", "a.pdf")
    assert missing(inside) == missing(Witness(inside.text)) == []


def test_a_witness_over_two_clauses_is_not_missing() -> None:
    across = "header checksum does not match and 5 title " + "filler words here " * 9 + "then wait for the next superframe"
    assert missing(Witness(across, "a.pdf")) == []


def test_altered_witness_is_named_with_the_nearest_passage() -> None:
    (text,) = missing(Witness("the receiver shall retransmit every packet whose header checksum is odd", "a.pdf"))
    assert text.startswith(
        "question q1, witness 1: its text is not in the corpus; nearest (64% of its words): EN a V1.1.1 clause 4 Title: “"
    )
    assert "the receiver shall discard every frame" in text


def test_wrong_file_is_told_from_a_missing_one() -> None:
    passage = "insert dummy cells between two slices so that the frame has its full length"
    wrong, gone = missing(Witness(passage, "a.pdf"), Witness(passage, "c.pdf"))
    assert "its text is not in a.pdf but in another document; nearest (100% of its words): EN b V1.1.1 clause 4" in wrong
    assert "witness 2: expected the document of file 'c.pdf'; it is not loaded; nearest (100%" in gone


def test_relevant_clauses() -> None:
    assert missing(Relevant("EN a", "5"), Relevant("EN a", "6"), Relevant("EN z", "1")) == [
        "question q1, witness 2: expected clause '6' in EN a V1.1.1; it has none",
        "question q1, witness 3: expected document 'EN z' in the corpus; it is not loaded",
    ]
