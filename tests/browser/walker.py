"""What a person does with the app, in steps that wait for what they expect and never for a fixed time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

T = TypeVar("T")
PATIENCE = 45.0


class Walker:
    """A browser with the app in it."""

    def __init__(self, driver: WebDriver) -> None:
        self.driver = driver

    def until(self, what: str, test: Callable[[], T], patience: float = PATIENCE) -> T:
        """The first true answer of the test; fails with `what` and the text of the page."""
        waiting = WebDriverWait(self.driver, patience, poll_frequency=0.1, ignored_exceptions=[StaleElementReferenceException])
        try:
            return waiting.until(lambda _: test())
        except TimeoutException:
            seen = self.js("return document.body.innerText")
            raise AssertionError(f"waited {patience:g} s for {what} at {self.url}; the page says:\n{seen}") from None

    def js(self, script: str, *args: Any) -> Any:
        return self.driver.execute_script(script, *args)

    @property
    def url(self) -> str:
        return self.driver.current_url

    def open(self, url: str) -> None:
        self.driver.get(url)
        self.settled()

    def settled(self) -> None:
        """Waits until no run of the script is under way and no element is still being loaded."""
        self.until(
            "the end of the run",
            lambda: self.js(
                "const app = document.querySelector('.stApp');"
                "return app && app.dataset.testScriptState === 'notRunning'"
                " && !document.querySelector('[data-testid*=keleton]')"
            ),
        )

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.js("return [...document.querySelectorAll(arguments[0])].map(e => e.innerText)", selector)
        return found

    def wait_for(self, selector: str) -> list[str]:
        """Texts of all elements that the selector names, once there is one."""
        return self.until(f"an element {selector}", lambda: self.texts(selector))

    def click(self, selector: str, text: str = "") -> None:
        """Clicks the first visible element with this text in it."""

        def clicked() -> bool:
            for element in self.driver.find_elements(By.CSS_SELECTOR, selector):
                if element.is_displayed() and text in element.text:
                    self.js("arguments[0].scrollIntoView({block: 'center'})", element)
                    element.click()
                    return True
            return False

        self.until(f"something to click, {selector} {text!r}", clicked)
        self.settled()

    def ask(self, question: str) -> None:
        """Types a question and waits for its answer."""
        box = self.until("the question box", lambda: self.driver.find_element(By.CSS_SELECTOR, ".st-key-question input"))
        box.send_keys(Keys.CONTROL, "a")
        box.send_keys(question, Keys.ENTER)
        self.until("the question in the address", lambda: self.asked() == question)
        self.settled()
        self.wait_for(".nr-result")

    def asked(self) -> str:
        """The question in the address."""
        return parse_qs(urlsplit(self.url).query).get("q", [""])[0]

    def press(self, key: str, setting: str, *keys: str) -> None:
        """Presses keys on the slider of a setting."""
        thumb = self.until(
            f"the slider {setting}",
            lambda: self.driver.find_element(By.CSS_SELECTOR, f".st-key-w_{setting} input[type=range]"),
        )
        thumb.send_keys(key, *keys)
        self.until(f"{setting} in the address", lambda: f"{setting}=" in self.url)
        self.settled()

    def order(self) -> list[str]:
        """Document and clause of each result, in order."""
        found: list[str] = self.js(
            "return [...document.querySelectorAll('.nr-result')].map(card =>"
            " card.querySelector('.nr-small > b').innerText + ' ' + card.querySelector('.nr-heading').innerText)"
        )
        return found

    def new_order(self, *old: list[str]) -> list[str]:
        """An order that is none of the old ones, once it has stood still: cards are replaced one after the other."""
        seen: list[list[str]] = []

        def still() -> list[str] | None:
            seen.append(self.order())
            last = seen[-5:]
            return last[0] if len(last) == 5 and all(o == last[0] for o in last) and last[0] not in old else None

        return self.until("another order", still) or []

    def complaints(self) -> list[str]:
        """What the browser's console calls severe, but for Streamlit's own probing of paths."""
        log = self.driver.get_log("browser")  # type: ignore[attr-defined]
        return [e["message"] for e in log if e["level"] == "SEVERE" and "_stcore/" not in e["message"]]
