"""The Evaluate page as a researcher uses it: a run and a reload in its midst, a question looked into, a sweep put to use."""

from __future__ import annotations

import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from walker import Walker

pytestmark = pytest.mark.browser
TEXT = "return document.body.innerText"


def text(walker: Walker) -> str:
    found: str = walker.js(TEXT)
    return found


def choose(walker: Walker, label: str, option: str) -> None:
    """Chooses an option of the select box with this label by typing."""
    where = f"input[role=combobox][aria-label='{label}']"
    box = walker.until(label, lambda: walker.driver.find_element(By.CSS_SELECTOR, where))
    walker.js("arguments[0].scrollIntoView({block: 'center'})", box)
    box.click()
    box.send_keys(option)
    walker.click("[role=option]", option)


def test_a_run_survives_a_reload_and_each_question_can_be_followed(app: str, walker: Walker) -> None:
    walker.open(app)
    walker.until("nine documents", lambda: len(walker.texts(".nr-documents tbody tr")) == 9)
    walker.open(f"{app}/evaluate")
    walker.until("the sample's questions", lambda: "questions:" in text(walker))
    walker.click("[data-testid=stMainBlockContainer] button[kind=primary]", "Run")
    walker.until("the work", lambda: "Cancel" in text(walker) or "Question by question" in text(walker))
    walker.open(f"{app}/evaluate")
    walker.until("the run", lambda: "Question by question" in text(walker))
    walker.until("the end of the work", lambda: "Cancel" not in text(walker))
    walker.settled()
    said = text(walker)
    assert "Of 9 configurations" in said
    assert "after Holm's correction for 9 comparisons" in said
    walker.click("[role=tab]", "Contribution of each module")
    walker.until("the ladder in words", lambda: "BM25 prefilter:" in text(walker))

    # The canvas of the table cannot be read; its boxes to tick are where they are drawn.
    where = ".st-key-evaluate_questions [data-testid=stDataFrame]"
    table = walker.until("questions", lambda: walker.driver.find_element(By.CSS_SELECTOR, where))
    walker.js("arguments[0].scrollIntoView({block: 'center'})", table)
    walker.settled()
    across, down = -table.size["width"] / 2 + 15, -table.size["height"] / 2 + 52
    ActionChains(walker.driver).move_to_element_with_offset(table, int(across), int(down)).click().perform()
    walker.until("the way through the stages", lambda: "Its rank after each stage" in text(walker))
    walker.click("button", "See why on the Search page with tuned")
    walker.wait_for(".nr-result")
    assert "preset=tuned" in walker.url or "tuned" in text(walker)
    walker.until("the question in the address", walker.asked)


def test_a_hundred_settings_are_tried_and_the_best_is_put_to_use(app: str, walker: Walker) -> None:
    walker.open(f"{app}/evaluate")
    walker.click("[role=tab]", "Sweep")
    choose(walker, "Columns", "dense_weight")
    choose(walker, "And", "name_weight")
    walker.click("button", "Try 100 settings")
    walker.until("the heat map", lambda: "Use this setting on the Search page" in text(walker), patience=120)
    walker.settled()
    said = text(walker)
    assert "Best of 100 settings by R@10" in said
    assert "Nested cross-validation" in said
    assert walker.texts("[data-testid=stVegaLiteChart]")
    chosen = said.split("Best of 100 settings by R@10: ")[1].split(",")[0].removeprefix("alpha ")
    walker.click("button", "Use this setting on the Search page")
    box = walker.until("the question box", lambda: walker.driver.find_element(By.CSS_SELECTOR, ".st-key-question input"))
    box.send_keys("exclusion band", Keys.ENTER)
    walker.wait_for(".nr-result")
    assert walker.until(
        "the setting in the address", lambda: f"alpha={chosen}" in walker.url or f"{float(chosen):g}" in walker.url
    )
