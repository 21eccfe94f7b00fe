"""Nothing from a document becomes code, sessions stay apart, nothing leaves the machine: seen in a real browser."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pymupdf
import pytest
from conftest import running_app  # type: ignore[attr-defined]
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from walker import Walker

from normrag_core.codec import from_object
from normrag_core.config import PRESETS
from normrag_core.graph import export, views
from normrag_core.graph.table import CitationTable
from normrag_core.model import Corpus
from normrag_core.results_export import to_csv, to_html
from normrag_core.retriever import Retriever
from normrag_core.storage import Workspace

pytestmark = pytest.mark.browser

HTML = (
    "<script>window.__pwned=1</script><img src=x onerror=window.__pwned=2><svg onload=window.__pwned=3></svg>"
    "<iframe srcdoc='<script>top.__pwned=4</script>'></iframe><a href='javascript:window.__pwned=5'>go</a></script>"
)
MARKUP = "[tick](javascript:window.__pwned=6) $x^2$ :material/home: :red[loud] **bold** -> `code`"
HOSTILE = f"{HTML} {MARKUP} \u202egpj.exe\u202c \x07"
SECRET = "zweihundertsiebzehn"  # A word that only the document has, to look for afterwards.
KEY = "sk-do-not-write-me-down"

# All that a payload would become, in the page, in shadow roots and in frames.
FOUND = r"""
const roots = [];
const walk = (root) => {
  roots.push(root);
  for (const element of root.querySelectorAll('*')) {
    if (element.shadowRoot) walk(element.shadowRoot);
    if (element.tagName === 'IFRAME' && element.contentDocument) walk(element.contentDocument);
  }
};
walk(document);
const bad = [];
if (window.__pwned !== undefined) bad.push('ran: ' + window.__pwned);
for (const root of roots) {
  for (const element of root.querySelectorAll('*')) {
    const names = element.getAttributeNames();
    if (names.some((name) => /^on(error|load)$/.test(name))) bad.push(element.outerHTML.slice(0, 200));
    for (const name of ['href', 'src', 'action', 'data'])
      if (/^\s*(javascript|data:text)/.test(element.getAttribute(name) || '')) bad.push(element.outerHTML.slice(0, 200));
    if (element.matches('[src=x], [srcdoc]'))
      bad.push(element.outerHTML.slice(0, 200));
    if (element.tagName === 'SCRIPT' && element.textContent.includes('__pwned=')) bad.push('script in the page');
    if (element.matches('.katex, math, .stMarkdownColoredText')) bad.push(element.outerHTML.slice(0, 200));
    if (element.matches('[data-testid=stIconMaterial]') && element.textContent === 'home') bad.push('icon from a document');
    if (element.matches('strong, b') && element.textContent === 'bold') bad.push('bold from a document');
  }
  const text = root.body ? root.body.innerText : root.textContent;
  if (/[\x00-\x08\x0e-\x1f\u202a-\u202e\u2066-\u2069]/.test(text)) bad.push('control character shown');
}
return bad;
"""
HOSTS = """
return [...new Set(performance.getEntriesByType('resource').map(e => new URL(e.name)).filter(u => u.host).map(u => u.host))];
"""


def units() -> dict:
    """A standard in unit JSON with the payload wherever a text may stand."""
    body = f"The mast shall stand. {HOSTILE} See clause 2. {SECRET}\n| {HOSTILE.replace('|', ' ')} | b |\n| =1+1 | d |"
    return {
        "document": {
            "id": "EN 399 901", "version": "V1.1.1", "date": "2020-01", "title": HOSTILE, "pages": 3, "file": HOSTILE,
            "references": [
                {"label": "1", "text": HOSTILE, "document": "EN 399 902", "version": HOSTILE, "title": HOSTILE, "page": 1}
            ],
            "terms": [{"term": HOSTILE, "text": HOSTILE, "kind": "definition", "unit": "1", "page": 1}],
        },
        "units": [
            {"key": "1", "code": "1", "title": f"Mast {HOSTILE}", "kind": "clause", "parent": "", "page": 1, "body": body},
            {"key": "1.1", "code": "1.1", "title": HOSTILE, "kind": "clause", "parent": "1", "page": 1,
             "body": f"Mast. {HOSTILE}"},
            {"key": "2", "code": "2", "title": "=1+1", "kind": "clause", "parent": "", "page": 2,
             "body": "=cmd|' /C calc'!A0 mast"},
            {"key": f"{HTML} {MARKUP}", "code": HOSTILE, "title": HOSTILE, "kind": "heading", "parent": "", "page": 3,
             "body": "Mast"},
        ],
        "citations": [
            {"source": "1", "page": 1, "text": HOSTILE, "context": HOSTILE, "document": "EN 399 901", "target": "2",
             "state": "resolved"},
            {"source": "1", "page": 1, "text": "=1+1", "context": "=1+1", "document": HOSTILE, "target": HOSTILE,
             "state": "not-loaded"},
            {"source": "2", "page": 1, "text": "@a", "context": "+1", "document": "EN 399 901", "target": "1",
             "state": "resolved"},
        ],
        "report": {"counts": {HOSTILE: 3}, "findings": [{"kind": HOSTILE, "page": 1, "text": HOSTILE, "severity": "warning"}]},
    }  # fmt: skip


def pdf(text: str, number: str = "399 903") -> bytes:
    """A small standard with the text as title, headings, bookmarks and body."""
    document = pymupdf.open()
    shown = "".join(c for c in text if c.isprintable() and ord(c) < 127)
    document.set_metadata({"title": f"ETSI EN {number} {shown}", "subject": shown})
    toc = []
    for clause in range(1, 4):
        page = document.new_page()
        page.insert_text((72, 40), f"{clause}          ETSI EN {number} V1.1.1 (2020-01)", fontsize=9)
        page.insert_text((72, 100), f"{clause}    Mast {shown[:60]}", fontsize=16, fontname="hebo")
        page.insert_textbox((72, 140, 520, 400), f"The mast shall stand. {shown}", fontsize=10)
        toc.append([1, f"{clause} Mast {text}".replace("\x07", ""), clause])
    document.set_toc(toc)
    return bytes(document.tobytes())


@dataclass
class Local:
    """The app in local mode with its folder."""

    url: str
    folder: Path


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    folder = tmp_path_factory.mktemp("hostile")
    Workspace(folder / "workspace").remember("sample", "removed")
    with running_app(folder) as url:
        yield Local(url, folder)


def upload(walker: Walker, folder: Path, files: dict[str, bytes]) -> None:
    paths = []
    for name, content in files.items():
        path = folder / name
        path.write_bytes(content)
        paths.append(str(path))
    box = walker.until("the upload", lambda: walker.driver.find_element(By.CSS_SELECTOR, "input[type=file]"))
    box.send_keys("\n".join(paths))


def harmless(walker: Walker, where: str) -> None:
    walker.settled()
    assert walker.js(FOUND) == [], where
    # The title is the app's own until the page has set its own.
    titles = {f"{page} · NormRAG" for page in ("Corpus", "Search", "Read", "Graph", "Evaluate")}
    walker.until(f"the title of {where}", lambda: walker.driver.title in titles)


def test_nothing_from_a_document_runs(local: Local, walker: Walker) -> None:
    walker.open(local.url)
    walker.js("performance.setResourceTimingBufferSize(5000)")
    name = "<img src=x onerror=window.__pwned=7> $a$ :red[b] [c](javascript:d) =1+1"
    upload(walker, local.folder, {f"{name}.json": json.dumps(units()).encode(), f"{name}.pdf": pdf(HOSTILE)})
    walker.until("two documents", lambda: len(walker.texts(".nr-documents tbody tr")) == 2)
    harmless(walker, "Corpus")
    walker.click("[data-nr=report]", "Report")
    harmless(walker, "report")
    assert "<img src=x onerror=window.__pwned=2>" in walker.js("return document.body.innerText")

    # Search, with the payload as the question too; every tool above the results and every part of the inspector.
    walker.click("[data-testid=stTopNavLink]", "Search")
    walker.ask(f"mast {HTML} {MARKUP}")
    harmless(walker, "Search")
    assert any("<script>window.__pwned=1</script>" in text for text in walker.texts(".nr-result"))
    for tool in ("Answer", "Movement", "Compare", "Why not", "History", "Export"):
        walker.click(".st-key-search_tools button", tool)
        harmless(walker, tool)
    assert walker.js(HOSTS) == [local.url.removeprefix("http://")]


def test_nothing_from_a_document_runs_in_the_reader_and_the_graph(local: Local, walker: Walker) -> None:
    # Read.
    walker.open(f"{local.url}/read?unit={quote('EN 399 901 V1.1.1#1')}")
    walker.wait_for(".nr-clause")
    harmless(walker, "Read")
    assert "<iframe srcdoc=" in walker.texts(".nr-clause")[0]
    walker.open(f"{local.url}/read?unit={quote(HTML)}")
    harmless(walker, "a link with a payload")

    # Graph: every view, every table, and the tooltip of every node.
    walker.open(f"{local.url}/graph")
    for view in ("Standards", "Clause tree", "Around a clause", "Matrix"):
        walker.click("button", view)
        words = {
            "Standards": "Which standard",
            "Clause tree": "The clause tree",
            "Around a clause": "What is",
            "Matrix": "Who cites",
        }
        walker.until(view, lambda w=words[view]: walker.texts("[data-testid=graph-sentence]")[0].startswith(w))
        if view == "Clause tree":
            # The picture follows its sentence: it holds this document's own nodes and no longer the hollow ones.
            drawn = f"{SHADOW} return !!network && network.body.nodeIndices.every(id => !id.startsWith('?'))"
            walker.until("the tree", lambda script=drawn: walker.js(script))
            tooltips(walker, SHADOW)
        harmless(walker, view)
    for tab in ("Most cited", "Cited standards", "Broken references", "Not loaded", "Never cited", "Circles", "Export"):
        walker.click(".st-key-w_graph_tab button", tab)
        harmless(walker, tab)

    assert walker.js(HOSTS) == [local.url.removeprefix("http://")]


def test_no_question_set_runs(local: Local, walker: Walker) -> None:
    walker.open(f"{local.url}/evaluate")
    walker.wait_for("[data-testid=stSelectbox]")
    pick(walker, ".st-key-evaluate_set_box", "Upload a file")
    lines = [
        {"id": HOSTILE, "type": HOSTILE, "question": f"mast {HOSTILE}", "answer": HOSTILE,
         "witnesses": [{"text": "The mast shall stand.", "file": HOSTILE, "clause": HOSTILE}]},
        {"id": HOSTILE, "question": HOSTILE},
    ]  # fmt: skip
    name = "<img src=x onerror=window.__pwned=8> :red[q].jsonl"
    upload(walker, local.folder, {name: "\n".join(map(json.dumps, lines)).encode()})
    walker.click("button", "Check and keep it")
    harmless(walker, "problems of a set")
    walker.open(f"{local.url}/evaluate")
    pick(walker, ".st-key-evaluate_set_box", ":red[q]")
    harmless(walker, "a set")
    walker.click("button", "Run")
    walker.until("a run", lambda: "Question by question" in walker.js("return document.body.innerText"))
    harmless(walker, "a run")
    assert walker.js(HOSTS) == [local.url.removeprefix("http://")]


def pick(walker: Walker, selector: str, option: str) -> None:
    """Chooses an option of a select box by typing."""
    box = walker.until(selector, lambda: walker.driver.find_element(By.CSS_SELECTOR, f"{selector} input"))
    walker.js("arguments[0].scrollIntoView({block: 'center'})", box)
    box.click()
    box.send_keys(option)
    walker.click("[role=option]", option)


# The network of the graph page, and that of the stand-alone page.
SHADOW = """
const frames = [...document.querySelectorAll('*')].map(e => e.shadowRoot && e.shadowRoot.querySelector('.frame'));
const shown = frames.find(frame => frame && frame.network);
const network = shown && shown.network, canvas = shown && shown.querySelector('canvas');
"""
ALONE = "const network = window.network, canvas = document.querySelector('canvas');"


def tooltips(walker: Walker, find: str) -> None:
    """Moves the pointer over every node and waits for its tooltip."""
    ids = walker.until("nodes", lambda: walker.js(f"{find} return network ? network.body.nodeIndices : null"))
    for node in ids:
        x, y = walker.js(
            find + "canvas.scrollIntoView({block: 'center'}); const box = canvas.getBoundingClientRect();"
            "const at = network.canvasToDOM(network.getPositions([arguments[0]])[arguments[0]]);"
            "return [box.left + at.x, box.top + at.y]",
            node,
        )
        for dx in (3, 0):
            event = {"type": "mouseMoved", "x": x + dx, "y": y}
            walker.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)
        shown = (
            "const tip = canvas.getRootNode().querySelector('.vis-tooltip'); return tip && tip.style.visibility === 'visible'"
        )
        walker.until(f"a tooltip of {node[:40]}", lambda: walker.js(find + shown), 10)  # noqa: B023
        # The stand-alone page holds its data in a script, where it must not end that script.
        assert [f for f in walker.js(FOUND) if f != "script in the page" or find == SHADOW] == []


def test_exports_are_as_harmless(walker: Walker, tmp_path: Path) -> None:
    corpus = Corpus.of([from_object(units())])
    trace = Retriever(corpus).search(f"mast {HOSTILE}", PRESETS["bm25"].config)
    view = views.hierarchy_view(
        CitationTable.of(corpus), corpus.documents[0].key, tuple(u.id for u in corpus.units), views.Filters()
    )
    for text in (to_csv(corpus, trace), export.citations_csv(corpus)):
        cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
        assert any(HTML in cell for cell in cells)
        formulas = [c for c in cells if c.startswith(("=", "+", "-", "@", "\t", "\r"))]
        assert not [c for c in formulas if not re.fullmatch(r"-[\d.]+", c)]
    (tmp_path / "graph.html").write_text(export.to_html(view, {}, {}), "utf8")
    (tmp_path / "graph.svg").write_text(export.to_svg(view, {}, {}), "utf8")
    (tmp_path / "report.html").write_text(to_html(corpus, trace, "http://127.0.0.1:1"), "utf8")
    for name in ("report.html", "graph.svg", "graph.html"):
        walker.driver.get((tmp_path / name).as_uri())
        if name == "graph.html":
            tooltips(walker, ALONE)
        assert walker.js("return window.__pwned") is None, name
        assert walker.js("return document.querySelectorAll('[onerror], [src=x], iframe, a[href^=javascript]').length") == 0, (
            name
        )
    assert walker.js(HOSTS) == []


def test_neither_a_document_nor_a_key_is_logged_or_written(
    local: Local, walker: Walker, new_walker: Callable[[], Walker]
) -> None:
    walker.open(f"{local.url}/search")
    walker.ask(f"mast {SECRET}")
    walker.click(".st-key-search_tools button", "Answer")
    walker.click("summary", "language model")
    for key, value in (("answer_url", "http://127.0.0.1:9/v1"), ("answer_model", "m"), ("answer_key", KEY)):
        box = walker.until(key, lambda k=key: walker.driver.find_element(By.CSS_SELECTOR, f".st-key-{k} input"))
        box.send_keys(value, Keys.TAB)
        walker.settled()
    walker.click(".st-key-answer_write button")
    walker.until("its failure", lambda: "No answer" in walker.js("return document.body.innerText"))
    assert KEY not in walker.url
    other = new_walker()  # A key lives in the session that it was typed in, even where all share one workspace.
    other.open(walker.url)
    other.click(".st-key-search_tools button", "Answer")
    other.click("summary", "language model")
    box = other.until("the key's box", lambda: other.driver.find_element(By.CSS_SELECTOR, ".st-key-answer_key input"))
    assert box.get_attribute("value") == ""
    assert KEY not in other.driver.page_source
    other.driver.get("about:blank")
    log = (local.folder / "server.log").read_text("utf8", "replace")
    assert SECRET not in log
    assert "__pwned" not in log
    written = [f for f in local.folder.rglob("*") if f.is_file()]
    assert [f.name for f in written if KEY.encode() in f.read_bytes()] == []
    assert KEY not in log


def test_sessions_of_shared_mode_are_apart_and_leave_nothing(
    new_walker: Callable[[], Walker], walker: Walker, tmp_path: Path
) -> None:
    shelf, temporary = tmp_path / "shelf", tmp_path / "tmp"
    for folder in (shelf, temporary):
        folder.mkdir()
    (shelf / "common.pdf").write_bytes(pdf("for all", "399 904"))
    with running_app(tmp_path, NORMRAG_SHARED="1", NORMRAG_CORPUS=str(shelf), TMPDIR=str(temporary)) as url:
        mine, other = walker, new_walker()
        mine.open(url)
        upload(mine, tmp_path, {"mine.pdf": pdf(f"of my own {SECRET}", "399 905")})
        mine.until("two documents", lambda: len(mine.texts(".nr-documents tbody tr")) == 2)
        mine.open(mine.url)  # A reload begins a new session: nothing of the old one is in it.
        mine.until("the common document", lambda: len(mine.texts(".nr-documents tbody tr")) == 1)
        upload(mine, tmp_path, {"mine.pdf": pdf(f"of my own {SECRET}", "399 905")})
        mine.until("two documents", lambda: len(mine.texts(".nr-documents tbody tr")) == 2)
        mine.click("[data-testid=stTopNavLink]", "Search")
        mine.ask(f"mast {SECRET}")
        assert any(SECRET in text for text in mine.texts(".nr-result"))
        mine.click("[data-testid=stPopover] button", "Pin")
        box = mine.until("the name", lambda: mine.driver.find_element(By.CSS_SELECTOR, ".st-key-pin_name input"))
        box.send_keys("my preset", Keys.TAB)
        mine.click("button", "Pin these settings")
        mine.until("the preset in the address", lambda: "own=" in mine.url)

        other.open(url)
        other.until("the common document", lambda: len(other.texts(".nr-documents tbody tr")) == 1)
        other.open(f"{url}/read?unit={quote('EN 399 905 V1.1.1#1')}")
        assert SECRET not in other.js("return document.body.innerText")
        other.open(f"{url}/search?q=mast&own=my%20preset")
        other.wait_for(".nr-result")
        other.click(".st-key-search_tools button", "History")
        page = other.js("return document.body.innerText")
        assert SECRET not in page
        assert "my preset" not in page
        other.driver.get("about:blank")
        mine.driver.get("about:blank")
        (tmp_path / "mine.pdf").unlink()
        left = [f for f in tmp_path.rglob("*") if f.is_file() and f.name != "server.log"]
        assert [f.name for f in left] == ["common.pdf"]
        assert SECRET not in (tmp_path / "server.log").read_text("utf8", "replace")


def test_a_workspace_that_cannot_be_used_is_told_on_every_page(walker: Walker, tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "workspace.json").write_text('{"layout": 99}', "utf8")
    with running_app(tmp_path) as url:
        for page in ("search", "", "read", "graph", "evaluate"):
            walker.open(f"{url}/{page}")
            assert "written by a later version" in walker.wait_for("[data-testid=stAlert]")[0]


def test_what_a_session_had_goes_when_its_browser_does_not_come_back(walker: Walker, tmp_path: Path) -> None:
    watched = (
        "from pages._library import Library\n"
        "end = Library.end\n"
        "def told(library):\n"
        "    had = len(library.removable)\n"
        "    end(library)\n"
        "    print('ended', had, len(library.removable), len(library.workspace.documents()), flush=True)\n"
        "Library.end = told\n"
    )
    settings = {"NORMRAG_SHARED": "1", "NORMRAG_CORPUS": str(tmp_path), "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "4"}
    with running_app(tmp_path, first=watched, **settings) as url:
        walker.open(url)
        upload(walker, tmp_path, {"mine.pdf": pdf("of my own", "399 905")})
        walker.until("the document", lambda: len(walker.texts(".nr-documents tbody tr")) == 1)
        log = tmp_path / "server.log"
        assert "ended" not in log.read_text("utf8")
        left = walker.driver.current_window_handle
        walker.driver.switch_to.new_window("tab")
        stays = walker.driver.current_window_handle
        walker.driver.switch_to.window(left)
        walker.driver.close()
        walker.driver.switch_to.window(stays)
        walker.until("its end", lambda: "ended 1 0 0" in log.read_text("utf8"))
        assert "Traceback" not in log.read_text("utf8")


@pytest.mark.parametrize("address", ["0.0.0.0"])
def test_local_mode_serves_nobody_else(walker: Walker, tmp_path: Path, address: str) -> None:
    with running_app(tmp_path, STREAMLIT_SERVER_ADDRESS=address) as url:
        for path in ("", "/search", "/read", "/graph", "/evaluate"):
            walker.driver.get(url + path)
            said = walker.wait_for("[data-testid=stAlert]")[0]
            assert f"asked to listen on {address}" in said
            assert "NORMRAG_SHARED=1" in said
            assert walker.texts(".nr-documents, [data-testid=stTopNavLink]") == []
    assert not (tmp_path / "workspace").exists()
