"""A document full of markup, and two people on one shared server, in real browsers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import running_app
from selenium.webdriver.common.by import By
from walker import Walker

pytestmark = pytest.mark.browser
MARKUP = (
    "<script>window.pwned=1</script><img src=x onerror='window.pwned=2'> [link](javascript:window.pwned=3) $x^2$ :red[red] "
    ":material/home: :smile: **bold** <svg onload=window.pwned=4> </style> -> end"
)


def _unit_file(folder: Path) -> Path:
    def unit(key: str, parent: str | None, title: str, body: str) -> dict:
        return {
            "key": key,
            "code": key,
            "title": title,
            "kind": "clause" if key else "document",
            "parent": parent,
            "page": 1,
            "body": body,
        }

    document = {
        "document": {"id": "EN 399 666", "version": "V1.1.1", "title": MARKUP, "pages": 1, "file": f"{MARKUP}.pdf"},
        "units": [
            unit("", None, MARKUP, ""),
            unit("4", "", "Requirements", "See below."),
            unit(
                "4.1",
                "4",
                f"Transmission {MARKUP}",
                f"Transmission of telegrams {MARKUP} " + "and of many more telegrams " * 20,
            ),
            unit("4.2", "4", "Timing :red[x] $y$ :material/home: <b>z</b>", "and of many more telegrams " * 20),
        ],
        "report": {"findings": [{"kind": "odd", "page": 1, "text": MARKUP, "severity": "warning"}]},
    }
    path = folder / "hostile.json"
    path.write_text(json.dumps(document), "utf8")
    return path


def test_text_of_a_document_stays_text_everywhere(tmp_path: Path, new_walker: Callable[[], Walker]) -> None:
    with running_app(tmp_path, NORMRAG_SHARED="1", NORMRAG_CORPUS=str(tmp_path / "none")) as url:
        mine, other = new_walker(), new_walker()
        mine.open(url)
        mine.driver.find_element(By.CSS_SELECTOR, "input[type=file]").send_keys(str(_unit_file(tmp_path)))
        row = mine.until("the document", lambda: mine.texts(".nr-documents tbody tr"))[0]
        assert MARKUP in row
        _press(mine, ".nr-documents [data-nr=report]")
        assert MARKUP in mine.wait_for(".nr-report .nr-scrollbox")[0]

        # Its own title made into a question to click, the filter's options, the result and its neighbours.
        mine.click("[data-testid=stTopNavLink]", "Search")
        example = mine.wait_for(".st-key-examples button")[0]
        assert "timing :red[x] $y$ :material/home: <b>z</b>" in example.replace("\u2060", "")
        mine.ask("telegrams transmission")
        card = mine.texts(".nr-result")[0]
        assert f"4.1 Transmission {MARKUP}" in card
        mine.click(".nr-result .nr-neighbours summary")
        mine.click("[data-testid=stPopover] button", "All documents")
        mine.until("the filter", lambda: mine.texts(".st-key-documents"))
        assert mine.js("return window.pwned") is None
        assert mine.js("return document.querySelectorAll('.nr-card script, .nr-card img').length") == 0
        links = mine.js("return [...document.querySelectorAll('.nr-card a')].map(a => [a.innerText, a.pathname, a.origin])")
        assert {tuple(link) for link in links} == {("Read", "/read", mine.js("return location.origin"))}
        assert mine.complaints() == []

        # The other session has the same server and none of this.
        other.open(f"{mine.url}")
        other.wait_for(".nr-empty")
        other.click("[data-testid=stTopNavLink]", "Corpus")
        other.wait_for(".nr-empty")
        assert not other.texts(".nr-documents")

        # Deleting everything is one confirmed click.
        mine.open(url)
        mine.driver.find_element(By.CSS_SELECTOR, "input[type=file]").send_keys(str(_unit_file(tmp_path)))
        mine.wait_for(".nr-documents")
        _press(mine, ".st-key-clearing button", "Delete everything")
        mine.wait_for(".st-key-really_delete")
        # Vectors that are made meanwhile do not close the dialog: the page waits with showing them.
        mine.until("the vectors", lambda: not mine.texts(".st-key-progress .nr-progress"))
        assert mine.texts(".st-key-really_delete")
        mine.click(".st-key-really_delete button")
        mine.wait_for(".nr-empty")


def _press(walker: Walker, selector: str, text: str = "") -> None:
    """Clicks without a pointer: the list of files and vectors above moves the page just after an upload."""
    walker.wait_for(selector)
    walker.js(
        "[...document.querySelectorAll(arguments[0])].find(e => e.innerText.includes(arguments[1])).click()", selector, text
    )
    walker.settled()
