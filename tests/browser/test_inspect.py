"""From a question to the line on the page, to the clause it refers to, and back; and why a clause is ranked where it is."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from selenium.webdriver.common.keys import Keys
from walker import Walker

pytestmark = pytest.mark.browser
DATA = Path(__file__).resolve().parent.parent.parent / "data"
QUESTION = "Which level of the radio frequency field is applied, 3 V/m or 10 V/m?"
TARGET = "EN 399 489-1 V2.2.3 9.2.2"
PAGE = (595.0, 842.0)


def _truth(unit: str) -> dict[str, Any]:
    """What the generator of the sample knows of the first line of a clause."""
    documents = json.loads((DATA / "make" / "truth.json").read_text("utf8"))
    lines = next(d for d in documents if d["document"]["id"] == "EN 399 489-1")["lines"]
    return next(line for line in lines if line["unit"] == unit)


def _boxes(walker: Walker, kind: str) -> list[tuple[float, float, float, float]]:
    """Marks on the page picture in points: what their shares of the drawn picture are on the page."""
    shares = walker.js(
        "const page = document.querySelector('[data-testid=sheet] img').getBoundingClientRect();"
        "const share = (b) => [(b.left - page.left) / page.width, (b.top - page.top) / page.height,"
        "  (b.right - page.left) / page.width, (b.bottom - page.top) / page.height];"
        "const marks = document.querySelectorAll('[data-testid=sheet] i.' + arguments[0]);"
        "return [...marks].map(e => share(e.getBoundingClientRect()))",
        kind,
    )
    return [(x0 * PAGE[0], y0 * PAGE[1], x1 * PAGE[0], y1 * PAGE[1]) for x0, y0, x1, y1 in shares]


def _covers(box: tuple[float, float, float, float], printed: list[float]) -> bool:
    """Whether a mark lies on a printed line: as wide, and no higher than a line's ascenders and descenders make it."""
    x0, y0, x1, y1 = printed
    return abs(box[0] - x0) < 1.5 and abs(box[2] - x1) < 1.5 and y0 - 4 < box[1] <= y0 + 1 and y1 - 1 <= box[3] < y1 + 4


def _press(walker: Walker, card: str, button: str) -> None:
    """Presses a button of the result whose document and heading start so."""

    def pressed() -> bool:
        return bool(
            walker.js(
                "for (const c of document.querySelectorAll('.nr-result')) {"
                "  const name = c.querySelector('b').innerText + ' ' + c.querySelector('.nr-heading').innerText;"
                "  if (!name.startsWith(arguments[0])) continue;"
                "  const b = [...c.querySelectorAll('.nr-link')].find(e => e.innerText === arguments[1]);"
                "  b.scrollIntoView({block: 'center'}); b.click(); return true; }",
                card,
                button,
            )
        )

    walker.until(f"the result {card}", pressed)
    walker.settled()


def _ask(app: str, walker: Walker, more: str = "&preset=bm25") -> None:
    walker.open(app)
    walker.until("nine documents", lambda: len(walker.texts(".nr-documents tbody tr")) == 9)
    walker.open(f"{app}/search?q={quote(QUESTION)}{more}")
    walker.wait_for(".nr-result")
    # Clicks count once the listeners are there.
    walker.settled()


def _title(walker: Walker, begins: str) -> None:
    walker.until(
        f"the clause {begins}",
        lambda: walker.texts("[data-testid=read-title]")[:1] and walker.texts("[data-testid=read-title]")[0].startswith(begins),
    )


def test_from_a_question_to_the_line_on_the_page_and_through_a_reference_and_back(app: str, walker: Walker) -> None:
    _ask(app, walker)
    _press(walker, TARGET, "Inspect")
    walker.wait_for("[data-testid=sheet]")
    truth = _truth("9.2.2")
    assert walker.wait_for("[data-testid=sheet-page]")[0].startswith(f"page {truth['page']} of ")

    # The first line of the clause is marked where the generator printed it, and the nearest sentence lies among the marks.
    lines = walker.until("marks on the page", lambda: _boxes(walker, "nr-line"))
    assert any(_covers(box, truth["rect"]) for box in lines), (truth["rect"], lines)
    near = _boxes(walker, "nr-near")
    assert near
    for _, top, _, bottom in near:
        assert any(y0 - 1.5 <= top and bottom <= y1 + 1.5 for _, y0, _, y1 in lines)
    assert "3 V/m" in walker.texts("[data-testid=nearest] q")[0]
    # Page on, page back.
    walker.click(".st-key-inspect_on button")
    walker.until("the page after", lambda: walker.texts("[data-testid=sheet-page]")[0].startswith(f"page {truth['page'] + 1} "))

    walker.until("what is inspected in the address", lambda: "inspect=" in walker.url)
    inspected, steps = walker.url, walker.js("return history.length")
    _press(walker, TARGET, "Read")
    _title(walker, "9.2.2")
    assert walker.js("return history.length") == steps + 1
    walker.click(".nr-read a.nr-ref", "clause 4.3")
    _title(walker, "4.3")
    assert walker.url.endswith(quote("EN 399 489-1 V2.2.3#4.3").replace("%20", "+"))
    walker.driver.back()
    _title(walker, "9.2.2")
    walker.driver.forward()
    _title(walker, "4.3")
    walker.driver.back()
    _title(walker, "9.2.2")
    walker.driver.back()
    walker.wait_for(".nr-result")
    walker.until("the same page as before", lambda: walker.url == inspected and walker.texts("[data-testid=sheet]"))
    # The link alone brings the inspector back.
    walker.open(inspected)
    walker.wait_for("[data-testid=sheet]")
    assert walker.complaints() == []


def test_the_rank_is_worked_out_in_figures_that_add_up(app: str, walker: Walker) -> None:
    _ask(app, walker, "&preset=chunked-rrf")
    walker.until("the fused order", lambda: "Fusion" in walker.texts(".nr-result .nr-moves")[0])
    _press(walker, TARGET, "Inspect")
    walker.click(".st-key-inspector button", "Why this rank")
    sum_line = walker.wait_for("[data-testid=rrf]")[0]
    ranks = [int(n) for n in re.findall(r"\(60 \+ (\d+)\)", sum_line)]
    total = float(sum_line.rsplit("=", 1)[1])
    assert len(ranks) == 2
    assert total == pytest.approx(sum(1 / (60 + r) for r in ranks), abs=1e-5)
    shares = walker.js(
        "return [...document.querySelectorAll('[data-stage=bm25] tr')].map(r => parseFloat(r.lastElementChild.innerText))"
    )[1:]
    assert sum(shares[:-1]) == pytest.approx(shares[-1], abs=0.0006 * len(shares))
    walker.click(".st-key-search_tools button", "Movement")
    walker.wait_for(".st-key-tool_moves canvas, .st-key-tool_moves svg")
    assert walker.complaints() == []


def test_compare_why_not_history_and_export(app: str, walker: Walker, tmp_path: Path) -> None:
    _ask(app, walker)
    walker.click(".st-key-search_tools button", "Compare")
    said = walker.wait_for("[data-testid=compare-summary]")[0]
    moved, new, lost, same = map(int, re.findall(r"\d+", said))
    left, right = walker.js("return [...document.querySelectorAll('.nr-sides')].map(s => s.children.length)")
    assert (moved + new + same, moved + lost + same) == (right, left)
    assert len([t for t in walker.texts(".nr-sides .nr-badge") if t.startswith("new")]) == new

    # A clause that is no result: the stage where it fell out, and a remedy that brings it in.
    walker.click(".st-key-search_tools button", "Why not?")
    box = walker.until("the clause box", lambda: walker.driver.find_elements("css selector", ".st-key-w_why_not_unit input"))[0]
    box.send_keys("History", Keys.ENTER)
    walker.settled()
    verdict = walker.wait_for("[data-testid=why-not]")[0]
    assert "fell out" in verdict or "final ranking" in verdict
    if walker.texts(".st-key-remedies button"):
        wanted = int(re.findall(r"result (\d+)", walker.texts(".st-key-remedies button")[0])[0])
        walker.click(".st-key-remedies button")
        walker.until(
            "the clause among the results", lambda: f"It is result {wanted}" in walker.texts("[data-testid=why-not]")[0]
        )

    walker.click(".st-key-search_tools button", "History")
    walker.until("this session's questions", lambda: walker.texts(".st-key-history button"))
    walker.click(".st-key-search_tools button", "Answer")
    assert walker.wait_for("[data-testid=answer] li")
    walker.click(".st-key-search_tools button", "Export")
    walker.until("four files", lambda: len(walker.texts(".st-key-tool_export [data-testid=stDownloadButton]")) == 4)
    walker.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})  # type: ignore[attr-defined]
    walker.click(".st-key-tool_export button", "CSV")
    file = walker.until("the file", lambda: next(tmp_path.glob("*.csv"), None))
    rows = list(csv.DictReader(io.StringIO(file.read_text("utf8"))))
    assert [int(r["rank"]) for r in rows] == list(range(1, len(rows) + 1))
    assert rows[0]["link"].startswith(f"{app.replace('127.0.0.1', urlsplit(walker.url).hostname or '')}/read?unit=")
    walker.open(rows[0]["link"])
    _title(walker, f"{rows[0]['clause']} ")
    assert walker.complaints() == []
