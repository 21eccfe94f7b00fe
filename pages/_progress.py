"""Progress of reading and embedding: a fragment that looks every second while there is something to see, and not otherwise."""

from __future__ import annotations

import streamlit as st

from normrag_core.config import RetrieverConfig
from pages import _components as components
from pages import _escape as escape
from pages import _jobs as jobs
from pages import _theme as theme
from pages._library import Library

_TONE = {"done": "good", "failed": "bad", "cancelled": "muted", "queued": "muted", "reading": "info", "storing": "info"}


def show(library: Library, revision: int) -> None:
    """Files and vectors under way. revision: of the documents that the page around shows; a newer one draws the page anew."""
    every = "1s" if library.busy else None
    st.fragment(_watch, run_every=every)(library, revision)


def note(library: Library, config: RetrieverConfig) -> None:
    """For the Search page: how far the vectors are that these settings need; the page is drawn anew when they are there."""
    if config.uses_dense and not library.vectors_ready(config):
        failed = library.vectors is not None and bool(library.vectors.error)
        st.fragment(_watch_vectors, run_every=None if failed else "1s")(library, config)


def _watch_vectors(library: Library, config: RetrieverConfig) -> None:
    if library.vectors_ready(config):
        st.rerun()
    with st.container(key="vectors_note"):
        click = components.clicks("vectors_note")
        if click and click[0] == "stop":
            library.cancel_vectors()
        st.html(vectors(library.vectors) or waiting())


def _watch(library: Library, revision: int) -> None:
    if library.loaded.revision != revision:
        st.rerun()
    if st.session_state.get("was_busy") and not library.busy:
        st.session_state["was_busy"] = False
        st.rerun()  # A fragment cannot stop its own clock; a run of the page makes one without.
    st.session_state["was_busy"] = library.busy
    with st.container(key="progress"):
        click = components.clicks("progress")
        if click and click[0] == "cancel" and click[1].isdigit():
            library.cancel(int(click[1]))
        if click and click[0] == "forget":
            library.forget_finished()
        if click and click[0] == "stop":
            library.cancel_vectors()
        html = _files(library.files) + vectors(library.vectors)
        if html:
            st.html(html)


def _files(files: tuple[jobs.FileJob, ...]) -> str:
    if not files:
        return ""
    through = [f for f in files if f.stage == "done"]
    folded = through if len(files) > 6 else []
    rows = "".join(_file(f) for f in files if f not in folded)
    if folded:
        rows += f"<details><summary>{len(folded)} read</summary>{''.join(_file(f) for f in folded)}</details>"
    over = not any(f.active for f in files)
    forget = '<button class="nr-link" data-nr="forget" data-value="">Clear this list</button>' if over else ""
    failed = sum(f.stage == "failed" for f in files)
    head = f"{len(through)} of {len(files)} read" + (f", {failed} failed" if failed else "")
    return f'<div class="nr-card nr-jobs"><div class="nr-row nr-spread nr-small"><b>{head}</b>{forget}</div>{rows}</div>'


def _file(file: jobs.FileJob) -> str:
    cancel = f'<button class="nr-link" data-nr="cancel" data-value="{file.id}">Cancel</button>' if file.active else ""
    detail = escape.html(file.message)
    bar = ""
    if file.stage == "reading":
        left = jobs.duration(file.left)
        rate = f", {file.rate:.0f} pages/s" if file.rate else ""
        detail = f"page {file.done} of {file.total or '?'}{rate}{f', {left} left' if left else ''}"
        bar = _bar(file.done, file.total)
    return (
        f'<div class="nr-job"><span class="nr-job-name">{escape.html(file.name)}</span>'
        f"{theme.badge(file.stage, _TONE[file.stage])}"
        f'<span class="nr-small nr-num nr-grow">{detail}</span>{cancel}{bar}</div>'
    )


def vectors(job: jobs.VectorJob | None) -> str:
    """One line about the vectors being computed; "" when there is nothing to say."""
    if job is None or (not job.active and not job.error):
        return ""
    if job.error:
        return (
            f'<div class="nr-note">Search by meaning is not available: {escape.html(job.error)}. Search by words works.</div>'
        )
    left = jobs.duration(job.left)
    return (
        '<div class="nr-card nr-jobs"><div class="nr-job"><span class="nr-job-name">Vectors</span>'
        f"{theme.badge('embedding', 'info')}<span class='nr-small nr-num nr-grow'>{job.done:,} of {job.total:,} chunks"
        f"{f', {job.rate:.0f}/s' if job.rate else ''}{f', {left} left' if left else ''}. Search by words "
        "works already; search by "
        f"meaning joins when this is done.</span><button class='nr-link' data-nr='stop' data-value=''>Stop</button>"
        f"{_bar(job.done, job.total)}</div></div>"
    )


def waiting() -> str:
    """What stands for the vectors' line before their work has begun."""
    return '<div class="nr-small">Search by words for now; search by meaning joins when its vectors are made.</div>'


def _bar(done: int, total: int) -> str:
    share = 100 * done / total if total else 0
    return f'<div class="nr-bar nr-progress"><i style="width:{share:.1f}%;background:var(--nr-accent)"></i></div>'
