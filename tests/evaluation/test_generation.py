"""Question generation against a local server that also misbehaves."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from normrag_core.evaluation.generation import (
    Endpoint,
    EndpointError,
    FileLog,
    citation_sources,
    clause_sources,
    estimate,
    generate,
    template_questions,
)
from normrag_core.evaluation.generation.checks import DroppedError, Duplicates, leaks_code, make_question, parse_reply
from normrag_core.evaluation.generation.run import CLAUSE_PROMPT, render
from normrag_core.evaluation.questions import Question, dump_jsonl, parse_questions
from normrag_core.evaluation.witnesses import find_missing
from normrag_core.llm import complete
from normrag_core.model import Citation, Corpus, Document, InfoUnit, Term

FILLER = " The remaining words of this clause describe the apparatus in general and are of no further interest to anybody." * 3


def make_corpus() -> Corpus:
    key = "EN 999 001 V1.1.1"
    body = {
        "4.1": "The transmitter shall stop within 25 ms after loss of the pilot tone, see clause 5.2 for the method." + FILLER,
        "4.2": "Receivers shall ignore frames whose checksum does not match the value in the header." + FILLER,
        "5.2": "The delay is measured from the last pilot symbol to the first sample below minus 40 dBm." + FILLER,
        "5.3": "Too short.",
    }
    units = [InfoUnit(f"{key}#", key, "", "", "Widgets", "document", None, 1)]
    units += [InfoUnit(f"{key}#{c}", key, c, c, f"Title {c[-1]}", "clause", "", 7, text) for c, text in body.items()]
    start = body["4.1"].index("clause 5.2")
    citation = Citation(
        f"{key}#4.1", 7, start, start + 10, "clause 5.2", "", "EN 999 001", "5.2", None, f"{key}#5.2", "resolved"
    )
    term = Term("pilot tone", "unmodulated carrier that marks the start of every superframe", "definition", f"{key}#4.2", 7)
    document = Document(key, "EN 999 001", "V1.1.1", "2020-01", "Widgets", 9, "en_999001.pdf", terms=(term,))
    return Corpus((document,), tuple(units), (citation,))


def reply(**given: object) -> str:
    good = {
        "question": "How fast must sending end once synchronisation is gone?",
        "answer": "25 ms",
        "witnesses": ["The transmitter shall stop within 25 ms after loss of the pilot tone"],
    }
    return json.dumps(good | given)


Behaviour = Callable[[BaseHTTPRequestHandler, str], None]


def send(handler: BaseHTTPRequestHandler, body: bytes | str, status: int = 200, **headers: str) -> None:
    data = body.encode() if isinstance(body, str) else body
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(data)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


def says(content: object) -> Behaviour:
    return lambda handler, _: send(handler, json.dumps({"choices": [{"message": {"content": content}}]}))


def status(code: int, **headers: str) -> Behaviour:
    return lambda handler, _: send(handler, "no", code, **headers)


def hangs(handler: BaseHTTPRequestHandler, _: str) -> None:
    time.sleep(0.5)


def breaks_off(handler: BaseHTTPRequestHandler, _: str) -> None:
    """Half a reply, and the connection is closed."""
    handler.send_response(200)
    handler.send_header("Content-Length", "500")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [{"message": {"content": "wh')
    handler.close_connection = True


def breaks_off_in_a_chunk(handler: BaseHTTPRequestHandler, _: str) -> None:
    handler.protocol_version = "HTTP/1.1"
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b'40\r\n{"choices": ')
    handler.close_connection = True


def drips(handler: BaseHTTPRequestHandler, _: str) -> None:
    """A byte now and then: no single wait is too long."""
    handler.send_response(200)
    handler.end_headers()
    with contextlib.suppress(OSError):
        for _ in range(20):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)


class Server:
    """Answers requests by a list of behaviours, the last one for ever after."""

    def __init__(self) -> None:
        self.script: list[Behaviour] = []
        self.prompts: list[str] = []
        self.keys: list[str | None] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                assert self.path == "/v1/chat/completions"
                assert data["model"] == "toy"
                outer.prompts.append(data["messages"][0]["content"])
                outer.keys.append(self.headers["Authorization"])
                act = outer.script.pop(0) if len(outer.script) > 1 else outer.script[0]
                act(self, outer.prompts[-1])

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.endpoint = Endpoint(f"http://127.0.0.1:{self.http.server_port}/v1/", "toy", "secret", timeout=0.2, attempts=3)
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.http.shutdown()
    made.http.server_close()


def test_waits_as_told_and_then_succeeds(server: Server) -> None:
    server.script = [status(429, Retry_After="7"), status(503), says("fine")]
    waits: list[float] = []
    assert complete(server.endpoint, "hello", waits.append) == "fine"
    assert waits == [7.0, 2.0]
    assert server.keys == ["Bearer secret"] * 3
    assert "secret" not in repr(server.endpoint)


def test_retry_after_may_be_a_date_or_nonsense(server: Server) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
    server.script = [status(429, Retry_After=later), status(429, Retry_After="soon"), says("fine")]
    waits: list[float] = []
    complete(server.endpoint, "hello", waits.append)
    assert 30 < waits[0] <= 40
    assert waits[1] == 2.0


def test_a_key_that_no_header_can_carry_is_refused_without_being_told() -> None:
    with pytest.raises(ValueError, match="key: expected one line of ASCII") as caught:
        Endpoint("http://h/v1", "m", "se\ncret")
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("behaviour", "message", "fatal"),
    [
        (hangs, r"no reply within 0\.2 s \(3 attempts\)", False),
        (status(429), r"status 429: no \(3 attempts\)", False),
        (status(401), "status 401", True),
        (status(400), "status 400", False),
        (lambda h, _: send(h, "{not json"), r"expected choices\[0\]\.message\.content; found '\{not json'", False),
        (lambda h, _: send(h, '{"choices": []}'), "expected choices", False),
        (says(None), "as text; found NoneType", False),
        (lambda h, _: send(h, "<html>Sign in</html>", Content_Type="text/html"), "found '<html>Sign in", False),
        (breaks_off, r"connection lost .*\(3 attempts\)", False),
        (breaks_off_in_a_chunk, r"connection lost .*\(3 attempts\)", False),
        (drips, r"no reply within 0\.2 s \(3 attempts\)", False),
    ],
)
def test_misbehaviour_is_named(server: Server, behaviour: Behaviour, message: str, fatal: bool) -> None:
    server.script = [behaviour]
    with pytest.raises(EndpointError, match=message) as caught:
        complete(server.endpoint, "hello", lambda _: None)
    assert caught.value.fatal is fatal


def test_nobody_listens() -> None:
    with pytest.raises(EndpointError, match=r"127\.0\.0\.1:9"):
        complete(Endpoint("http://127.0.0.1:9/v1", "toy", attempts=1, timeout=1), "hello")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "127.0.0.1:80", ""])
def test_address_must_be_http(url: str) -> None:
    with pytest.raises(ValueError, match="expected http"):
        Endpoint(url, "toy")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Sure! Here is your question:", "malformed"),
        (reply(extra=1), "malformed"),
        (reply(witnesses=["a", "b"]), "malformed"),
        (reply(witnesses=[3]), "malformed"),
        (reply(question=" "), "malformed"),
        (reply(witnesses=["25 ms"]), "witness-length"),
        (reply(witnesses=["The transmitter may continue for 90 ms after loss of the carrier"]), "witness-not-in-text"),
        (reply(question="What does 4.1 want?"), "leaks-clause"),
        (reply(question="Shall the transmitter stop within 25 ms after loss of the pilot tone?"), "copies-witness"),
    ],
)
def test_replies_that_are_dropped(text: str, reason: str) -> None:
    corpus = make_corpus()
    source = next(s for s in clause_sources(corpus, 9) if s.units[0].code == "4.1")
    with pytest.raises(DroppedError) as caught:
        make_question(corpus, source, text, "g1")
    assert caught.value.reason == reason


def test_good_reply_may_stand_in_a_fence() -> None:
    assert parse_reply(f"```json\n{reply()}\n```", 1)[1] == "25 ms"


def test_leaks_only_what_names_the_clause() -> None:
    assert leaks_code("see clause 6.2.1?", "6.2.1")
    assert not leaks_code("see 6.2.11 or 16.2.1 or 6.2.1.4", "6.2.1")
    assert leaks_code("by Annex a?", "A")
    assert not leaks_code("a value of 4 dB", "4")
    assert not leaks_code("anything", "")


def test_near_duplicates() -> None:
    seen = Duplicates(["How long may a pause be?"])
    seen.add("How long may a frame be in total?")
    with pytest.raises(DroppedError):
        seen.add("How long may a pause be, then?")


def test_generation_counts_resumes_and_asks_nothing_twice(server: Server, tmp_path: Path) -> None:
    corpus = make_corpus()
    sources = [*clause_sources(corpus, 9), *citation_sources(corpus, 9)]
    assert sorted(s.units[0].code for s in sources[:3]) == ["4.1", "4.2", "5.2"]
    assert [u.code for u in sources[3].units] == ["4.1", "5.2"]
    pair = reply(
        question="From which instant is the permitted run-on time counted?",
        witnesses=[
            "The transmitter shall stop within 25 ms after loss of the pilot tone, see clause 5.2",
            "The delay is measured from the last pilot symbol to the first sample",
        ],
    )

    def by_prompt(handler: BaseHTTPRequestHandler, prompt: str) -> None:
        if "Second passage" in prompt:
            says(pair)(handler, prompt)
        elif "shall stop within" in prompt:
            says(reply())(handler, prompt)
        elif "checksum" in prompt:
            says("I cannot")(handler, prompt)
        else:
            status(500)(handler, prompt)

    server.script = [by_prompt]
    log = FileLog(tmp_path / "folder" / "generated.jsonl")
    first = generate(corpus, sources, server.endpoint, log, sleep=lambda _: None)
    assert (len(first.questions), first.dropped, first.failed, first.asked) == (2, {"malformed": 1}, 1, 4)
    assert [q.type for q in first.questions] == ["generated", "crossref"]
    assert [w.clause for w in first.questions[1].witnesses] == ["4.1", "5.2"]
    assert find_missing(corpus, first.questions) == []
    # A kill in the middle of a line, then the same call again: only the failed source is asked, and the pieces are all there.
    with log.path.open("a") as file:
        file.write('{"source": "half')
    server.prompts.clear()
    server.script = [says(reply(question="Other words", witnesses=["The delay is measured from the last pilot symbol"]))]
    second = generate(corpus, sources, server.endpoint, log, sleep=lambda _: None)
    assert len(server.prompts) == second.asked == 1
    assert (len(second.questions), second.dropped, second.failed) == (3, {"malformed": 1}, 0)
    assert generate(corpus, sources, server.endpoint, log).asked == 0
    # Fewer sources: what was made from the others is not among the questions. Another prompt: asked anew.
    assert len(generate(corpus, sources[:1], server.endpoint, log).questions) <= 1
    server.script = [says("no")]
    other = generate(corpus, sources[:1], server.endpoint, log, prompts=("Ask about {passage}", ""))
    assert (other.asked, other.dropped) == (1, {"malformed": 1})


def test_wrong_key_stops_at_once(server: Server, tmp_path: Path) -> None:
    server.script = [status(401)]
    corpus = make_corpus()
    report = generate(corpus, clause_sources(corpus, 9), server.endpoint, FileLog(tmp_path / "log.jsonl"))
    assert (report.asked, report.failed) == (1, 1)
    assert "status 401" in report.stopped


def test_failures_in_a_row_stop_it(server: Server, tmp_path: Path) -> None:
    server.script = [lambda h, _: send(h, "<html>Sign in</html>")]
    corpus = make_corpus()
    sources = clause_sources(corpus, 9) * 3
    report = generate(corpus, sources, server.endpoint, FileLog(tmp_path / "log.jsonl"))
    assert (report.asked, report.failed, report.stopped) == (5, 5, "stopped after 5 failures in a row")
    assert "Sign in" in report.problem


def test_estimate_and_edited_prompt() -> None:
    corpus = make_corpus()
    (source,) = clause_sources(corpus, 1)
    endpoint = Endpoint("http://h/v1", "m", input_price=2.0, output_price=10.0)
    e = estimate(corpus, [source], endpoint)
    assert e.input_tokens == len(render(CLAUSE_PROMPT, corpus, source)) // 4
    assert e.cost == pytest.approx((2 * e.input_tokens + 10 * e.output_tokens) / 1e6)
    assert render('{"keep": {heading}, {unknown}}', corpus, source) == f'{{"keep": {source.units[0].heading}, {{unknown}}}}'


def test_templates_are_deterministic_verified_and_labelled() -> None:
    corpus = make_corpus()
    made = template_questions(corpus, 8)
    assert made == template_questions(corpus, 8)
    assert {q.type for q in made} == {"smoke", "crossref"}
    assert len({q.id for q in made}) == len(made) >= 4
    missing = {m.question for m in find_missing(corpus, made)}
    term = next(q for q in made if q.question == "What is meant by pilot tone in EN 999 001?")
    # The definition of the toy corpus stands in no body, and that is said.
    assert missing == {term.id}
    assert parse_questions(dump_jsonl(made)).questions == made
    assert isinstance(made[0], Question)
