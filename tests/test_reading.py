"""What a reader sees in and around a clause."""

from __future__ import annotations

from normrag_core.model import Block, Citation, Corpus, Document, InfoUnit, Term
from normrag_core.reading import Mark, Reading, cite

BODY = "The PLP shall follow clause 5 and the physical layer pipe of clause 9.\n\nA PLP may stay."


def corpus() -> Corpus:
    key = "EN 1 V1"
    terms = (
        Term("PLP", "Physical Layer Pipe", "abbreviation", f"{key}#3", 4),
        Term("physical layer pipe", "logical channel", "definition", f"{key}#3", 4),
        Term("clause", "part of a text", "definition", f"{key}#3", 4),
    )
    cut = BODY.index("\n\n")
    units = (
        InfoUnit(f"{key}#", key, "", "", "Root", "document", None, 1),
        InfoUnit(f"{key}#3", key, "3", "3", "Terms", "clause", "", 4, "PLP"),
        InfoUnit(
            f"{key}#4", key, "4", "4", "Use", "clause", "", 5, BODY,
            blocks=(Block("paragraph", 0, cut), Block("paragraph", cut + 2, len(BODY))),
        ),
        InfoUnit(f"{key}#5", key, "5", "5", "Goal", "clause", "", 6, "Text <sub>x</sub> of the goal."),
        InfoUnit(f"{key}#A", key, "A", "A", "More", "annex", "", 9),
    )  # fmt: skip

    def citation(words: str, target: str | None, code: str, state: str) -> Citation:
        at = BODY.index(words)
        return Citation(f"{key}#4", 5, at, at + len(words), words, BODY, "EN 1", code, target=target, state=state)

    citations = (
        citation("clause 5", f"{key}#5", "5", "resolved"),
        citation("clause 9", None, "9", "missing-clause"),
    )
    return Corpus((Document(key, "EN 1", "V1", "2020-01", "Root", 9, "x.pdf", terms=terms),), units, citations)


def words(mark: Mark) -> tuple[str, str, str]:
    return mark.kind, BODY[mark.start : mark.end], mark.style


def test_marks_fall_on_their_words_and_never_on_each_other() -> None:
    """ "clause" is a term too, but not inside a citation; PLP is marked once a paragraph."""
    reading = Reading(corpus())
    marks = reading.marks(reading.corpus.by_id["EN 1 V1#4"])
    assert [words(m) for m in marks] == [
        ("term", "PLP", ""),
        ("modal", "shall", "requirement"),
        ("citation", "clause 5", "resolved"),
        ("term", "physical layer pipe", ""),
        ("citation", "clause 9", "missing-clause"),
        ("term", "PLP", ""),
        ("modal", "may", "permission"),
    ]
    assert marks[0].tip == "PLP: Physical Layer Pipe"
    assert marks[2].target == "EN 1 V1#5"
    assert marks[2].tip == "EN 1 V1 · 5 Goal\nText x of the goal."
    assert (marks[4].target, marks[4].tip) == ("", "EN 1 has no clause 9")


def test_a_term_is_not_explained_where_it_is_defined() -> None:
    reading = Reading(corpus())
    assert reading.marks(reading.corpus.by_id["EN 1 V1#3"]) == ()


def test_around_and_cited_by() -> None:
    reading = Reading(corpus())
    unit = reading.corpus.by_id
    assert [u and u.key for u in reading.around(unit["EN 1 V1#"])] == [None, "3"]
    assert [u and u.key for u in reading.around(unit["EN 1 V1#A"])] == ["5", None]
    assert [(u.key, [c.text for c in cs]) for u, cs in reading.cited_by(unit["EN 1 V1#5"])] == [("4", ["clause 5"])]


def test_citation_in_the_form_of_standards() -> None:
    loaded = corpus()
    named = {u.key: cite(loaded, u) for u in loaded.units}
    assert named["5"] == "ETSI EN 1 V1 (2020-01), clause 5"
    assert named["A"] == "ETSI EN 1 V1 (2020-01), annex A"
    assert named[""] == "ETSI EN 1 V1 (2020-01)"
