"""Pages as pictures, drawn apart from the app."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pymupdf
import pytest

from normrag_core.ingest.errors import IngestError
from normrag_core.ingest.painter import PagePainter
from normrag_core.ingest.render import MOST_PIXELS, render_page


def pdf(width: float = 200, height: float = 100) -> bytes:
    """Page 1 is blank; page 2 has a black square from (20, 30) to (40, 50)."""
    document = pymupdf.open()
    document.new_page(width=width, height=height)
    document.new_page(width=width, height=height).draw_rect(pymupdf.Rect(20, 30, 40, 50), fill=(0, 0, 0))
    return bytes(document.tobytes())


def dies(path: Path, page: int, zoom: float) -> bytes:
    os._exit(3)


def hangs(path: Path, page: int, zoom: float) -> bytes:
    time.sleep(60)
    return b""


def test_a_page_is_drawn_to_scale() -> None:
    painter = PagePainter()
    try:
        picture = pymupdf.Pixmap(painter.picture(pdf(), "a", "x.pdf", 2, 2.0))
        assert (picture.width, picture.height) == (400, 200)
        assert picture.pixel(60, 80) == (0, 0, 0)
        assert picture.pixel(100, 80) == (255, 255, 255)
        with pytest.raises(IngestError, match="expected a page from 1 to 2; found 3"):
            painter.picture(pdf(), "a", "x.pdf", 3, 2.0)
        assert pymupdf.Pixmap(painter.picture(pdf(), "a", "x.pdf", 1, 1.0)).width == 200
    finally:
        painter.close()


def test_a_poster_is_drawn_smaller(tmp_path: Path) -> None:
    file = tmp_path / "poster.pdf"
    file.write_bytes(pdf(10_000, 10_000))
    picture = pymupdf.Pixmap(render_page(file, 1, 2.0))
    assert picture.width * picture.height <= MOST_PIXELS * 1.01


@pytest.mark.parametrize(("drawer", "words"), [("dies", "ended its worker process"), ("hangs", "took too long")])
def test_a_page_that_ends_or_holds_its_worker_costs_only_itself(
    drawer: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    painter = PagePainter(f"test_painter:{drawer}", seconds=3)
    try:
        with pytest.raises(IngestError, match=rf"x\.pdf: .*{words}"):
            painter.picture(pdf(), "a", "x.pdf", 1, 1.0)
    finally:
        painter.close()


class Drawing(PagePainter):
    """Draws pages of 100 bytes and counts them."""

    def __init__(self) -> None:
        super().__init__(kept_bytes=250)
        self.drawn: list[int] = []

    def _draw(self, path: str, name: str, page: int, zoom: float) -> bytes:
        self.drawn.append(page)
        return bytes(100)


def test_pictures_are_kept_by_their_bytes_and_the_ones_used_last_stay() -> None:
    painter = Drawing()
    for page in (1, 2, 1, 3, 1, 2):
        painter.picture(b"%PDF-", "a", "x.pdf", page, 1.0)
    assert painter.drawn == [1, 2, 3, 2]


def test_a_forgotten_document_has_no_pictures_left() -> None:
    painter = Drawing()
    for digest in ("a", "b"):
        painter.picture(b"%PDF-", digest, "x.pdf", 1, 1.0)
    painter.forget({"a"})
    assert [key[0] for key in painter._kept] == ["b"]
