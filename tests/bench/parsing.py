"""Parsing against PyMuPDF's own text extraction over the same pages."""

from __future__ import annotations

import subprocess
import sys

import pymupdf

from normrag_core.ingest import read_pdf
from tests.bench import material
from tests.bench.table import Row, Section, peer, seconds


def parsing(full: bool) -> Section:
    """Whole files up to about 300 pages (all with full), one process each, one run."""
    files, pages = [], 0
    for file in sorted(material.pdfs(), key=lambda p: p.stat().st_size):
        with pymupdf.open(file) as document:
            count = document.page_count
        if pages and not full and pages + count > 300:
            continue
        files.append(file)
        pages += count
    read_pdf(files[0])
    theirs = seconds(lambda: [_extract(f) for f in files])
    ours = seconds(lambda: [read_pdf(f) for f in files])
    one, two = _pool(files, 1), _pool(files, 2)
    largest = max(material.pdfs(), key=lambda p: p.stat().st_size)
    return Section(
        "Parsing",
        f"{pages} pages of {material.name()}, wall time.",
        (
            Row(
                "read_pdf",
                f"{1000 * ours / pages:.1f} ms a page",
                f"{1000 * theirs / pages:.1f} ms a page ({peer('pymupdf')}, get_text('dict') without images)",
                f"{ours / theirs:.1f} ×",
                "≤ 8 ×",
                ours <= 8 * theirs,
                "a quarter of a profile of `read_pdf` is PyMuPDF itself; the rest is Python over each printed line",
            ),
            Row(
                "two worker processes",
                f"{pages / two:.0f} pages/s",
                f"{pages / one:.0f} pages/s (one worker)",
                f"{one / two:.2f} ×",
                "≥ 1.7 ×",
                one >= 1.7 * two,
                "the largest file alone takes a good part of the time, and one worker reads it",
            ),
            Row("peak memory of a process that reads the largest file", f"{_peak(largest):.0f} MB"),
        ),
    )


def _extract(file) -> None:  # type: ignore[no-untyped-def]
    flags = pymupdf.TEXTFLAGS_DICT & ~pymupdf.TEXT_PRESERVE_IMAGES
    with pymupdf.open(file) as document:
        for page in document:
            page.get_text("dict", flags=flags)


def _pool(files, workers: int) -> float:  # type: ignore[no-untyped-def]
    """Time to read the files in worker processes that have started already, the largest first."""
    from concurrent.futures import ThreadPoolExecutor

    from normrag_core.ingest.pool import ParsePool

    largest_first = sorted(files, key=lambda f: -f.stat().st_size)
    with ParsePool(workers) as pool, ThreadPoolExecutor(workers) as threads:
        list(threads.map(lambda f: pool.parse(f.name, f), [files[0]] * workers))
        return seconds(lambda: list(threads.map(lambda f: pool.parse(f.name, f), largest_first)))


def _peak(file) -> float:  # type: ignore[no-untyped-def]
    """Megabytes. Linux's own high-water mark, which starts anew with the program; rusage would carry over the parent's."""
    code = (
        "import sys; from pathlib import Path; from normrag_core.ingest import read_pdf; read_pdf(Path(sys.argv[1])); "
        "print(next(l.split()[1] for l in open('/proc/self/status') if l.startswith('VmHWM')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(file)], cwd=material.ROOT, capture_output=True, text=True, check=True
    )
    return int(done.stdout) / 1024
