"""Modal verbs: what counts, how it is counted, and what is informative."""

from __future__ import annotations

from normrag_core.ingest.modality import find_modals, modal_counts
from normrag_core.model import Block, InfoUnit


def unit(body: str, blocks: tuple[Block, ...] = (), informative: bool = False) -> InfoUnit:
    return InfoUnit("D#4", "D", "4", "4", "T", "clause", "", 7, body, blocks=blocks, informative=informative)


def test_verbs_with_their_force_and_sentence() -> None:
    body = "The device shall not transmit. It may wait, and should\nnot retry. It cannot fail in May 2014."
    found = find_modals(unit(body))
    assert [(m.verb, m.force, body[m.start : m.end]) for m in found] == [
        ("shall not", "requirement", "shall not"),
        ("may", "permission", "may"),
        ("should not", "recommendation", "should\nnot"),
        ("cannot", "possibility", "cannot"),
    ]
    assert [body[slice(*m.sentence)] for m in found][:2] == [
        "The device shall not transmit.",
        "It may wait, and should\nnot retry.",
    ]


def test_sentences_count_once_for_each_verb() -> None:
    counts = modal_counts(unit("A shall do and shall say so. B shall e.g. sing. C can."))
    assert counts.normative == {"can": 1, "shall": 2}
    assert counts.informative == {}


def test_notes_examples_and_informative_annexes_are_informative_and_code_is_none() -> None:
    rule, note, code = "A shall do.", "NOTE: B may do.", "if (can) shall();"
    body = f"{rule}\n{note}\n{code}"
    blocks = (
        Block("paragraph", 0, len(rule)),
        Block("note", len(rule) + 1, len(rule) + 1 + len(note)),
        Block("code", len(body) - len(code), len(body)),
    )
    counts = modal_counts(unit(body, blocks))
    assert (counts.normative, counts.informative) == ({"shall": 1}, {"may": 1})
    assert modal_counts(unit("It should do.", informative=True)).informative == {"should": 1}


def test_words_that_only_look_like_modals() -> None:
    assert find_modals(unit("CAN-bus, can-opener, willing, maybe, Will, shall_x")) == ()
