"""A dialog stays open until the user closes it, whatever is made in the background meanwhile."""

from __future__ import annotations

import re

from streamlit.testing.v1 import AppTest

from pages import _state as state


def _page() -> None:
    import streamlit as st

    from pages import _dialogs as dialogs

    dialogs.began()
    st.session_state["runs"] = st.session_state.get("runs", 0) + 1

    @dialogs.dialog("Sure?")
    def ask(subject: str) -> None:
        if st.button(f"Yes, {subject}"):
            st.rerun()

    if st.button("Ask"):
        ask("all of it")
    if st.session_state["runs"] % 3:  # As a fragment that sees something new until the page was drawn anew.
        dialogs.redraw()


def test_what_was_made_in_the_background_waits_until_the_dialog_is_closed() -> None:
    app = AppTest.from_function(_page).run()
    assert app.session_state["runs"] == 3
    app.button[0].click().run()
    assert app.session_state["runs"] == 4
    assert [b.label for b in app.button] == ["Ask", "Yes, all of it"]
    # Closed: the run that follows brings what waited.
    app.button[1].click().run()
    assert app.session_state["runs"] == 6
    assert [b.label for b in app.button] == ["Ask"]


def test_every_dialog_and_every_rerun_by_itself_goes_this_way() -> None:
    sources = {path.name: path.read_text("utf8") for path in (state.ROOT / "pages").glob("*.py")}
    assert {name for name, text in sources.items() if "st.dialog(" in text} == {"_dialogs.py"}
    # What a clock runs, and what it calls first, reruns the page only by `redraw`.
    clocked = re.compile(r"@st\.fragment\(run_every=[^\n]*\ndef .*?(?=\n\n\n|\Z)", re.S)
    bodies = [body for text in sources.values() for body in clocked.findall(text)]
    assert bodies
    assert not [body for body in (*bodies, sources["_progress.py"]) if "st.rerun()" in body]
