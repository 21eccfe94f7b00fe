"""Seeded mutations of the sample PDFs through the worker pool: no crash of the parent, no hang beyond the limit."""

from __future__ import annotations

import random
import re
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from normrag_core.ingest.limits import Limits
from normrag_core.ingest.pool import IngestError, ParsePool

ROOT = Path(__file__).resolve().parent.parent.parent
LIMITS = Limits(seconds=60, stall_seconds=30, memory_mb=1200, pages=3000, file_mb=50)
_NUMBER = re.compile(rb"\d+")


def mutate(data: bytes, rng: random.Random) -> bytes:
    """One to twenty wounds: flipped bytes, cut or doubled stretches, other numbers, swapped blocks, a lost end."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 2, 5, 20))):
        at = rng.randrange(len(out))
        long = rng.choice((1, 4, 64, 2048))
        kind = rng.randrange(6)
        if kind == 0:
            out[at] = rng.randrange(256)
        elif kind == 1:
            del out[at : at + long]
        elif kind == 2:
            out[at:at] = out[at : at + long]
        elif kind == 3:
            hit = _NUMBER.search(out, at)
            if hit:
                value = rng.choice((b"0", b"-1", b"4294967295", b"99999999999999999999", b"1e9", b"NaN"))
                out[hit.start() : hit.end()] = value
        elif kind == 4:
            other = rng.randrange(len(out))
            out[at : at + long], out[other : other + long] = out[other : other + long], out[at : at + long]
        else:
            del out[len(out) - rng.randrange(1, len(out) // 4) :]
        if len(out) < 64:
            return bytes(out) + b"%"
    return bytes(out)


def outcome(pool: ParsePool, data: bytes) -> tuple[str, float]:
    """What came of one file, in a word or two, and how long it took."""
    began = time.monotonic()
    try:
        parsed = pool.parse("mutant.pdf", data)
        kind = "read" if len(parsed.units) > 1 else "read, no structure"
    except IngestError as error:
        words = str(error).removeprefix("mutant.pdf: ")
        kind = "refused: " + re.split(r"[(:,;]", words)[0].strip()
    return kind, time.monotonic() - began


def run(count: int, seed: int) -> int:
    """Prints the number by outcome; 1 where a file took longer than the limit allows or an error was not an IngestError."""
    files = [f.read_bytes() for f in sorted((ROOT / "data").glob("*.pdf"))]
    counts: Counter[str] = Counter()
    slowest = 0.0
    lock = threading.Lock()
    surprises: list[str] = []
    with ParsePool(2, LIMITS) as pool, ThreadPoolExecutor(2) as threads:

        def one(number: int) -> None:
            nonlocal slowest
            rng = random.Random(f"{seed} {number}")
            try:
                kind, spent = outcome(pool, mutate(rng.choice(files), rng))
            except Exception as error:
                kind, spent = f"SURPRISE: {type(error).__name__}", 0.0
                surprises.append(f"mutant {number}: {error!r}")
            with lock:
                counts[kind] += 1
                slowest = max(slowest, spent)

        list(threads.map(one, range(count)))
        healthy, _ = outcome(pool, files[0])
    for kind, n in counts.most_common():
        print(f"{n:6}  {kind}")
    print(f"{count} mutants of {len(files)} files, seed {seed}; slowest {slowest:.1f} s; afterwards a sound file is {healthy}")
    print("\n".join(surprises[:20]))
    return int(bool(surprises) or healthy != "read" or slowest > LIMITS.seconds + 10)
