"""The table of documents as HTML, with the parse report of one of them unfolded under its row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from normrag_core.model import Citation, Corpus, Document, Finding
from pages import _escape as escape
from pages import _theme as theme

MOST_FINDINGS = 200
MOST_CITATIONS = 60
_SEVERITY = {"error": "bad", "warning": "warn", "info": "muted"}


def table(
    corpus: Corpus, removable: Collection[str], sample: Collection[str], opened: str, asked: str, newer: dict[str, str]
) -> str:
    """All documents. Sets of document keys: removable, sample. opened: whose report is shown; asked: to be removed?"""
    states: dict[str, Counter[str]] = {d.key: Counter() for d in corpus.documents}
    for citation in corpus.citations:
        states[corpus.by_id[citation.source].document][citation.state] += 1
    rows = []
    for document in sorted(corpus.documents, key=lambda d: d.key):
        tags = theme.badge("sample") if document.key in sample else ""
        if document.key in newer:
            tags += theme.badge(f"newer loaded: {newer[document.key].removeprefix(document.id).strip()}", "warn")
        rows.append(
            f'<tr><td class="nr-nowrap"><b>{escape.html(document.id)}</b><div class="nr-tiny">'
            f"{escape.html(f'{document.version} {document.date}')}</div></td>"
            f'<td>{escape.html(document.title)}<div class="nr-row">{tags}</div></td>'
            f'<td class="nr-num" data-label="pages">{document.pages}</td>'
            f'<td class="nr-num" data-label="clauses">{len(corpus.units_of(document.key)) - 1}</td>'
            f"<td>{_bar(states[document.key])}</td><td>{_warnings(document)}</td>"
            f'<td class="nr-nowrap">{_actions(document, removable, opened, asked)}</td></tr>'
        )
        if document.key == opened:
            rows.append(f'<tr class="nr-report"><td colspan="7">{report(corpus, document)}</td></tr>')
    legend = " ".join(f'<span class="nr-nowrap">{theme.dot(s)} {tone.label}</span>' for s, tone in theme.STATE.items())
    head = "".join(
        f"<th{css}>{word}</th>"
        for word, css in (
            ("Standard", ""),
            ("Title", ""),
            ("Pages", ' class="nr-num"'),
            ("Clauses", ' class="nr-num"'),
            ("Citations", ""),
            ("Remarks", ""),
            ("", ""),
        )
    )
    return (
        f'<div class="nr-row nr-tiny nr-legend">Citations: {legend}</div>'
        f'<div class="nr-scroll"><table class="nr-table nr-documents"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _actions(document: Document, removable: Collection[str], opened: str, asked: str) -> str:
    """Buttons of a row; removing asks once more, in the row."""
    unfolded = document.key == opened
    shown = _button("report", document, "Close" if unfolded else "Report", f'aria-expanded="{str(unfolded).lower()}"')
    if document.key == asked:
        yes, no = _button("really", document, "Yes", css="nr-danger"), _button("keep", document, "No")
        return f"Remove? {yes} &nbsp; {no}"
    if document.key in removable:
        shown += f" &nbsp; {_button('remove', document, 'Remove')}"
    return shown


def _button(name: str, document: Document, label: str, more: str = "", css: str = "") -> str:
    key = escape.html(document.key)
    return f'<button class="nr-link {css}" data-nr="{name}" data-value="{key}" title="{label} {key}" {more}>{label}</button>'


def _bar(states: Counter[str]) -> str:
    total = sum(states.values())
    if not total:
        return '<span class="nr-tiny">none</span>'
    parts = [(theme.STATE[s], states[s]) for s in theme.STATE if states[s]]
    tip = ", ".join(f"{n} {tone.label}" for tone, n in parts)
    bars = "".join(f'<i style="width:{100 * n / total:.2f}%;background:{tone.css}"></i>' for tone, n in parts)
    return (
        f'<div title="{tip}" role="img" aria-label="{tip}"><div class="nr-bar">{bars}</div>'
        f'<div class="nr-tiny nr-num nr-nowrap">{" · ".join(str(n) for _, n in parts)}</div></div>'
    )


def _warnings(document: Document) -> str:
    counts = Counter(f.severity for f in document.report.findings)
    shown = [
        theme.badge(f"{counts[s]} {s if counts[s] == 1 else s + 's'}", _SEVERITY[s]) for s in ("error", "warning") if counts[s]
    ]
    return " ".join(shown) or theme.badge("none", "good")


def report(corpus: Corpus, document: Document) -> str:
    """How a document was read: counts, findings with their page, and the citations that lead nowhere."""
    counts = "".join(
        f'<span class="nr-nowrap"><b class="nr-num">{n:,}</b> {escape.html(name.replace("_", " ").replace("-", " "))}</span>'
        for name, n in document.report.counts.items()
    )
    seconds = f"<span>read in {document.report.seconds:.1f} s</span>" if document.report.seconds else ""
    open_ends = [c for c in corpus.citations if c.state != "resolved" and corpus.by_id[c.source].document == document.key]
    return (
        f'<div class="nr-small nr-row nr-file">{escape.html(document.file)} {seconds}</div>'
        f'<div class="nr-small nr-row">{counts}</div>{_findings(document.report.findings)}{_open_ends(corpus, open_ends)}'
    )


def _findings(findings: tuple[Finding, ...]) -> str:
    if not findings:
        return '<p class="nr-small">Nothing to remark on how it was read.</p>'
    order = {"error": 0, "warning": 1, "info": 2}
    ranked = sorted(findings, key=lambda f: (order.get(f.severity, 3), f.page))
    lines = "".join(
        f'<tr><td class="nr-nowrap">{theme.badge(f.severity, _SEVERITY[f.severity])}</td><td class="nr-num">page {f.page}</td>'
        f"<td>{escape.html(f.text)}</td></tr>"
        for f in ranked[:MOST_FINDINGS]
    )
    more = f'<p class="nr-tiny">and {len(ranked) - MOST_FINDINGS} more</p>' if len(ranked) > MOST_FINDINGS else ""
    return f'<h4>Remarks on the reading</h4><div class="nr-scrollbox"><table class="nr-table">{lines}</table></div>{more}'


def _open_ends(corpus: Corpus, citations: list[Citation]) -> str:
    if not citations:
        return ""
    by_goal = Counter((c.state, c.document, c.edition or "", c.code if c.state == "missing-clause" else "") for c in citations)
    lines = "".join(
        f'<tr><td class="nr-nowrap">{theme.dot(state)} {theme.STATE[state].label}</td>'
        f"<td>{escape.html(f'{goal} {edition} {code}'.strip())}</td>"
        f'<td class="nr-num">{n} ×</td></tr>'
        for (state, goal, edition, code), n in by_goal.most_common(MOST_CITATIONS)
    )
    more = f'<p class="nr-tiny">and {len(by_goal) - MOST_CITATIONS} more</p>' if len(by_goal) > MOST_CITATIONS else ""
    table_of_goals = f'<div class="nr-scrollbox"><table class="nr-table">{lines}</table></div>'
    return f"<h4>Citations that lead nowhere here</h4>{table_of_goals}{more}"
