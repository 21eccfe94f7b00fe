"""Many sessions searching at once while two documents are being read: errors, response times, memory.

All sessions of local mode share one retriever; measured is what they contend for. The browser's part is in `make bench`.
"""

from __future__ import annotations

import random
import threading
import time

import psutil

from normrag_core.config import PRESETS
from normrag_core.ingest.pool import ParsePool
from tests.bench import material
from tests.bench.table import percentile


def run(sessions: int, questions: int) -> int:
    """Errors, p50 and p95 of searches, memory; 1 where there was an error."""
    from normrag_core.embedding import embedding_text, load_embedder
    from normrag_core.retriever import Retriever
    from normrag_core.storage import VectorStore

    embedder = load_embedder("hash")
    store = VectorStore(None)
    retriever = Retriever(
        material.corpus(), embedder, lambda chunks: store.embed(embedder, [embedding_text(c) for c in chunks])
    )
    configs = [PRESETS[n].config for n in ("chunked-rrf", "chunked-smoothed", "chunked-expanded", "structured-rrf")]
    for config in configs:
        retriever.search("warm", config)
    spent: list[float] = []
    errors: list[str] = []
    lock = threading.Lock()
    stop = threading.Event()

    def ask(number: int) -> None:
        rng = random.Random(number)
        for _ in range(questions):
            time.sleep(rng.uniform(0.0, 1.0))
            began = time.monotonic()
            try:
                trace = retriever.search(rng.choice(material.questions()), rng.choice(configs))
                if not trace.results:
                    raise AssertionError("no results")
            except Exception as error:
                errors.append(repr(error))
            with lock:
                spent.append(time.monotonic() - began)

    def read(pool: ParsePool) -> None:
        while not stop.is_set():
            for file in material.pdfs():
                if stop.is_set():
                    return
                try:
                    pool.parse(file.name, file)
                except Exception as error:
                    if not stop.is_set():
                        errors.append(repr(error))

    with ParsePool(2) as pool:
        readers = [threading.Thread(target=read, args=(pool,)) for _ in range(2)]
        askers = [threading.Thread(target=ask, args=(n,)) for n in range(sessions)]
        for thread in (*readers, *askers):
            thread.start()
        for thread in askers:
            thread.join()
        stop.set()
    resident = psutil.Process().memory_info().rss / 1e6
    print(
        f"{sessions} sessions, {len(spent)} searches on {material.name()}, two of them reading documents meanwhile: "
        f"{len(errors)} errors, p50 {1000 * percentile(spent, 0.5):.0f} ms, p95 {1000 * percentile(spent, 0.95):.0f} ms, "
        f"memory {resident:.0f} MB"
    )
    print("\n".join(errors[:10]))
    return int(bool(errors))
