"""The graph picture as a component: vis-network, as pyvis ships it, with clicks that reach the script.

The library (470 kB) travels in a component of its own that is mounted outside the fragment, so a rerun of the picture sends
only its nodes. Positions come from the core and physics is off: nothing moves that the user did not move.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

_JS = Path(__file__).with_name("_network.js")


def _vis_source() -> str:
    import importlib.util

    spec = importlib.util.find_spec("pyvis")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("expected the package pyvis, which carries vis-network; found none: run make setup")
    script = Path(spec.origin).parent / "templates" / "lib" / "vis-9.1.2" / "vis-network.min.js"
    # The source map is a file that nobody serves: without this line browsers ask for it.
    return script.read_text("utf8").replace("//# sourceMappingURL=vis-network.min.js.map", "") + "\nexport default () => {};\n"


_CSS = """
.frame { position: relative; width: 100%; border: 1px solid var(--nr-line, #ccc); border-radius: 8px; overflow: hidden; }
.canvas { width: 100%; height: 100%; outline: none; }
.canvas:focus-visible { box-shadow: inset 0 0 0 2px var(--nr-accent, #0b57a4); }
.bar { position: absolute; top: 8px; right: 8px; display: flex; gap: 4px; z-index: 2; }
.bar button { font: 13px/1 system-ui, sans-serif; padding: 6px 9px; border-radius: 6px; cursor: pointer;
  border: 1px solid var(--nr-line, #ccc); background: var(--nr-card, #fff); color: var(--nr-text, #222); }
.bar button:hover, .bar button:focus-visible { border-color: var(--nr-accent, #0b57a4); }
div.vis-tooltip { position: absolute; visibility: hidden; padding: 6px 9px; max-width: 320px; white-space: pre-line; z-index: 5;
  font: 13px/1.4 system-ui, sans-serif; border-radius: 6px; pointer-events: none;
  border: 1px solid var(--nr-line, #ccc); background: var(--nr-card, #fff); color: var(--nr-text, #222); }
"""

_vis = st.components.v2.component("normrag_vis", js=_vis_source())
_network = st.components.v2.component(
    "normrag_network",
    html='<div class="frame"><div class="bar"></div><div class="canvas" tabindex="0" role="img"></div></div>',
    css=_CSS,
    js=_JS.read_text("utf8"),
)


def library() -> None:
    """Mounts vis-network; once a run, outside every fragment."""
    _vis(key="graph_vis")


def picture(data: dict[str, Any], on_click: Callable[[str, str], None], height: int = 520) -> None:
    """Shows nodes and edges; calls `on_click("select" | "unfold" | "around", node id)` before the run that a click causes.

    data: nodes, edges and how to draw them (see `_paint`), view (a change of it fits the picture into the frame), selected, fly
    (id to move to), label, colours.
    """

    def taken() -> None:
        clicked = st.session_state["graph_network"].click
        if clicked:
            on_click(str(clicked[0]), str(clicked[1]))

    _network(key="graph_network", data={**data, "height": height}, on_click_change=taken)
