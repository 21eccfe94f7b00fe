"""From the content of an uploaded file to documents: PDFs in worker processes, unit files in JSON as they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from normrag_core.codec import UnitJsonError, from_object
from normrag_core.model import ParsedDocument
from pages._intake import CancelledError, RefusedError

if TYPE_CHECKING:
    from normrag_core.ingest.pool import ParsePool


def read(
    name: str, data: bytes, progress: Callable[[int, int], None], cancelled: Callable[[], bool]
) -> Sequence[ParsedDocument]:
    """Documents of one file. Raises RefusedError or CancelledError."""
    if not name.lower().endswith(".json"):
        return [_read_pdf(name, data, progress, cancelled)]
    try:
        found = json.loads(data)
        return [from_object(o, name) for o in (found if isinstance(found, list) else [found])]
    except (ValueError, UnitJsonError) as error:
        raise RefusedError(
            f"{name}: no file of units ({str(error).removeprefix(f'{name}: ')}): "
            "make one with `python -m normrag_core parse FILE.pdf`"
        ) from error


@lru_cache(maxsize=1)
def _pool() -> ParsePool:
    """The worker processes that read PDFs, one set for the whole server."""
    from normrag_core.ingest.pool import ParsePool

    return ParsePool()


def _read_pdf(name: str, data: bytes, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> ParsedDocument:
    # Imported here: showing the first page must not wait for the reader.
    from normrag_core.ingest import pool

    try:
        return _pool().parse(name, data, progress, cancelled)
    except pool.IngestError as error:
        raise RefusedError(str(error)) from error
    except pool.Cancelled as error:
        raise CancelledError from error
