"""Entry file: page set-up, look and navigation. State is in pages/_state.py, layout and words in the pages."""

import streamlit as st

from pages import _dialogs as dialogs
from pages import _door as door
from pages import _faults as faults
from pages import _shell as shell
from pages import _state as state
from pages import _theme as theme

st.set_page_config(page_title="NormRAG", page_icon="pages/_icon.svg", layout="wide")
door.ask_nobody()
shell.entered()
dialogs.began()
theme.apply()

if refusal := door.refusal():
    st.error(refusal)
    st.stop()

PAGES = {
    "corpus": ("Corpus", ":material/library_books:", "The standards loaded: add, inspect and remove documents"),
    "search": ("Search", ":material/search:", "Ask a question and see why each clause is ranked where it is"),
    "read": ("Read", ":material/menu_book:", "Read a document clause by clause, with its cross-references"),
    "graph": ("Graph", ":material/hub:", "The graph of clauses, parts and citations"),
    "evaluate": ("Evaluate", ":material/monitoring:", "Measure presets and settings against a set of questions"),
}

title, icon, help_text = PAGES["corpus"]
# Streamlit serves the default page at "/" only. So /corpus is a second page with the same script, which the menu leaves out;
# it comes last, because links to the script lead to the first page that has it.
start = st.Page("pages/corpus.py", title=title, icon=icon, help=help_text, url_path="start", default=True)
others = [
    st.Page(f"pages/{name}.py", title=title, icon=icon, help=help_text, url_path=name)
    for name, (title, icon, help_text) in PAGES.items()
    if name != "corpus" and state.page_exists(name)
]
named = st.Page("pages/corpus.py", title=title, url_path="corpus", visibility="hidden")
page = st.navigation([start, *others, named], position="top")
st.set_page_config(page_title=f"{page.title} · NormRAG")
with faults.told():
    if page.url_path != "search":  # It paints the question's box first.
        state.opened()
    page.run()
