"""Text from documents is never markup: the one place that escapes it.

html(text)      for anything put into `st.html` (text or a quoted attribute).
markdown(text)  for anything put into a Streamlit label, `st.markdown`, `help=`, a toast, an option of pills, ...
plain(text)     for places that show text as it is (selectbox options, page title, file names): control characters go.

Two traps decide `markdown`. A backslash stops Markdown, maths and `:red[...]`, for they are parsed. It does not stop
`:material/home:`, `:smile:` and `->`, which Streamlit replaces in the *parsed* text: a word joiner (U+2060, no width) inside
the pattern does.
"""

from __future__ import annotations

import html as _html
import re

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_PUNCTUATION = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$&^=:\"'@/%])")
_REPLACED = re.compile(r"(:)(?=[\w+/-])|(?<=[-<>=])(?=[-<>=])")
_JOINER = "\u2060"


def plain(text: str) -> str:
    """Without control characters and bidirectional overrides; line breaks and tabs stay."""
    return _CONTROL.sub("", text)


def html(text: str) -> str:
    """Safe as HTML text and inside a quoted attribute."""
    return _html.escape(plain(text), quote=True)


def markdown(text: str) -> str:
    """Safe as Streamlit Markdown; comes out as the same visible text on one line."""
    joined = _REPLACED.sub(lambda m: f"{m.group(1) or ''}{_JOINER}", " ".join(plain(text).split()))
    return _PUNCTUATION.sub(r"\\\1", joined)
