"""One walk through the app as a person takes it: sample, question, settings, neighbours, link."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys
from walker import Walker

pytestmark = pytest.mark.browser
QUESTION = "performance criteria for transient phenomena"


def test_a_link_opened_first_on_a_fresh_server_runs_inside_the_app(app: str, walker: Walker) -> None:
    """Streamlit would run the page's file alone. The first test of the session, so that the server has seen nobody yet."""
    walker.open(f"{app}/search?q=immunity")
    assert walker.wait_for("[data-testid=stTopNavLink], [data-testid=stSidebarNavLink]")
    assert walker.driver.title.startswith("Search")


def test_the_walk(app: str, walker: Walker) -> None:
    # Start: the sample is loaded, or is being read.
    walker.open(app)
    rows = walker.until("nine documents", lambda: len(walker.texts(".nr-documents tbody tr")) == 9)
    assert rows
    walker.click(".st-key-tour_1 button")
    walker.wait_for(".nr-result")

    # Ask with the paper's own fusion, and wait until both orders are fused.
    walker.open(f"{app}/search?preset=chunked-rrf")
    walker.ask(QUESTION)
    walker.until("the fused order", lambda: "Fusion" in walker.texts(".nr-result .nr-moves")[0])
    first = walker.new_order()
    assert len(first) == 10
    assert any("transient" in heading for heading in first[:3])

    # Move α and k: the order changes, the change is shown and stands in the address.
    walker.press(Keys.HOME, "alpha")
    smoothed = walker.new_order(first)
    assert "alpha=0" in walker.url
    assert "Smoothing α" in walker.wait_for(".nr-changes")[0]
    walker.press(Keys.HOME, "rrf_k")
    assert walker.new_order(first, smoothed)
    assert "rrf_k=1" in walker.url

    # Open a neighbour in place.
    walker.click(".nr-result .nr-neighbours summary")
    walker.click(".nr-result .nr-chip")
    opened = walker.wait_for(".nr-opened .nr-heading")
    assert len(opened) == 1
    walker.until("the neighbour in the address", lambda: "open=" in walker.url)

    # Reload the link, and leave and come back: the same page.
    before = (walker.order(), opened, walker.url)
    walker.open(walker.url)
    walker.wait_for(".nr-opened .nr-heading")
    assert (walker.order(), walker.texts(".nr-opened .nr-heading"), walker.url) == before
    walker.click("[data-testid=stTopNavLink]", "Corpus")
    walker.wait_for(".nr-documents")
    walker.click("[data-testid=stTopNavLink]", "Search")
    walker.wait_for(".nr-opened .nr-heading")
    assert (walker.order(), walker.texts(".nr-opened .nr-heading"), walker.url) == before
    assert walker.complaints() == []

    # Reset: the preset's order again.
    walker.click("button", "Reset")
    walker.until("the first order", lambda: walker.order() == first)
    assert "alpha" not in walker.url


def test_the_corpus_page_has_an_address_by_name_too(app: str, walker: Walker) -> None:
    walker.open(f"{app}/corpus")
    assert walker.wait_for("h1") == ["Corpus"]
    assert walker.driver.title.startswith("Corpus")
    assert len(walker.texts("[data-testid=stTopNavLink]")) == 5  # It stands in the menu once.
    walker.click("[data-testid=stTopNavLink]", "Corpus")
    walker.until("the address without a path", lambda: walker.url.rstrip("/") == app)


def test_back_and_forward_of_the_browser(app: str, walker: Walker) -> None:
    walker.open(f"{app}/search?q=exclusion+band")
    walker.wait_for(".nr-result")
    before = walker.new_order()
    walker.ask("supply dips")
    after = walker.new_order(before)
    walker.driver.back()
    walker.until("the first order", lambda: walker.order() == before)
    assert walker.driver.find_element("css selector", ".st-key-question input").get_attribute("value") == "exclusion band"
    walker.driver.forward()
    walker.until("the second order", lambda: walker.order() == after)


def test_a_reference_leads_to_its_clause(app: str, walker: Walker) -> None:
    walker.open(f"{app}/search")
    walker.ask("EN 399 489-1 8.2")
    assert walker.texts(".nr-opened .nr-heading") == ["8.2 Enclosure of ancillary equipment measured alone"]


def test_slash_goes_to_the_question_box_and_arrows_walk_the_results(app: str, walker: Walker) -> None:
    walker.open(f"{app}/search?q=immunity")
    walker.wait_for(".nr-result")
    press = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}))"
    focus = "return document.activeElement.getAttribute('aria-label')"
    walker.js("document.activeElement.blur()")
    walker.js(press, "ArrowDown")
    walker.js(press, "ArrowDown")
    assert walker.js(focus) == "Result 2"
    walker.js(press, "/")
    assert walker.js(focus) == "Question"
