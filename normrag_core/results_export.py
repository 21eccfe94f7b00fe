"""The results of a search as files: CSV, JSON, Markdown and a printable page, each with the settings that made them."""

from __future__ import annotations

import json
from dataclasses import asdict
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

from normrag_core.commands.search import to_object
from normrag_core.graph.export import table_csv
from normrag_core.model import Corpus
from normrag_core.reading import cite
from normrag_core.trace import Result, Trace

_HEAD = ("rank", "document", "clause", "title", "pages", "score", "stages", "citation", "text", "link")


def to_csv(corpus: Corpus, trace: Trace, address: str = "") -> str:
    """One row a result; no cell is a formula. address: of the app, for the links."""
    rows = (
        (
            r.rank,
            corpus.by_key[r.chunk.document].label,
            corpus.by_id[r.chunk.unit].code,
            corpus.by_id[r.chunk.unit].title,
            _pages(r),
            r.score,
            _stages(r),
            cite(corpus, corpus.by_id[r.chunk.unit]),
            r.chunk.text,
            read_link(address, r.chunk.unit),
        )
        for r in trace.results
    )
    return table_csv(_HEAD, rows)


def to_json(corpus: Corpus, trace: Trace, model: str = "") -> str:
    """The command line's results with the question, the settings and what was searched."""
    head = {
        "question": trace.question,
        "settings": asdict(trace.config),
        "corpus": {"fingerprint": corpus.fingerprint, "documents": [d.label for d in corpus.documents]},
        "searched": list(trace.documents) if trace.documents is not None else "all",
        "model": model,
        "notes": list(trace.notes),
    }
    return json.dumps(head | to_object(corpus, trace), ensure_ascii=False, indent=1)


def to_markdown(corpus: Corpus, trace: Trace, address: str = "", model: str = "") -> str:
    """Headings, texts as quotations, and the settings at the end."""
    parts = [f"# {_md(trace.question)}", ""]
    for r in trace.results:
        unit = corpus.by_id[r.chunk.unit]
        link = read_link(address, unit.id)
        title = f"[{_md(cite(corpus, unit))}]({link})" if link else _md(cite(corpus, unit))
        text = "\n".join(f"> {_md(line)}" if line.strip() else ">" for line in r.chunk.text.splitlines())
        parts += [f"## {r.rank}. {_md(unit.heading or corpus.by_key[unit.document].title)}", ""]
        parts += [f"{title}, page {_pages(r)} ({_stages(r)})", "", text, ""]
    parts += ["## Settings", "", *(f"- {name}: {_md(value)}" for name, value in _settings(corpus, trace, model))]
    return "\n".join(parts) + "\n"


def to_html(corpus: Corpus, trace: Trace, address: str = "", model: str = "") -> str:
    """A page that stands alone, for paper: no script, nothing fetched."""
    articles = []
    for r in trace.results:
        unit = corpus.by_id[r.chunk.unit]
        link = read_link(address, unit.id)
        source = escape(f"{cite(corpus, unit)}, page {_pages(r)}")
        source = f'<a href="{escape(link)}">{source}</a>' if link else source
        heading = escape(unit.heading or corpus.by_key[unit.document].title)
        articles.append(
            f"<article><h2>{r.rank}. {heading}</h2><p class=source>{source}<br>{escape(_stages(r))}, score {r.score:.5g}</p>"
            f"<div class=text>{escape(r.chunk.text)}</div></article>"
        )
    rows = "".join(f"<tr><th>{escape(n)}</th><td>{escape(v)}</td></tr>" for n, v in _settings(corpus, trace, model))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>'
        f'{escape(trace.question)}</title><meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        f"style-src 'unsafe-inline'\"><style>{_STYLE}</style></head><body><h1>{escape(trace.question)}</h1>"
        f"{''.join(articles)}<h2>Settings</h2><table>{rows}</table></body></html>"
    )


_STYLE = (
    "body{font:11pt/1.45 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1b2430}"
    "h1{font-size:16pt}h2{font-size:12pt;margin:1.2em 0 .2em}.source{color:#55606f;font-size:9.5pt;margin:.2em 0 .5em}"
    ".text{white-space:pre-wrap;overflow-wrap:anywhere;border-left:2pt solid #dfe4ea;padding-left:.8em}"
    "table{border-collapse:collapse;font-size:9pt}"
    "th{text-align:left;font-weight:600;padding:.1em 1em .1em 0;vertical-align:top}"
    "article{break-inside:avoid-page}@media print{body{margin:0;max-width:none}a{color:inherit}}"
)


def read_link(address: str, unit: str) -> str:
    """Address of a clause on the Read page; "" without the app's."""
    return f"{address.rstrip('/')}/read?{urlencode({'unit': unit}, quote_via=quote)}" if address else ""


def _pages(r: Result) -> str:
    return ", ".join(map(str, r.chunk.pages))


def _stages(r: Result) -> str:
    return ", ".join(f"{stage} {rank}" for stage, (rank, _) in r.ranks.items())


def _settings(corpus: Corpus, trace: Trace, model: str) -> list[tuple[str, str]]:
    said: list[tuple[str, Any]] = [
        ("question", trace.question),
        ("corpus", f"{len(corpus.documents)} documents, fingerprint {corpus.fingerprint}"),
        ("searched", "all documents" if trace.documents is None else ", ".join(trace.documents)),
        *([("vectors", model)] if model else []),
        *asdict(trace.config).items(),
    ]
    return [(n, ", ".join(v) if isinstance(v, tuple) else str(v)) for n, v in said]


def _md(text: str) -> str:
    """Text of a document is no markup."""
    out = "".join(f"\\{c}" if c in "\\`*_{}[]<>#|$~" else c for c in text)
    return f"\\{out}" if out[:1] in "+-=" else out
