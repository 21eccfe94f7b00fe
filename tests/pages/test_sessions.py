"""A session of shared mode ends when its browser stays away; the browser that comes back finds what it had."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from pages import _sessions as sessions
from pages._sessions import Connection


class Server:
    """What Streamlit's runtime says and is asked."""

    def __init__(self, active: bool) -> None:
        self.active = active
        self.closed: list[str] = []

    def is_active_session(self, session: str) -> bool:
        return self.active

    def close_session(self, session: str) -> None:
        self.closed.append(session)


@pytest.mark.parametrize(("active", "followed", "closed"), [(False, False, ["s"]), (True, False, []), (False, True, [])])
def test_a_connection_that_breaks_for_good_ends_its_session(
    active: bool, followed: bool, closed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(active)
    monkeypatch.setattr(sessions, "runtime", SimpleNamespace(exists=lambda: True, get_instance=lambda: server))
    ended: list[bool] = []

    async def breaks() -> None:
        connection = Connection("s", SimpleNamespace(end=lambda: ended.append(True)), 1.05)  # type: ignore[arg-type]
        connection.followed = followed
        connection.broke()
        assert not server.closed
        await asyncio.sleep(0.3)

    asyncio.run(breaks())
    assert server.closed == closed
    assert len(ended) == len(closed)
