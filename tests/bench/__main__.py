"""`python -m tests.bench [section ...] [--full] [--write [FILE]]`: prints the tables; --write keeps them (docs/benchmarks.md).

Each section runs in a process of its own: none starts with another's memory or libraries, and one that fails, or is killed
for want of memory, leaves the others their figures.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from datetime import date
from pathlib import Path

from tests.bench import material
from tests.bench.table import Section, Skipped, markdown, summary

SECTIONS = {
    "embedding": "embedding:embedding",
    "recall": "recall:recall",
    "parsing": "parsing:parsing",
    "bm25": "ranking:bm25",
    "sliders": "ranking:sliders",
    "start": "app:start",
    "adding": "adding:adding",
    "round-trip": "app:round_trip",
    "growth": "growth:growth",
    "scale": "scale:scale",
    "memory": "memory:memory",
    "compact": "compact:compact",
    "graph": "graph:graph",
}
"""Name → module of this folder and its function: (everything or what is quick: bool) → Section or several of them."""
IN_A_BROWSER = frozenset({"start", "round-trip", "graph"})
HEAD = """# Benchmarks

Written by `{command}` on {day} in {minutes:.0f} minutes: {machine}, Python {python}, {corpus}. Load when it began: {load}.

How to read it. Every table names what was measured on. Where there is another program that does the same (the *peer*), both
ran in turns in the same minute on the same input, and the *ratio* says how much faster ours is, or, where the target reads
"≤", how much longer it takes: ratios carry over to other machines, bare times do not. The *target* was set beforehand. A
missed one stays in the table, and the first table says what limits it.
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], help="which; all without one")
    parser.add_argument("--full", action="store_true", help="larger samples, which take longer")
    parser.add_argument("--write", nargs="?", const=material.ROOT / "docs" / "benchmarks.md", type=Path, help="keep the report")
    parser.add_argument("--raw", type=Path, help=argparse.SUPPRESS)  # what a section's own process answers into
    args = parser.parse_args()
    if args.raw:
        args.raw.write_text(json.dumps(_measure(args.sections[0], args.full)), "utf8")
        return 0
    began, load = time.monotonic(), os.getloadavg()[0]
    done: list[Section] = []
    failed = False
    for name in args.sections or SECTIONS:
        sections, broke = _apart(name, args.full)
        done += sections
        failed |= broke
        print(*map(markdown, sections), sep="\n", flush=True)
    head = HEAD.format(
        command="make bench-full" if args.full else "make bench",
        day=date.today(),
        machine=_machine(),
        python=platform.python_version(),
        corpus=material.name(),
        load=f"{load:.1f}",
        minutes=(time.monotonic() - began) / 60,
    )
    print(head, summary(done), sep="\n")
    if args.write:
        args.write.write_text("\n".join([head, summary(done), *map(markdown, done)]), "utf8")
    return 1 if failed else 0


def _measure(name: str, full: bool) -> dict[str, object]:
    """A section's figures as plain data, or why there are none."""
    module, function = SECTIONS[name].split(":")
    if name in IN_A_BROWSER and not (
        shutil.which("chromedriver") and (shutil.which("chromium") or shutil.which("google-chrome"))
    ):
        return {"skipped": "it needs chromium (or google-chrome) and chromedriver"}
    try:
        made = getattr(importlib.import_module(f"tests.bench.{module}"), function)(full)
    except Skipped as reason:
        return {"skipped": str(reason)}
    except Exception as error:
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"}
    return {"sections": [s.to_object() for s in ((made,) if isinstance(made, Section) else made)]}


def _apart(name: str, full: bool) -> tuple[list[Section], bool]:
    """(what the section's own process measured, or a section that says why it did not; whether it failed)."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [sys.executable, "-m", "tests.bench", name, "--raw", str(answer), *(["--full"] if full else [])]
        status = subprocess.run(command, cwd=material.ROOT, check=False).returncode
        told = json.loads(answer.read_text("utf8")) if answer.exists() else {"error": f"its process ended with {status}"}
    print(f"({name}: {time.monotonic() - began:.0f} s)\n", file=sys.stderr)
    if "skipped" in told:
        return [Section(name, f"Not measured: {told['skipped']}.", ())], False
    if "error" in told:
        return [Section(name, f"**Failed**: {told['error']}", ())], True
    return [Section.of(s) for s in told["sections"]], False


def _machine() -> str:
    flags = ""
    try:
        with open("/proc/cpuinfo", encoding="utf8") as file:
            text = file.read()
        names = {line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")}
        extras = [f for f in ("avx2", "avx512_vnni", "avx512_bf16", "amx_int8") if f" {f} " in text]
        flags = f"{', '.join(sorted(names))} ({' '.join(extras)}), "
    except OSError:
        pass
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30 if hasattr(os, "sysconf") else 0
    return f"{flags}{os.cpu_count()} cores, {memory:.0f} GB memory, {platform.system()} {platform.machine()}"


if __name__ == "__main__":
    sys.exit(main())
