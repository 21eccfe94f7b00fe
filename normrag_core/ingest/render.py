"""A page of a PDF as a picture. Runs in a worker process, like all that touches a document from outside."""

from __future__ import annotations

from pathlib import Path

import pymupdf

from normrag_core.ingest.errors import IngestError

MOST_PIXELS = 12_000_000


def render_page(path: Path, page: int, zoom: float = 1.6) -> bytes:
    """PNG of a physical page (from 1). zoom: pixels a point; made smaller where the page would exceed MOST_PIXELS.

    Raises IngestError where there is no such page or it cannot be drawn.
    """
    try:
        with pymupdf.open(path) as document:
            if not 1 <= page <= document.page_count:
                raise IngestError(f"{path.name}: expected a page from 1 to {document.page_count}; found {page}")
            sheet = document[page - 1]
            area = sheet.rect.width * sheet.rect.height
            scale = min(zoom, (MOST_PIXELS / area) ** 0.5) if area > 0 else zoom
            picture = sheet.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csRGB, alpha=False, annots=False)
            return bytes(picture.tobytes("png"))
    except (RuntimeError, ValueError) as error:
        raise IngestError(f"{path.name}: page {page} cannot be drawn ({error})") from None
