"""`python -m tests.stress fuzz --count 2000`, `… kill --count 50`, `… load --sessions 20`; exit status 1 where one failed."""

from __future__ import annotations

import argparse
import sys

from tests.stress import fuzz, kill, load


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.stress", description=__doc__)
    what = parser.add_subparsers(dest="what", required=True)
    for name, count in (("fuzz", 2000), ("kill", 50)):
        one = what.add_parser(name)
        one.add_argument("--count", type=int, default=count)
        one.add_argument("--seed", type=int, default=0)
    sessions = what.add_parser("load")
    sessions.add_argument("--sessions", type=int, default=20)
    sessions.add_argument("--questions", type=int, default=10, help="a session")
    args = parser.parse_args()
    if args.what == "fuzz":
        return fuzz.run(args.count, args.seed)
    if args.what == "kill":
        return kill.run(args.count, args.seed)
    return load.run(args.sessions, args.questions)


if __name__ == "__main__":
    sys.exit(main())
