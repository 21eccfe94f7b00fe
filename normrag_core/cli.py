"""Command line: parse, search, evaluate. Results go to standard output, messages to standard error.

Exit status: 0 done; 1 nothing could be read; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path


def main(argv: list[str] | None = None) -> int:
    """Runs one command and returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m normrag_core", description="Parse and search technical standards.")
    commands = parser.add_subparsers(dest="command", required=True)
    parse = commands.add_parser("parse", help="print the clause tree, bodies and citations of one PDF as JSON")
    parse.add_argument("file", type=Path)
    args = parser.parse_args(argv)
    return _parse(args.file)


def _parse(path: Path) -> int:
    from normrag_core.codec import to_object
    from normrag_core.ingest import IngestError, read_pdf

    try:
        parsed = read_pdf(path)
    except IngestError as error:
        print(error, file=sys.stderr)
        return 1
    json.dump(to_object(parsed), sys.stdout, ensure_ascii=False)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
