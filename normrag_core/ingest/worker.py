"""The process in which PDFs are read: `python -m normrag_core.ingest.worker MODULE:FUNCTION MEGABYTES`.

Requests come as JSON lines on standard input, answers go as JSON lines to standard output: plain data, so that a process
taken over by a hostile PDF cannot make the parent run code, which pickles would allow. It ends when its input ends.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

_MEGABYTE = 1024 * 1024


def main(reader: str, megabytes: int) -> None:
    """Serves requests until the input ends.

    {"path", "pages", "cpu"} is answered with {"progress"}, then {"parsed"}; {"path", "page", "zoom", "cpu"}, to a worker whose
    function draws, with {"picture"}; either with {"error"} where it fails.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf8")
    os.dup2(2, 1)  # what libraries print must not reach the answers
    _limit_memory(megabytes)
    module, _, name = reader.partition(":")
    read = getattr(import_module(module), name)
    _say(answers, ready=True)
    for line in sys.stdin:
        request = json.loads(line)
        _limit_time(request["cpu"])
        try:
            if "page" in request:
                picture = read(Path(request["path"]), request["page"], request["zoom"])
                _say(answers, picture=base64.b64encode(picture).decode())
            else:
                _say(answers, parsed=_parse(read, request, answers))
        except MemoryError:
            _say(answers, error="memory")
        except Exception as error:  # whatever it is, it costs this file only
            _say(answers, error=type(error).__name__, text=str(error))


def _parse(read: Any, request: dict[str, Any], answers: TextIO) -> dict[str, Any]:
    from normrag_core.codec import to_object

    def progress(done: int, total: int) -> None:
        _say(answers, progress=[done, total])

    return to_object(read(Path(request["path"]), progress=progress, max_pages=request["pages"]))


def _say(answers: TextIO, **message: Any) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def _limit_memory(megabytes: int) -> None:
    """Caps the address space, where the system can: a file that inflates a thousandfold must not take the machine along."""
    try:
        import resource
    except ImportError:  # Windows; there the parent's look at the resident size is all there is
        return
    # macOS knows the limit and refuses it
    if sys.platform.startswith("linux"):
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * _MEGABYTE, megabytes * _MEGABYTE))


def _limit_time(seconds: int) -> None:
    """Caps processor time from now on: without a parent nobody would end a worker that hangs inside the PDF library."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + seconds, hard))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
