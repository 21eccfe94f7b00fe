"""Write the sample standards and the truth about them: `python data/make/build.py [--out FOLDER] [NAME ...]`.

Each document is laid out three times: without a contents list, with one of the right length, with the right page numbers.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import pymupdf

sys.path.insert(0, str(Path(__file__).resolve().parent))
from canvas import save_pdf
from layout import Typesetter
from source import Source, read_source
from truth import write_truth

SOURCES = Path(__file__).resolve().parent / "sources"


def typeset(source: Source) -> Typesetter:
    """The finished layout of one source."""
    setter = None
    for _ in range(3):
        setter = Typesetter(source, setter)
        setter.run()
    assert setter is not None
    return setter


def bookmarks(setter: Typesetter) -> list[list[Any]]:
    """Bookmarks in PyMuPDF's form, with the place on the page, down to the depth the source asks for."""
    wanted = setter.source["bookmarks"]
    depth = {"none": 0, "full": 9}[wanted] if wanted in {"none", "full"} else int(wanted)
    marks: list[list[Any]] = []
    for level, label, page, y in setter.outline:
        if level <= depth:
            level = min(level, marks[-1][0] + 1) if marks else 1
            to = pymupdf.Point(57, max(y - 20, 0))
            marks.append([level, label, page, {"kind": pymupdf.LINK_GOTO, "page": page - 1, "to": to, "zoom": 0}])
    return marks


def write(setter: Typesetter, folder: Path) -> None:
    """One PDF file."""
    source = setter.source
    day = f"D:{source['date'].replace('-', '')}15120000Z"
    metadata = {
        "title": f"{source['id']} - {source['version']} - {source['title']}" if source["metadata"] != "poor" else "",
        "author": "NormRAG sample data",
        "subject": f"{source['id']} - {source['version']}" if source["metadata"] != "poor" else "",
        "keywords": source["keywords"],
        "creator": "NormRAG sample data",
        "producer": "PyMuPDF",
        "creationDate": day,
        "modDate": day,
    }
    soft = source["hyphens"] == "soft"
    save_pdf(folder / source["file"], setter.pages, metadata, bookmarks(setter), source.on("protected"), soft)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="names of sources without .txt; all when left out (make/truth.json needs all)")
    parser.add_argument("--out", type=Path, default=SOURCES.parent.parent)
    args = parser.parse_args()
    (args.out / "make").mkdir(parents=True, exist_ok=True)
    setters = []
    for path in sorted(SOURCES.glob("*.txt")):
        if not args.names or path.stem in args.names:
            setter = typeset(read_source(path))
            write(setter, args.out)
            setters.append(setter)
            size = (args.out / setter.source["file"]).stat().st_size
            print(f"{setter.source['file']:34} {len(setter.pages):3} pages {size / 1000:6.0f} kB")
            print(*(f"  {gap}" for gap in setter.gaps), sep="\n", end="\n" if setter.gaps else "")
    if not args.names:
        write_truth(args.out / "make" / "truth.json", [s.truth for s in setters])


if __name__ == "__main__":
    main()
