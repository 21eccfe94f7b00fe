"""Results as files to keep, cite and print."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import streamlit as st

from normrag_core.results_export import to_csv, to_html, to_json, to_markdown
from normrag_core.trace import Trace
from pages import _state as state

_UNSAFE = re.compile(r"[^a-z0-9]+")


def show(trace: Trace) -> None:
    corpus = state.corpus()
    model = state.library().model_line()
    address = _address()
    name = _UNSAFE.sub("-", trace.question.lower()).strip("-")[:60] or "results"
    files = (
        ("CSV", "csv", "text/csv", lambda: to_csv(corpus, trace, address), "For a spreadsheet; no cell is run as a formula"),
        (
            "JSON",
            "json",
            "application/json",
            lambda: to_json(corpus, trace, model),
            "As the command line gives it, with the settings",
        ),
        ("Markdown", "md", "text/markdown", lambda: to_markdown(corpus, trace, address, model), "For notes and tickets"),
        (
            "Report",
            "html",
            "text/html",
            lambda: to_html(corpus, trace, address, model),
            "A page to print, with links to the clauses",
        ),
    )
    st.html(
        f'<div class="nr-small">{len(trace.results)} results with their texts, the settings and the fingerprint of the corpus '
        f"(<span class=nr-num>{corpus.fingerprint}</span>). The texts of standards are their publishers' copyright.</div>"
    )
    with st.container(horizontal=True, gap="small"):
        for label, ending, mime, make, help_text in files:
            st.download_button(
                label,
                make,
                file_name=f"{name}.{ending}",
                mime=mime,
                help=help_text,
                icon=":material/download:",
                on_click="ignore",
                key=f"export_{ending}",
            )


def _address() -> str:
    """Of the app, as this browser sees it."""
    parts = urlsplit(st.context.url or "")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rsplit('/', 1)[0]}" if parts.netloc else ""
