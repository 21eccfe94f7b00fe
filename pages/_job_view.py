"""Work in the background as a page shows it: how far it is, how long it will take, a button that ends it, what went wrong."""

from __future__ import annotations

import streamlit as st

from pages import _dialogs as dialogs
from pages import _escape as escape
from pages import _evaluation as evaluation
from pages import _state as state


def progress(name: str) -> None:
    """The work last begun under this name, while it runs; its error afterwards."""
    job = evaluation.job(state.library(), name)
    if job is None:
        return
    if job.running:
        _watch(name)
    elif job.error:
        st.error(escape.markdown(job.error))


@st.fragment(run_every=0.5)
def _watch(name: str) -> None:
    job = evaluation.job(state.library(), name)
    if job is None or not job.running:
        dialogs.redraw()
        return
    left, right = st.columns([6, 1], vertical_alignment="center")
    now = "stopping" if job.stop.is_set() else f"{escape.markdown(job.what)}{job.left}"
    left.progress(job.share, f"{job.title}: {job.done} of {job.total}, {now}")
    right.button("Cancel", key=f"{name}_cancel", width="stretch", on_click=job.stop.set, disabled=job.stop.is_set())
