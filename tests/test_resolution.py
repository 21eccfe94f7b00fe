"""Citations looked up among the loaded documents: versions, aliases, clauses, duplicates."""

from __future__ import annotations

from dataclasses import replace

from normrag_core.model import Block, Citation, Corpus, Document, InfoUnit, ParsedDocument, Term
from normrag_core.resolution import Resolver, resolve


def parsed(
    id_: str, version: str, codes: tuple[str, ...] = ("4", "4.1"), date: str = "", sha256: str = "", citations: tuple = ()
) -> ParsedDocument:
    key = f"{id_} {version}"
    units = [InfoUnit(f"{key}#", key, "", "", "Title", "document", None, 1)]
    units += [InfoUnit(f"{key}#{c}", key, c, c, "T", "annex" if c.isalpha() else "clause", "", 2) for c in codes]
    made = tuple(Citation(f"{key}#{codes[0]}", 2, 0, 1, "x", "x", d, c, edition=e, form=f) for d, c, e, f in citations)
    return ParsedDocument(Document(key, id_, version, date, "Title", 9, f"{key}.pdf", sha256=sha256), tuple(units), made)


def outcome(corpus: Corpus) -> list[tuple[str, str | None]]:
    return [(c.state, c.target) for c in corpus.citations]


def test_undated_means_the_latest_version_loaded() -> None:
    citing = parsed("EN 300 100", "V1.1.1", citations=(("EN 300 421", "4.1", None, "clause"),))
    old, new = parsed("EN 300 421", "V1.9.1"), parsed("EN 300 421", "V1.10.1")
    assert outcome(resolve((citing, new, old))) == [("resolved", "EN 300 421 V1.10.1#4.1")]
    assert outcome(resolve((citing, old))) == [("resolved", "EN 300 421 V1.9.1#4.1")]


def test_dated_means_that_version() -> None:
    citing = parsed("EN 300 100", "V1.1.1", citations=(("EN 300 421", "4.1", "V1.1.2", "clause"),))
    one, two = parsed("EN 300 421", "V1.1.2"), parsed("EN 300 421", "V1.2.1")
    assert outcome(resolve((citing, one, two))) == [("resolved", "EN 300 421 V1.1.2#4.1")]
    assert outcome(resolve((citing, two))) == [("version-mismatch", None)]
    assert outcome(resolve((citing,))) == [("not-loaded", None)]


def test_editions_by_date() -> None:
    def state(edition: str) -> str:
        citing = parsed("EN 300 100", "V1.1.1", citations=(("ETS 300 706", "", edition, "document"),))
        return outcome(resolve((citing, parsed("ETS 300 706", "ed.1", date="1997-05"))))[0][0]

    assert [state(e) for e in ("1997", "May 1997", "1997-05", "05/1997", "ed. 1")] == ["resolved"] * 5
    assert [state(e) for e in ("1996", "June 1997", "ed. 2")] == ["version-mismatch"] * 3


def test_a_document_without_a_clause_is_its_root_and_a_missing_clause_is_told() -> None:
    citations = (("EN 300 421", "", None, "document"), ("EN 300 421", "9.9", None, "clause"))
    citing = parsed("EN 300 100", "V1.1.1", citations=citations)
    corpus = resolve((citing, parsed("EN 300 421", "V1.1.2")))
    assert outcome(corpus) == [("resolved", "EN 300 421 V1.1.2#"), ("missing-clause", None)]


def test_3gpp_and_etsi_numbers_are_one_document() -> None:
    citing = parsed("TS 129 229", "V18.1.0", citations=(("3GPP TS 29.228", "4.1", None, "clause"),))
    corpus = resolve((citing, parsed("TS 129 228", "V18.0.0")))
    assert outcome(corpus) == [("resolved", "TS 129 228 V18.0.0#4.1")]
    assert corpus.citations[0].document == "TS 129 228"


def test_internal_citations_without_a_state_are_looked_up() -> None:
    citing = parsed(
        "EN 300 100", "V1.1.1", citations=(("EN 300 100", "4.1", None, "clause"), ("EN 300 100", "7", None, "clause"))
    )
    assert outcome(resolve((citing,))) == [("resolved", "EN 300 100 V1.1.1#4.1"), ("missing-clause", None)]


def test_an_older_version_of_the_document_itself() -> None:
    citing = parsed("EN 300 100", "V1.2.1", citations=(("EN 300 100", "4.1", "V1.1.1", "clause"),))
    assert outcome(resolve((citing,))) == [("version-mismatch", None)]
    assert outcome(resolve((citing, parsed("EN 300 100", "V1.1.1")))) == [("resolved", "EN 300 100 V1.1.1#4.1")]


def test_a_table_leads_to_its_clause_and_counted_numbers_that_do_not_exist_are_dropped() -> None:
    citations = (
        ("EN 300 421", "table 3", None, "table"),
        ("EN 300 421", "4.1", None, "x-range"),
        ("EN 300 421", "4.2", None, "x-range"),
    )
    cited = parsed("EN 300 421", "V1.1.2")
    caption = "Table 3: Values"
    units = (*cited.units[:2], replace(cited.units[2], body=caption, blocks=(Block("caption", 0, len(caption)),)))
    citing = parsed("EN 300 100", "V1.1.1", citations=citations)
    corpus = resolve((citing, replace(cited, units=units)))
    assert outcome(corpus) == [("resolved", "EN 300 421 V1.1.2#4.1")] * 2
    assert corpus.citations[0].code == "4.1"


def test_a_figure_under_an_unnumbered_heading_is_found_again() -> None:
    captions = "Figure 1: One Figure 2: Two", "Table 3 (b): Values"
    own = parsed("EN 300 100", "V1.1.1", citations=[("EN 300 100", c, None, "figure") for c in ("figure 2", "table 3b", "4")])
    key = own.document.key
    units = [
        InfoUnit(f"{key}#Introduction{n}", key, f"Introduction{n}", "Introduction", "Introduction", "heading", "", 2, text,
                 blocks=(Block("caption", 0, len(text)),))
        for n, text in zip(("", "~2"), captions, strict=True)
    ]  # fmt: skip
    corpus = resolve((replace(own, units=(*own.units, *units)),))
    assert outcome(corpus) == [("resolved", f"{key}#{k}") for k in ("Introduction", "Introduction~2", "4")]
    assert [c.code for c in corpus.citations] == ["figure 2", "table 3b", "4"]
    again = ParsedDocument(corpus.documents[0], corpus.units, corpus.citations)
    assert outcome(resolve((again,))) == outcome(corpus)


def test_the_same_file_twice_counts_once_and_distinct_files_get_distinct_keys() -> None:
    one = parsed("EN 300 421", "V1.1.2", sha256="a", citations=(("EN 300 421", "4.1", None, "clause"),))
    other = replace(
        one, document=replace(one.document, sha256="b", terms=(Term("a", "b", "definition", "EN 300 421 V1.1.2#4", 2),))
    )
    corpus = resolve((one, one, other))
    assert [d.key for d in corpus.documents] == ["EN 300 421 V1.1.2", "EN 300 421 V1.1.2~2"]
    assert [u.id for u in corpus.units[3:]] == ["EN 300 421 V1.1.2~2#", "EN 300 421 V1.1.2~2#4", "EN 300 421 V1.1.2~2#4.1"]
    assert corpus.documents[1].terms[0].unit == "EN 300 421 V1.1.2~2#4"
    assert [(c.source, c.target) for c in corpus.citations] == [
        ("EN 300 421 V1.1.2#4", "EN 300 421 V1.1.2#4.1"),
        ("EN 300 421 V1.1.2~2#4", "EN 300 421 V1.1.2~2#4.1"),
    ]
    assert corpus.by_id["EN 300 421 V1.1.2~2#4"].document == "EN 300 421 V1.1.2~2"


def test_nothing_makes_an_empty_corpus() -> None:
    assert len(resolve(())) == 0


def test_a_resolver_gives_what_a_fresh_look_gives_while_documents_come_and_go() -> None:
    citing = parsed("EN 300 100", "V1.1.1", citations=(("EN 300 421", "4.1", None, "clause"), ("", "4", None, "clause")))
    old, new = parsed("EN 300 421", "V1.1.2"), parsed("EN 300 421", "V1.2.1")
    other, twin = parsed("TS 100 100", "V1.1.1"), parsed("TS 100 100", "V1.1.1", ("5",))
    resolver = Resolver()
    for loaded in [(citing,), (citing, old), (citing, other, old), (new, citing, old), (citing, new), (other, twin), (citing,)]:
        made, fresh = resolver.corpus(loaded), resolve(loaded)
        assert (made.documents, made.units, made.citations) == (fresh.documents, fresh.units, fresh.citations)


def test_a_resolver_leaves_alone_what_cites_nothing_that_changed() -> None:
    citing = parsed("EN 300 100", "V1.1.1", citations=(("EN 300 421", "4.1", None, "clause"),))
    cited = parsed("EN 300 421", "V1.1.2")
    resolver = Resolver()
    before = resolver.corpus((citing, cited)).citations[0]
    assert resolver.corpus((citing, cited, parsed("TS 100 100", "V1.1.1"))).citations[0] is before
    assert resolver.corpus((citing, cited, parsed("EN 300 421", "V1.2.1"))).citations[0] is not before
