"""Progress of reading and embedding: a fragment that looks again and again while there is something to see, not otherwise."""

from __future__ import annotations

import streamlit as st

from normrag_core.config import RetrieverConfig
from pages import _components as components
from pages import _dialogs as dialogs
from pages import _escape as escape
from pages import _jobs as jobs
from pages import _theme as theme
from pages._library import Library

EVERY, SOON = 1.0, 0.25
"""Seconds between two looks; SOON where there is nothing to read or to click yet.

Numbers: Streamlit reads a duration in words with pandas, which takes long to load."""
_CANCEL_ALL = '<button class="nr-link" data-nr="cancel_all" data-value="">Cancel all</button>'
_TONE = {"done": "good", "failed": "bad", "cancelled": "muted", "queued": "muted", "reading": "info", "storing": "info"}


def show(library: Library, revision: int) -> None:
    """Files and vectors under way. revision: of the documents that the page around shows; a newer one draws the page anew."""
    busy = library.busy
    every = SOON if library.loaded.revision != revision else EVERY if busy else None
    st.fragment(_watch, run_every=every)(library, revision, busy, _Watch())


def note(library: Library, config: RetrieverConfig, revision: int) -> None:
    """For the Search page: files on their way in and the vectors that these settings need; what is new draws the page anew."""
    wanted = config.uses_dense and not library.vectors_ready(config)
    stale = library.loaded.revision != revision
    if wanted or library.reading or stale:
        failed = library.vectors is not None and bool(library.vectors.error)
        every: float | None = SOON if stale or not library.loaded.corpus.documents else EVERY
        if failed and not library.reading and not stale:
            every = None
        st.fragment(_watch_search, run_every=every)(library, config, revision, wanted, _Watch())


class _Watch:
    """Tells a look at the clock's stroke from the first one, which is part of a run of the page.

    The trap: a rerun from within that run comes before the parts of the page below have seen the click it was made for.
    """

    def __init__(self) -> None:
        self._looked = False

    def again(self) -> bool:
        before, self._looked = self._looked, True
        return before


def _watch_search(library: Library, config: RetrieverConfig, revision: int, wanted: bool, watch: _Watch) -> None:
    with st.container(key="vectors_note"):
        _act(library, components.clicks("vectors_note"))
        over = not wanted and not library.reading  # A fragment cannot stop its own clock; a run of the page makes none.
        if watch.again() and (over or library.loaded.revision != revision or (wanted and library.vectors_ready(config))):
            dialogs.redraw()
        job = vectors(library) or (waiting() if wanted and library.loaded.corpus.documents else "")
        html = (reading(library.files) if library.reading else "") + job
        if html:
            st.html(html)


def _watch(library: Library, revision: int, busy: bool, watch: _Watch) -> None:
    with st.container(key="progress"):
        _act(library, components.clicks("progress"))
        if watch.again() and (library.loaded.revision != revision or (busy and not library.busy)):
            dialogs.redraw()
        html = _files(library.files) + vectors(library)
        if html:
            st.html(html)


def _act(library: Library, click: tuple[str, str] | None) -> None:
    """Does what a click on the progress asks for."""
    if click is None:
        return
    name, value = click
    if name == "cancel" and value.isdigit():
        library.cancel(int(value))
    elif name == "cancel_all":
        library.cancel_files()
    elif name == "forget":
        library.forget_finished()
    elif name == "stop":
        library.cancel_vectors()


def reading(files: tuple[jobs.FileJob, ...]) -> str:
    """One card about all files on their way in, for a page that is about something else."""
    return (
        f'<div class="nr-card nr-jobs"><div class="nr-job"><span class="nr-job-name">Documents</span>'
        f"{theme.badge('reading', 'info')}<span class='nr-small nr-num nr-grow'>{_summary(files)}. Results grow with them."
        f"</span>{_CANCEL_ALL}</div></div>"
    )


def _summary(files: tuple[jobs.FileJob, ...]) -> str:
    """How far the files are, how fast they are read and how long it will take."""
    failed = sum(f.stage == "failed" for f in files)
    rate, left = jobs.together(files)
    return (
        f"{sum(f.stage == 'done' for f in files)} of {len(files)} read"
        f"{f', {failed} failed' if failed else ''}{f', {rate:.0f} pages/s' if rate else ''}"
        f"{f', {jobs.duration(left)} left' if left is not None else ''}"
    )


def _files(files: tuple[jobs.FileJob, ...]) -> str:
    if not files:
        return ""
    through = [f for f in files if f.stage == "done"]
    folded = through if len(files) > 6 else []
    rows = "".join(_file(f) for f in files if f not in folded)
    if folded:
        rows += f"<details><summary>{len(folded)} read</summary>{''.join(_file(f) for f in folded)}</details>"
    over = not any(f.active for f in files)
    button = '<button class="nr-link" data-nr="forget" data-value="">Clear this list</button>' if over else _CANCEL_ALL
    head = f'<div class="nr-row nr-spread nr-small nr-num"><b>{_summary(files)}</b>{button}</div>'
    return f'<div class="nr-card nr-jobs">{head}{rows}</div>'


def _file(file: jobs.FileJob) -> str:
    cancel = f'<button class="nr-link" data-nr="cancel" data-value="{file.id}">Cancel</button>' if file.active else ""
    detail = escape.html(file.message)
    bar = ""
    if file.stage == "reading":
        left = jobs.duration(file.left) if file.done < file.total else ""
        rate = f", {file.rate:.0f} pages/s" if file.rate else ""
        detail = f"page {file.done} of {file.total}{rate}{f', {left} left' if left else ''}" if file.total else ""
        bar = _bar(file.done, file.total)
    return (
        f'<div class="nr-job"><span class="nr-job-name">{escape.html(file.name)}</span>'
        f"{theme.badge(file.stage, _TONE[file.stage])}"
        f'<span class="nr-small nr-num nr-grow">{detail}</span>{cancel}{bar}</div>'
    )


def vectors(library: Library) -> str:
    """One line about the vectors being computed; "" when there is nothing to say."""
    job = library.vectors
    if job is None or (not job.active and not job.error):
        return ""
    if job.error:
        return (
            f'<div class="nr-note">Search by meaning is not available: {escape.html(job.error)}. Search by words works.</div>'
        )
    left = jobs.duration(job.left)
    stop = "<button class='nr-link' data-nr='stop' data-value=''>Stop</button>" if library.may_stop_vectors else ""
    return (
        '<div class="nr-card nr-jobs"><div class="nr-job"><span class="nr-job-name">Vectors</span>'
        f"{theme.badge('embedding', 'info')}<span class='nr-small nr-num nr-grow'>{job.done:,} of {job.total:,} chunks"
        f"{f', {job.rate:.0f}/s' if job.rate else ''}{f', {left} left' if left else ''}. Search by words "
        "works already; search by "
        f"meaning joins when this is done.</span>{stop}"
        f"{_bar(job.done, job.total)}</div></div>"
    )


def waiting() -> str:
    """What stands for the vectors' line before their work has begun."""
    return '<div class="nr-small">Search by words for now; search by meaning joins when its vectors are made.</div>'


def _bar(done: int, total: int) -> str:
    share = 100 * done / total if total else 0
    return f'<div class="nr-bar nr-progress"><i style="width:{share:.1f}%;background:var(--nr-accent)"></i></div>'
