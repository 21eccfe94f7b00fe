"""Marks from use: what they store, that they can be taken back, and that they belong to passages rather than chunks."""

from __future__ import annotations

from dataclasses import replace

from normrag_core.evaluation.from_use import Marks, first_words
from normrag_core.evaluation.questions import Question, QuestionSet, Witness

ASKED = "Which field must the receiver withstand?"
SENTENCE = Witness("The receiver shall withstand a field of 3 V/m from 80 MHz to 6 GHz.", "a.pdf", 4, "4.1")
CHUNK = f"4.1 Radiated field\n{SENTENCE.text} See clause 5."
OTHER = Witness("The supply voltage is reduced to 70 % during 25 periods.", "a.pdf", 5, "4.2")


def test_right_makes_one_question_with_its_witness_that_comes_back_from_jsonl() -> None:
    marks = Marks().mark(ASKED, "right", SENTENCE, CHUNK)
    (question,) = marks.right
    assert (question.question, question.type, question.witnesses) == (ASKED, "from use", (SENTENCE,))
    assert marks.wrong == ()
    assert Marks.of(*marks.dumps()) == marks
    assert Marks.of("", "") == Marks()


def test_the_same_mark_again_changes_nothing_and_none_takes_it_back() -> None:
    marks = Marks().mark(ASKED, "right", SENTENCE, CHUNK)
    assert marks.mark(f" {ASKED.upper()}  ", "right", SENTENCE, CHUNK) is marks
    assert marks.mark(ASKED, None, SENTENCE, CHUNK) == Marks()
    assert Marks().mark(ASKED, None, SENTENCE, CHUNK) == Marks()
    assert Marks().mark(ASKED, "right", Witness("—", "a.pdf"), "—") == Marks()


def test_a_passage_is_either_right_or_wrong() -> None:
    marks = Marks().mark(ASKED, "right", SENTENCE, CHUNK).mark(ASKED, "right", OTHER, OTHER.text)
    assert [q.witnesses for q in marks.right] == [(SENTENCE, OTHER)]
    marks = marks.mark(ASKED, "wrong", SENTENCE, CHUNK)
    assert [q.witnesses for q in marks.right] == [(OTHER,)]
    assert [q.witnesses for q in marks.wrong] == [(SENTENCE,)]
    assert marks.verdict(ASKED, "a.pdf", CHUNK) == "wrong"
    assert marks.verdict(ASKED, "a.pdf", OTHER.text) == "right"


def test_a_mark_is_of_the_passage_the_file_and_the_question() -> None:
    marks = Marks().mark(ASKED, "right", SENTENCE, CHUNK)
    assert marks.verdict(ASKED, "a.pdf", f"A longer window. {SENTENCE.text} And what follows.") == "right"
    assert marks.verdict(ASKED, "b.pdf", CHUNK) is None
    assert marks.verdict("Something else?", "a.pdf", CHUNK) is None
    assert marks.verdict(ASKED, "a.pdf", "4.2 Supply dips") is None


def test_a_set_that_was_edited_by_hand_is_gone_on_with() -> None:
    right, _ = Marks().mark(ASKED, "right", SENTENCE, CHUNK).dumps()
    reworded = right.replace(ASKED, "What field is it immune to?")
    marks = Marks.of(reworded, "")
    assert marks.verdict(ASKED, "a.pdf", CHUNK) == "right"
    assert marks.verdict("what field is it immune to?", "a.pdf", CHUNK) == "right"
    marks = marks.mark("Another?", "right", OTHER, OTHER.text)
    assert len(QuestionSet("mine", marks.right)) == len({q.id for q in marks.right}) == 2


def test_a_chunk_without_a_near_sentence_is_stood_for_by_its_first_words() -> None:
    text = " ".join(f"w{i}" for i in range(100))
    witness = Witness(first_words(f"  {text}"), "a.pdf")
    assert witness.text.split()[-1] == "w59"
    assert Marks().mark(ASKED, "right", witness, text).verdict(ASKED, "a.pdf", text) == "right"


def test_what_was_marked_wrong_counts_in_every_set_that_asks_the_same() -> None:
    marks = Marks().mark(ASKED, "wrong", SENTENCE, CHUNK)
    mine = Question("q1", f" {ASKED.lower()}", witnesses=(OTHER,))
    other = Question("q2", "Something else?", witnesses=(OTHER,))
    judged = marks.judged(QuestionSet("set", (mine, other)))
    assert [q.rejected for q in judged] == [(SENTENCE,), ()]
    assert marks.judged(judged) == judged
    reworded = replace(mine, id=marks.wrong[0].id, question="What field is it immune to?")
    assert marks.judged(QuestionSet("set", (reworded,))).questions[0].rejected == (SENTENCE,)
