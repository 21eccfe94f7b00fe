"""Files of results: safe to open, complete, and true to what they say."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser

import toys

from normrag_core.config import PRESETS
from normrag_core.model import Corpus
from normrag_core.results_export import read_link, to_csv, to_html, to_json, to_markdown
from normrag_core.retriever import Retriever
from normrag_core.trace import Trace

EVIL = '=HYPERLINK("http://example.org") <script>alert(1)</script> [click](javascript:alert(1)) # no heading'


def _searched() -> tuple[Corpus, Trace]:
    document = toys.document("EN 999 001", "V1.1.1", "Radio widgets")
    key = document.key
    units = (toys.unit(key, "", "Radio widgets"), toys.unit(key, "5.1", "=1+1 levels", f"{EVIL}\nThe level is 3 V/m."))
    corpus = Corpus((document,), units, ())
    return corpus, Retriever(corpus).search("level <b>of</b> alert", PRESETS["bm25"].config)


def test_csv_runs_no_formula_and_links_to_the_clause() -> None:
    corpus, trace = _searched()
    rows = list(csv.DictReader(io.StringIO(to_csv(corpus, trace, "http://127.0.0.1:8501"))))
    row = next(r for r in rows if r["clause"] == "5.1")
    assert row["title"] == "'=1+1 levels"
    assert not any(v.startswith(("=", "+", "@")) for r in rows for v in r.values())
    assert row["citation"] == "ETSI EN 999 001 V1.1.1 (2020-01), clause 5.1"
    assert row["link"] == "http://127.0.0.1:8501/read?unit=EN%20999%20001%20V1.1.1%235.1"


def test_json_is_the_command_lines_form_with_the_settings_and_the_fingerprint() -> None:
    corpus, trace = _searched()
    data = json.loads(to_json(corpus, trace, "toy"))
    assert data["corpus"]["fingerprint"] == corpus.fingerprint
    assert data["settings"]["ranking"] == "bm25"
    assert [r["rank"] for r in data["results"]] == [r.rank for r in trace.results]
    assert data["results"][0]["text"] == trace.results[0].chunk.text


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [v or "" for k, v in attrs if k in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_report_has_no_script_and_shows_the_text_as_it_is() -> None:
    corpus, trace = _searched()
    page = _Tags()
    page.feed(to_html(corpus, trace, "http://127.0.0.1:8501", "toy"))
    assert not {"script", "b", "img", "iframe", "link"} & set(page.tags)
    assert EVIL in page.text
    assert corpus.fingerprint in page.text
    assert "bm25_k1" in page.text
    assert set(page.links) == {read_link("http://127.0.0.1:8501", r.chunk.unit) for r in trace.results}


def test_without_an_address_there_are_no_links() -> None:
    corpus, trace = _searched()
    page = _Tags()
    page.feed(to_html(corpus, trace))
    assert page.links == []


def test_text_of_a_document_is_no_markdown() -> None:
    corpus, trace = _searched()
    text = to_markdown(corpus, trace)
    assert "\\[click\\](javascript" in text
    assert "\\<script\\>" in text
    assert text.startswith("# level \\<b\\>of\\</b\\> alert")
    assert f"fingerprint {corpus.fingerprint}" in text
