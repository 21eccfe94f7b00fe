"""Text from documents is never markup: what `_escape` lets through and what it takes apart."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages import _escape as escape


def test_html_is_safe_as_text_and_inside_a_quoted_attribute() -> None:
    assert escape.html("<b a='x' c=\"y\">&") == "&lt;b a=&#x27;x&#x27; c=&quot;y&quot;&gt;&amp;"


def test_control_characters_and_bidirectional_overrides_go_but_line_breaks_stay() -> None:
    assert escape.plain("a\x00b\x1b[1m\u202ec\u2067d\te\n") == "ab[1mcd\te\n"


@pytest.mark.parametrize(
    "hostile",
    [
        "**b** _i_ `c` ~~s~~",
        "[x](javascript:alert(1))",
        "$e=mc^2$",
        ":red[text]",
        "<img src=x onerror=a()>",
        "# heading",
        "- item",
    ],
)
def test_markdown_escapes_every_sign_that_means_something(hostile: str) -> None:
    out = escape.markdown(hostile)
    # No sign of Markdown stands without a backslash before it.
    assert not re.search(r"(?<!\\)[*_`~\[\]()$#<>:-]", out)
    assert out.replace("\\", "").replace("\u2060", "") == hostile


@pytest.mark.parametrize("replaced", [":material/home:", ":smile:", ":streamlit:", "->", "<-", "--", "<->", ">="])
def test_patterns_that_streamlit_replaces_in_parsed_text_are_broken_up(replaced: str) -> None:
    parsed = escape.markdown(f"a {replaced} b").replace("\\", "")
    assert replaced not in parsed
    assert parsed.replace("\u2060", "") == f"a {replaced} b"


@given(st.text())
def test_html_comes_back_as_the_plain_text(text: str) -> None:
    out = escape.html(text)
    assert html.unescape(out) == escape.plain(text)
    assert not set("<>\"'") & set(out)
