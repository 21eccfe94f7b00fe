"""The graph in a real browser: drawn without any outside request, still on a rerun, and clicks that reach the app."""

from __future__ import annotations

from itertools import combinations

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


def click(walker: Walker, node: str, times: int = 1, shift: bool = False) -> None:
    x, y = walker.js(POINT, node)
    for count in range(1, times + 1):
        for kind in ("mousePressed", "mouseReleased"):
            event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": count, "modifiers": 8 if shift else 0}
            walker.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)


def sentence(walker: Walker, start: str) -> str:
    said = "[data-testid=graph-sentence]"
    return walker.until(start, lambda: next((t for t in walker.texts(said) if t.startswith(start)), ""))


def test_the_graph(app: str, walker: Walker) -> None:
    walker.open(app)
    walker.until("nine documents", lambda: len(walker.texts(".nr-documents tbody tr")) == 9)
    walker.open(f"{app}/graph")
    first = places(walker)
    roots = [i for i in first if i.endswith("#")]
    assert len(roots) == 9
    assert any(i.startswith("?") for i in first)
    assert "9 standards loaded" in walker.texts("[data-testid=graph-sentence]")[0]

    # Streamlit's own download of a table would write a title that begins with "=" as a formula.
    buttons = "[...document.querySelectorAll('[aria-label=\"Download as CSV\"]')]"
    walker.until("a table", lambda: walker.js(f"return {buttons}.length"))
    assert walker.js(f"return {buttons}.every(button => getComputedStyle(button).display === 'none')")

    # A click selects the unit in the app; nothing moves.
    click(walker, roots[0])
    chosen = walker.wait_for("[data-testid=graph-selected]")[0]
    assert roots[0].rsplit(" ", 1)[0] in chosen
    assert places(walker) == first

    # Opening in place adds the children and moves none of the others.
    walker.click("button", "Open in place")
    opened = walker.until("children", lambda: (now := walker.js(PLACES)) and len(now) > len(first) and now)
    assert {i: opened[i] for i in first} == first

    # So does a click with Shift, which folds them again, too.
    click(walker, roots[0], shift=True)
    walker.until("folded", lambda: walker.js(PLACES) == first)
    click(walker, roots[0], shift=True)
    walker.until("children again", lambda: walker.js(PLACES) == opened)

    # The other views, each with its sentence. A click in the tree unfolds and folds.
    walker.click("button", "Clause tree")
    assert "units shown" in sentence(walker, "The clause tree")
    tree = walker.until("the tree", lambda: (now := places(walker)) and not any(i.startswith("?") for i in now) and now)
    chapter = f"{roots[0]}5"
    click(walker, chapter)
    unfolded = walker.until("sub-clauses", lambda: (now := places(walker)) and len(now) > len(tree) and now)
    assert all(i.startswith(f"{chapter}.") for i in unfolded.keys() - tree.keys())
    click(walker, chapter)
    walker.until("the tree folded", lambda: places(walker).keys() == tree.keys())
    walker.click("button", "Matrix")
    sentence(walker, "Who cites whom")

    # A double click leads to what is around a node, and the browser's way back to where it was.
    walker.click("button", "Standards")
    walker.until("the first view", lambda: walker.js(PLACES) == opened)
    click(walker, roots[0], times=2)
    sentence(walker, f"What is around {roots[0].removesuffix('#')}")
    assert "view=neighbourhood" in walker.url
    walker.driver.back()
    walker.until("the first view again", lambda: walker.js(PLACES) == opened)
    walker.driver.forward()
    sentence(walker, "What is around")

    # A link brings the same picture in a session of its own.
    around, link = places(walker), walker.url
    walker.driver.get("about:blank")
    walker.open(link)
    sentence(walker, "What is around")
    assert places(walker) == around

    # No name covers another one.
    boxes = walker.js(FRAME + "return frames[0].written().map(label => label.box)")
    assert len(boxes) > 3
    assert not [(a, b) for a, b in combinations(boxes, 2) if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]]
    assert walker.complaints() == []
    assert walker.js(HOSTS) == [app.removeprefix("http://")]
