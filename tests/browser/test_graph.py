"""The graph in a real browser: drawn without any outside request, still on a rerun, and clicks that reach the app."""

from __future__ import annotations

import pytest
from walker import Walker

pytestmark = pytest.mark.browser

FRAME = """
const roots = [...document.querySelectorAll('*')].map(e => e.shadowRoot).filter(root => root);
const frames = roots.map(root => root.querySelector('.frame')).filter(frame => frame && frame.network);
const network = frames.length ? frames[0].network : null;
"""
PLACES = FRAME + "return network && network.body.data.nodes.length ? network.getPositions() : null"
POINT = (
    FRAME
    + """
frames[0].scrollIntoView({ block: 'center' });
const box = frames[0].querySelector('.canvas').getBoundingClientRect();
const at = network.canvasToDOM(network.getPositions([arguments[0]])[arguments[0]]);
return [box.left + at.x, box.top + at.y];
"""
)
HOSTS = """
const urls = performance.getEntriesByType('resource').map(entry => new URL(entry.name));
return [...new Set(urls.filter(url => url.host).map(url => url.host))];
"""


def places(walker: Walker) -> dict[str, dict[str, float]]:
    return walker.until("the picture", lambda: walker.js(PLACES))


def click(walker: Walker, node: str, times: int = 1) -> None:
    x, y = walker.js(POINT, node)
    for count in range(1, times + 1):
        for kind in ("mousePressed", "mouseReleased"):
            event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": count}
            walker.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)


def test_the_graph(app: str, walker: Walker) -> None:
    walker.open(app)
    walker.until("nine documents", lambda: len(walker.texts(".nr-documents tbody tr")) == 9)
    walker.open(f"{app}/graph")
    first = places(walker)
    roots = [i for i in first if i.endswith("#")]
    assert len(roots) == 9
    assert any(i.startswith("?") for i in first)
    assert "9 standards loaded" in walker.texts("[data-testid=graph-sentence]")[0]

    # A click selects the unit in the app; nothing moves.
    click(walker, roots[0])
    chosen = walker.wait_for("[data-testid=graph-selected]")[0]
    assert roots[0].rsplit(" ", 1)[0] in chosen
    assert places(walker) == first

    # Opening in place adds the children and moves none of the others.
    walker.click("button", "Open in place")
    opened = walker.until("children", lambda: (now := walker.js(PLACES)) and len(now) > len(first) and now)
    assert {i: opened[i] for i in first} == first

    # A double click on a node leads into it: here the children are folded again.
    walker.click("button", "Fold all")
    walker.until("folded", lambda: walker.js(PLACES) == first)
    click(walker, roots[0], times=2)
    walker.until("children again", lambda: walker.js(PLACES) == opened)

    # The other views, each with its sentence.
    for name, words in (
        ("Clause tree", "units shown"),
        ("Around a clause", "What is around"),
        ("Matrix", "Who cites whom"),
    ):
        walker.click("button", name)
        walker.until(name, lambda w=words: w in walker.texts("[data-testid=graph-sentence]")[0])

    # The same picture after leaving and coming back.
    walker.click("button", "Standards")
    walker.until("the first view", lambda: walker.js(PLACES) == opened)
    assert walker.complaints() == []
    assert walker.js(HOSTS) == [app.removeprefix("http://")]
