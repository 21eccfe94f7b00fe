"""Local mode answers to this machine's own names only, and no address of ours is ever looked up."""

from __future__ import annotations

import pytest
from streamlit import net_util
from streamlit.web.server import server_util

from pages import _door as door


@pytest.mark.parametrize("host", ["", "127.0.0.1:8501", "localhost", "LOCALHOST:80", "localhost.:8501", "[::1]:8501"])
def test_own_names_are_let_in(host: str) -> None:
    assert door.foreign(host) == ""


@pytest.mark.parametrize(
    "host", ["evil.example:8501", "127.0.0.1.evil.example", "localhost.evil.example:80", "192.0.2.7", "127.0.0.1@evil.example"]
)
def test_a_name_of_somebody_else_that_leads_here_is_refused(host: str) -> None:
    assert "another site" in door.foreign(host)


def test_what_the_refusal_quotes_is_no_markup() -> None:
    assert "[x](" not in door.foreign("[x](y)")


def test_a_foreign_origin_is_refused_without_asking_anybody(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, timeout=0: asked.append(url))
    for name in ("get_external_ip", "get_internal_ip"):
        monkeypatch.setattr(net_util, name, getattr(net_util, name))  # Put back afterwards.
    monkeypatch.setattr(net_util, "_external_ip", None)
    door.ask_nobody()
    assert not server_util.is_url_from_allowed_origins("http://evil.example")
    assert asked == []
