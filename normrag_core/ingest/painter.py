"""Pages as pictures, drawn in a worker process of their own: a page that crashes or hangs the drawing costs only itself."""

from __future__ import annotations

import base64
import threading
import time
from collections import OrderedDict
from collections.abc import Collection

from normrag_core.ingest.errors import IngestError
from normrag_core.ingest.process import Worker
from normrag_core.ingest.scratch import on_disk

_DRAWER = "normrag_core.ingest.render:render_page"
_SECONDS = 20
_MEGABYTES = 1024
KEPT_BYTES = 64_000_000
"""Of pictures kept; the ones used last stay."""


class PagePainter:
    """Draws one page at a time and keeps the last pictures, up to `kept_bytes` of them. Any thread may call."""

    def __init__(self, drawer: str = _DRAWER, seconds: float = _SECONDS, kept_bytes: int = KEPT_BYTES) -> None:
        self._drawer = drawer
        self._seconds = seconds
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._kept_bytes = kept_bytes
        self._kept: OrderedDict[tuple[str, int, float], bytes] = OrderedDict()

    def picture(self, content: bytes, digest: str, name: str, page: int, zoom: float) -> bytes:
        """PNG of a physical page (from 1). digest: names the content in the cache. Raises IngestError with the reason."""
        key = (digest, page, zoom)
        with self._lock:
            if digest and key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            with on_disk(content, name) as path:
                made = self._draw(str(path), name, page, zoom)
            if digest:
                self._kept[key] = made
            while sum(map(len, self._kept.values())) > self._kept_bytes:
                self._kept.popitem(last=False)
            return made

    def forget(self, digests: Collection[str]) -> None:
        """Lets go of the pictures of these contents. Waits while a page is being drawn."""
        with self._lock:
            for key in [k for k in self._kept if k[0] in digests]:
                del self._kept[key]

    def close(self) -> None:
        """Ends the worker and forgets the pictures."""
        with self._lock:
            self._end()
            self._kept.clear()

    def _draw(self, path: str, name: str, page: int, zoom: float) -> bytes:
        self._worker = worker = self._worker or Worker(self._drawer, _MEGABYTES)
        worker.send(path=path, page=page, zoom=zoom, cpu=int(self._seconds) + 5)
        until = time.monotonic() + self._seconds
        try:
            while time.monotonic() < until:
                answer = worker.answer(0.1)
                if answer is not None and "picture" in answer:
                    return base64.b64decode(answer["picture"])
                if answer is not None and "error" in answer:
                    raise IngestError(f"{name}: page {page} cannot be drawn: {answer.get('text') or answer['error']}")
                if worker.megabytes > _MEGABYTES:
                    break
        except EOFError:
            self._end()
            raise IngestError(f"{name}: drawing page {page} ended its worker process; open the PDF itself instead") from None
        self._end()
        raise IngestError(f"{name}: page {page} took too long or too much memory to draw; open the PDF itself instead")

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.end()
            self._worker = None
