"""Command line: parse, search, evaluate, reproduce. Results go to standard output, messages to standard error.

Exit status: 0 done; 1 nothing could be read; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from normrag_core.config import DEFAULT_PRESET, PRESETS


def main(argv: list[str] | None = None) -> int:
    """Runs one command and returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m normrag_core", description="Parse and search technical standards.")
    commands = parser.add_subparsers(dest="command", required=True)
    parse = commands.add_parser("parse", help="print the clause tree, bodies and citations of one PDF as JSON")
    parse.add_argument("file", type=Path)
    _add_search(commands)
    _add_evaluate(commands)
    _add_reproduce(commands)
    args = parser.parse_args(argv)
    if args.command == "parse":
        return _parse(args.file)
    if args.command == "search":
        return _search(args)
    if args.command == "reproduce":
        return _reproduce(args)
    return _evaluate(args)


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


def _add_search(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    search = commands.add_parser("search", help="rank the clauses of a folder of standards for a question")
    search.add_argument("folder", type=Path, metavar="DIR", help="folder of PDFs or of unit JSON files")
    search.add_argument("question", type=_some_text)
    search.add_argument("--preset", choices=list(PRESETS), default=DEFAULT_PRESET)
    search.add_argument("--top-k", type=_positive, default=10, metavar="N", help="results shown (default 10)")
    search.add_argument("--json", action="store_true", help="print JSON instead of text")


def _search(args: argparse.Namespace) -> int:
    from normrag_core.commands.search import search

    return search(args.folder, args.question, args.preset, args.top_k, args.json)


def _add_evaluate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    evaluate = commands.add_parser("evaluate", help="measure configurations against a question set")
    evaluate.add_argument("folder", type=Path, metavar="DIR", help="folder of PDFs or of unit JSON files")
    evaluate.add_argument("questions", type=Path, metavar="QUESTIONS", help="JSONL or CSV, with witnesses or qrels")
    evaluate.add_argument("--presets", default="all", help="all (default) or names with commas between")
    evaluate.add_argument("--settings", type=Path, metavar="FILE.json", help="further configurations: name to settings")
    evaluate.add_argument("--k", type=_ks, default=(1, 5, 10), metavar="1,5,10", help="numbers of results looked at")
    evaluate.add_argument("--threshold", type=_share, default=0.75, help="share of a witness's words that makes a hit")
    evaluate.add_argument("--out", type=Path, metavar="RESULTS.json", help="write the whole record there")


def _evaluate(args: argparse.Namespace) -> int:
    from normrag_core.commands.evaluate import UsageError, evaluate

    try:
        return evaluate(args.folder, args.questions, args.presets, args.k, args.out, args.settings, args.threshold)
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2


def _add_reproduce(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    reproduce = commands.add_parser("reproduce", help="write docs/reproduction.md: the paper's table, plots and findings")
    reproduce.add_argument(
        "folder", type=Path, nargs="?", metavar="DIR", help="default: an optional folder next to the checkout, else data"
    )
    reproduce.add_argument("questions", type=Path, nargs="?", metavar="QUESTIONS")
    reproduce.add_argument("--out", type=Path, default=Path("docs"), metavar="FOLDER", help="where to write (default docs)")


def _reproduce(args: argparse.Namespace) -> int:
    from normrag_core.commands.reproduce import reproduce

    return reproduce(args.folder, args.questions, args.out)


def _some_text(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("expected a question; found nothing")
    return text


def _positive(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) <= 10_000:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 10000; found {text!r}")
    return int(text)


def _ks(text: str) -> tuple[int, ...]:
    return tuple(sorted({_positive(part.strip()) for part in text.split(",")}))


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"expected a share above 0 and up to 1; found {text!r}")
    return value


if __name__ == "__main__":
    sys.exit(main())
