"""`python -m tests.bench [section ...] [--full] [--write]`: prints the tables; --write keeps them in docs/benchmarks.md."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Callable
from datetime import date

from tests.bench import adding, app, embedding, growth, material, parsing, ranking
from tests.bench.table import Section, markdown, seconds

SECTIONS: dict[str, Callable[[bool], Section]] = {
    "embedding": embedding.embedding,
    "parsing": parsing.parsing,
    "bm25": lambda full: ranking.bm25(),
    "sliders": ranking.sliders,
    "start": app.start,
    "adding": adding.adding,
    "round-trip": app.round_trip,
    "growth": growth.growth,
    "graph": growth.graph,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], help="which; all without one")
    parser.add_argument("--full", action="store_true", help="also what takes long: a million chunks, larger samples")
    parser.add_argument("--write", action="store_true", help="keep the report in docs/benchmarks.md")
    args = parser.parse_args()
    command = "make bench-full" if args.full else "make bench"
    report = [
        f"# Benchmarks\n\nWritten by `{command}` on {date.today()}: {_machine()}, Python {platform.python_version()}, "
        f"{material.name()}. Ratios are against a peer measured in the same run; bare times hold for this machine only.\n"
    ]
    print(report[0])
    for name in args.sections or SECTIONS:
        made: list[Section] = []
        spent = seconds(lambda n=name, m=made: m.append(SECTIONS[n](args.full)))
        report.append(markdown(made[0]))
        print(report[-1])
        print(f"({name}: {spent:.0f} s)\n", file=sys.stderr)
    if args.write:
        (material.ROOT / "docs" / "benchmarks.md").write_text("\n".join(report), "utf8")
    return 0


def _machine() -> str:
    import os

    flags = ""
    try:
        with open("/proc/cpuinfo", encoding="utf8") as file:
            text = file.read()
        names = {line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")}
        extras = [f for f in ("avx2", "avx512_vnni", "avx512_bf16", "amx_int8") if f" {f} " in text]
        flags = f"{', '.join(sorted(names))} ({' '.join(extras)}), "
    except OSError:
        pass
    return f"{flags}{os.cpu_count()} cores, {platform.system()} {platform.machine()}"


if __name__ == "__main__":
    sys.exit(main())
