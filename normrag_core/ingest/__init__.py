"""PDF in, InfoUnits and citations out. The only package that imports PyMuPDF, and only when a PDF is to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from normrag_core.ingest.errors import IngestError

if TYPE_CHECKING:
    from normrag_core.ingest.reader import read_pdf

__all__ = ["IngestError", "read_pdf"]


def __getattr__(name: str) -> Any:
    # Modules of this package are used where no PDF is read (cues of obligation, places on a page).
    if name != "read_pdf":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from normrag_core.ingest.reader import read_pdf

    return read_pdf
