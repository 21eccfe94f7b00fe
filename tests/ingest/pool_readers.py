"""Readers with faults, for the tests of the pool; the workers import this module by name."""

from __future__ import annotations

import os
import time
from pathlib import Path

from normrag_core.ingest.errors import IngestError
from normrag_core.model import Document, InfoUnit, ParsedDocument


def read(path: Path, *, progress, max_pages: int) -> ParsedDocument:  # type: ignore[no-untyped-def]
    """Does what the file's content says; its title names the process."""
    progress(1, 3)
    order = path.read_text("utf8")
    if order == "die":
        os.kill(os.getpid(), 11)
    if order == "exit":
        os._exit(3)
    if order == "hang":
        time.sleep(600)
    if order == "spin":
        while True:
            progress(1, 3)
            time.sleep(0.01)
    if order == "swell":
        held = []
        while True:
            held.append(bytearray(20_000_000))
            time.sleep(0.01)
    if order == "noise":
        print("on standard output", flush=True)
        os.write(1, b"not JSON\n")
    if order == "refuse":
        raise IngestError(f"{path.name}: protected by a password")
    if order == "fault":
        raise KeyError("xref")
    progress(3, 3)
    root = InfoUnit("A 1#", "A 1", "", "", str(os.getpid()), "document", None, 1, body=f"{order} {max_pages}")
    return ParsedDocument(Document("A 1", "A", "1", "", str(os.getpid()), 3, path.name), (root,))
