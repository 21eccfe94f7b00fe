"""Plain HTTP client for `POST {base}/chat/completions`: Ollama, llama.cpp, Gemini's compatible endpoint and others.

Only the standard library: one request form does not justify a dependency.
"""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

MAX_REPLY_BYTES = 4_000_000
RETRY_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


class EndpointError(RuntimeError):
    """The endpoint did not give a usable reply. fatal: further requests would fail the same way (wrong key, wrong address)."""

    def __init__(self, message: str, fatal: bool = False) -> None:
        super().__init__(message)
        self.fatal = fatal


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask. base_url: up to and with the version ("http://127.0.0.1:11434/v1"). timeout: seconds for one reply.

    attempts: tries for one request. input_price, output_price: per million tokens, for the estimate only.
    """

    base_url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    attempts: int = 4
    temperature: float = 0.2
    max_tokens: int = 700
    input_price: float = 0.0
    output_price: float = 0.0

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"base URL: expected http://… or https://…; found {self.base_url!r}")
        if not self.model.strip():
            raise ValueError("model: expected a name; found nothing")
        if not (self.key.isascii() and self.key.isprintable()):
            raise ValueError("key: expected one line of ASCII; found other characters")

    @classmethod
    def from_environment(cls, **given: Any) -> Endpoint:
        """From NORMRAG_LLM_URL, NORMRAG_LLM_MODEL and NORMRAG_LLM_KEY; what is given goes before them."""
        names = {"base_url": "NORMRAG_LLM_URL", "model": "NORMRAG_LLM_MODEL", "key": "NORMRAG_LLM_KEY"}
        found = {name: os.environ.get(variable, "") for name, variable in names.items()}
        return cls(**(found | {k: v for k, v in given.items() if v not in ("", None)}))


def complete(endpoint: Endpoint, prompt: str, sleep: Callable[[float], None] = time.sleep, system: str = "") -> str:
    """The model's reply to one prompt. Waits and tries again on time-outs, 429 and server errors (Retry-After is honoured).

    system: instructions that stand apart from the prompt. EndpointError when all attempts failed or the endpoint refuses; its
    text never holds the key, which some servers repeat in theirs.
    """
    body = {
        "model": endpoint.model,
        "messages": [*([{"role": "system", "content": system}] if system else []), {"role": "user", "content": prompt}],
        "temperature": endpoint.temperature,
        "max_tokens": endpoint.max_tokens,
    }
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    request = urllib.request.Request(
        endpoint.base_url.rstrip("/") + "/chat/completions", json.dumps(body).encode(), headers, method="POST"
    )
    problem = ""
    for attempt in range(endpoint.attempts):
        wait = min(2.0**attempt, 30.0)
        try:
            with urllib.request.urlopen(request, timeout=endpoint.timeout) as reply:
                return _content(_body(reply, time.monotonic() + endpoint.timeout))
        except urllib.error.HTTPError as error:
            with error:
                said = error.read(300).decode("utf8", "replace").strip()
                problem = f"status {error.code}: {said.replace(endpoint.key, '***') if endpoint.key else said}"
            if error.code not in RETRY_STATUS:
                raise EndpointError(f"{endpoint.base_url}: {problem}", fatal=error.code in (401, 403, 404)) from None
            wait = _retry_after(error.headers.get("Retry-After"), wait)
        except TimeoutError:
            problem = f"no reply within {endpoint.timeout:g} s"
        except urllib.error.URLError as error:
            problem = f"no reply within {endpoint.timeout:g} s" if isinstance(error.reason, TimeoutError) else str(error.reason)
        except (OSError, http.client.HTTPException) as error:
            problem = f"connection lost ({error})"
        if attempt + 1 < endpoint.attempts:
            sleep(wait)
    raise EndpointError(f"{endpoint.base_url}: {problem} ({endpoint.attempts} attempts)")


def _body(reply: http.client.HTTPResponse, end: float) -> bytes:
    """The whole reply, in pieces: a server that sends a byte now and then would outlive the time limit of each."""
    pieces, size = [], 0
    while size <= MAX_REPLY_BYTES and (piece := reply.read1(65_536)):
        pieces.append(piece)
        size += len(piece)
        if time.monotonic() > end:
            raise TimeoutError
    if reply.length and size <= MAX_REPLY_BYTES:
        raise http.client.IncompleteRead(b"", reply.length)
    return b"".join(pieces)


def _content(data: bytes) -> str:
    if len(data) > MAX_REPLY_BYTES:
        raise EndpointError(f"expected a reply of at most {MAX_REPLY_BYTES} bytes; found more")
    try:
        content = json.loads(data)["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError):
        found = data[:120].decode("utf8", "replace")
        raise EndpointError(f"expected choices[0].message.content; found {found!r}") from None
    if not isinstance(content, str):
        raise EndpointError(f"expected choices[0].message.content as text; found {type(content).__name__}")
    return content


def _retry_after(header: str | None, otherwise: float) -> float:
    """Seconds to wait: the header holds them, or a date."""
    try:
        text = (header or "").strip()
        wait = float(text) if text[:1].isdigit() else (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):  # nothing, or nonsense; a date without a zone
        return otherwise
    return min(max(wait, 0.0), 120.0)
