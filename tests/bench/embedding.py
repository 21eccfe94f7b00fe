"""Chunks a second against `SentenceTransformer.encode` with the same weights, and how near the vectors are."""

from __future__ import annotations

import random
import sys

import numpy as np

from normrag_core.chunking import make_chunks, passage
from normrag_core.config import PRESETS
from normrag_core.embedding import load_embedder
from tests.bench import material
from tests.bench.table import Row, Section, median_ms, peer, seconds


def embedding(full: bool) -> Section:
    """300 seeded chunks (1,000 with full), our engine and the peer in turns over the same slices."""
    config = PRESETS["chunked-rrf"].config
    chunks = make_chunks(material.corpus(), config.chunking, config.max_words, config.context)
    texts = [passage(c) for c in random.Random(0).sample(chunks, min(len(chunks), 1000 if full else 300))]
    ours, whole = load_embedder(long_texts="cut"), load_embedder()
    ours.encode(texts[:8])
    clean = "torch" not in sys.modules
    theirs = _peer()
    theirs.encode(texts[:8])
    mine = other = windows = 0.0
    near: list[float] = []
    for begin in range(0, len(texts), 100):
        part = texts[begin : begin + 100]
        made: dict[str, np.ndarray] = {}
        mine += seconds(lambda p=part, m=made: m.__setitem__("ours", ours.encode(p)))
        other += seconds(lambda p=part, m=made: m.__setitem__("theirs", theirs.encode(p, normalize_embeddings=True)))
        windows += seconds(lambda p=part: whole.encode(p))
        near += (made["ours"] * made["theirs"]).sum(axis=1).tolist()
    counts = ours.token_counts(texts)
    long = float((counts > ours.max_tokens).mean())
    beyond = float(np.maximum(counts - ours.max_tokens, 0).sum() / counts.sum())
    query = median_ms([lambda q=q: ours.encode_query(q) for q in material.questions()[:30]])
    query_peer = median_ms([lambda q=q: theirs.encode(q) for q in material.questions()[:30]])
    name = peer("sentence-transformers")
    return Section(
        "Embedding",
        f"{len(texts)} seeded chunks of {material.name()} with their context; {ours.name}, engine {ours.engine}; the peer has "
        f"its default settings. {long:.0%} of the chunks are longer than the model's {ours.max_tokens} tokens: the peer cuts "
        "them, and so does NormRAG in the first rows. The app averages over windows instead, which reads all of the text.",
        (
            Row(
                "chunks a second",
                f"{len(texts) / mine:.1f}",
                f"{len(texts) / other:.1f} ({name})",
                f"{other / mine:.2f} ×",
                "≥ 2.2 ×",
                other >= 2.2 * mine,
                "98 % of a profile of `encode` is onnxruntime's own operators; the rest is the tokeniser",
            ),
            Row(
                "chunks a second, windows over all of the text",
                f"{len(texts) / windows:.1f}",
                f"{len(texts) / other:.1f} ({name}, which reads {1 - beyond:.0%} of the text's tokens)",
                f"{other / windows:.2f} ×",
            ),
            Row("mean cosine to the peer's vectors", f"{np.mean(near):.4f}", target="≥ 0.99", met=bool(np.mean(near) >= 0.99)),
            Row("one question", f"{query:.1f} ms", f"{query_peer:.1f} ms ({name})", f"{query_peer / query:.1f} ×"),
            Row("PyTorch imported to embed", "no" if clean else "yes", target="no", met=clean),
        ),
    )


def _peer():  # type: ignore[no-untyped-def]
    from sentence_transformers import SentenceTransformer

    from normrag_core.embedding.models import choose

    return SentenceTransformer(str(choose(None).folder), device="cpu")
