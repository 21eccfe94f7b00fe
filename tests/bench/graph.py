"""The Graph page in a real Chromium, over the standards there are and over a generated corpus of 50,000 units."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from normrag_core.graph import Graph, analysis, export
from normrag_core.model import Corpus, ParsedDocument
from tests.bench import material
from tests.bench.app import STATE, browser, prepared, serving
from tests.bench.generated import corpus
from tests.bench.table import Row, Section, seconds

UNITS, CITATIONS, DOCUMENTS = 50_000, 200_000, 50
VIEWS = {
    "Clause tree": "The clause tree",
    "Around a clause": "What is around",
    "Matrix": "Who cites whom",
    "Standards": "Which standard cites which",
}
TABLES = {
    "Most cited": ".st-key-graph_cited",
    "Cited standards": ".st-key-graph_documents_table",
    "Broken references": ".st-key-graph_broken",
    "Not loaded": ".st-key-graph_missing",
    "Never cited": ".st-key-graph_quiet",
    "Circles": ".st-key-graph_circles",
    "Export": ".stDownloadButton",
}
NETWORK = """
const roots = [...document.querySelectorAll('*')].map(e => e.shadowRoot).filter(root => root);
const frame = roots.map(root => root.querySelector('.frame')).find(frame => frame && frame.network);
const network = frame ? frame.network : null;
"""
# The picture names what it shows; the matrix is no such picture and has its sentence only.
DRAWN = f"""{NETWORK} const label = frame ? frame.querySelector('.canvas').getAttribute('aria-label') : '';
return !!network && network.body.nodeIndices.length > 0 && label.startsWith(arguments[0]);"""
POINT = f"""{NETWORK} frame.scrollIntoView({{ block: 'center' }});
const box = frame.querySelector('.canvas').getBoundingClientRect(), node = network.body.nodeIndices[0];
const at = network.canvasToDOM(network.getPositions([node])[node]); return [box.left + at.x, box.top + at.y];"""
MATRIX = ".st-key-graph_matrix canvas, .st-key-graph_matrix svg"
SAYS = f"""const said = document.querySelector('[data-testid=graph-sentence]');
return !!said && said.innerText.startsWith(arguments[0])
  && !!document.querySelector('{MATRIX}');"""
CLICK = "[...document.querySelectorAll('button')].find(b => b.innerText === arguments[0]).click()"
LONGEST = """window.blocked = [];
const watch = new PerformanceObserver(list => window.blocked.push(...list.getEntries().map(e => e.duration)));
watch.observe({ type: 'longtask', buffered: true });"""


def graph(full: bool) -> Section:
    """Time to a picture that can be used, from a click to a neighbourhood, of each view and table; memory; exports."""
    with tempfile.TemporaryDirectory() as folder, browser() as driver:
        real_copy, size = Path(folder) / "real", Path(folder) / "generated"
        shutil.copytree(prepared(), real_copy)  # the walk leaves things behind
        made = generated(size)
        real, large = (_walk(driver, path) for path in (real_copy, size))
    exports = {name: seconds(make) for name, make in _exports(made).items()}
    targets = {"open the page: standards view can be used": 2.0, "from a double click to the neighbourhood": 1.0}
    names = (material.name(), f"{UNITS:,} units")
    rows = []
    for name in real:
        most = targets.get(name)
        shown = [f"{value:.2f} s" if isinstance(value, float) else value for value in (real[name], large[name])]
        met = None if most is None else bool(real[name] <= most)
        rows.append(Row(name, "; ".join(shown), target=f"≤ {most:.0f} s on {names[0]}" if most else "", met=met))
    rows += [Row(f"{name} of {UNITS:,} units", f"{spent:.1f} s") for name, spent in exports.items()]
    return Section(
        "Graph page in the browser",
        f"First figure: {names[0]}; second: {UNITS:,} generated units in {DOCUMENTS} standards with {CITATIONS:,} citations. "
        "Chromium at laptop size; a time ends when the picture is drawn and the app is idle.",
        tuple(rows),
    )


def generated(folder: Path) -> Corpus:
    """A workspace with the generated corpus; what shall lead nowhere names a clause or an edition that is not there."""
    from normrag_core.storage import Workspace

    made, workspace = corpus(DOCUMENTS, UNITS, CITATIONS), Workspace(folder)
    wrong: dict[str, dict[str, str]] = {"missing-clause": {"code": "Z.9"}, "version-mismatch": {"edition": "V9.9.9"}}
    by_document: dict[str, list[Any]] = {d.key: [] for d in made.documents}
    for citation in made.citations:
        by_document[made.by_id[citation.source].document].append(replace(citation, **wrong.get(citation.state, {})))
    for document in made.documents:
        parsed = ParsedDocument(document, tuple(made.units_of(document.key)), tuple(by_document[document.key]))
        workspace.add(parsed)
    workspace.remember("sample", "removed")
    return made


def _walk(driver: Any, workspace: Path) -> dict[str, float | str]:
    """What a person does with the page, step by step: step → seconds, or words."""
    out: dict[str, float | str] = {}
    settings = {"NORMRAG_WORKSPACE": str(workspace), "NORMRAG_MODEL": "hash"}
    with serving(material.ROOT / "app.py", settings) as url:
        driver.get(url)
        _until(driver, "return document.querySelectorAll('.nr-documents tbody tr').length > 0")
        opened = [_timed(driver, lambda: driver.get(f"{url}/graph"), DRAWN, VIEWS["Standards"]) for _ in range(4)]
        driver.execute_script(LONGEST)
        out["open the page, first time after the start"] = opened[0]
        out["open the page: standards view can be used"] = statistics.median(opened[1:])
        near = []
        for _ in range(3):
            near.append(_timed(driver, lambda: _double_click(driver), DRAWN, VIEWS["Around a clause"]))
            _timed(driver, lambda: driver.execute_script(CLICK, "Standards"), DRAWN, VIEWS["Standards"])
        out["from a double click to the neighbourhood"] = statistics.median(near)
        for view, words in VIEWS.items():
            out[f"view {view}"] = _timed(
                driver, lambda v=view: driver.execute_script(CLICK, v), SAYS if view == "Matrix" else DRAWN, words
            )  # type: ignore[misc]
        there = "return !!document.querySelector(arguments[0])"
        spent = {
            name: _timed(driver, lambda n=name: driver.execute_script(CLICK, n), there, mark)  # type: ignore[misc]
            for name, mark in TABLES.items()
        }
        slowest = max(spent, key=lambda t: spent[t])
        out[f"slowest of {len(TABLES)} tables"] = f"{spent[slowest]:.2f} s ({slowest})"
        longest = max(driver.execute_script("return window.blocked"), default=0) / 1000
        out["longest time the browser's main thread was busy"] = float(longest)
        out["memory"] = _memory(driver, url)
    return out


def _timed(driver: Any, act: Callable[[], object], until: str, *args: Any) -> float:
    """Seconds from an action until the script answers and the app is idle."""
    began = time.monotonic()
    act()
    _until(driver, until, *args)
    _until(driver, STATE)
    return time.monotonic() - began


def _until(driver: Any, script: str, *args: Any, patience: float = 120.0) -> None:
    end = time.monotonic() + patience
    while not driver.execute_script(script, *args):
        if time.monotonic() > end:
            raise TimeoutError(f"waited {patience:g} s for: {script} {args}")
        time.sleep(0.01)


def _double_click(driver: Any) -> None:
    """On the most important node of the picture."""
    x, y = driver.execute_script(POINT)
    for count in (1, 2):
        for kind in ("mousePressed", "mouseReleased"):
            event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": count}
            driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)


def _memory(driver: Any, url: str) -> str:
    """Heap of the page after a collection, and resident memory of its process and of the server."""
    driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    driver.execute_cdp_cmd("Performance.enable", {})
    metrics = {m["name"]: m["value"] for m in driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}
    resident: dict[str, int] = {"--type=renderer": 0, url.rpartition(":")[2]: 0}
    for process in psutil.Process().children(recursive=True):
        for mark in resident:
            if mark in process.cmdline():
                resident[mark] = max(resident[mark], process.memory_info().rss)
    page, server = (round(n / 1e6) for n in resident.values())
    return f"page: heap {metrics['JSHeapUsedSize'] / 1e6:.0f} MB, process {page} MB; server {server} MB"


def _exports(made: Corpus) -> dict[str, Callable[[], object]]:
    large = Graph.of(made)
    return {
        "GraphML": lambda: export.to_graphml(large),
        "GEXF": lambda: export.to_gexf(large),
        "JSON": lambda: export.to_json(large),
        "CSV with sentences": lambda: export.citations_csv(made),
        "betweenness (sampled)": lambda: analysis.centrality(large.table, "betweenness"),
    }
