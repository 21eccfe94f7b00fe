"""Whether faster vectors find less: R@10 on real questions with the peer's vectors, with ours cut like the peer's, and ours."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np

from normrag_core.chunking import make_chunks
from normrag_core.config import DEFAULT_PRESET, PRESETS
from normrag_core.dense import HALF_FROM
from normrag_core.embedding import Embedder, embedding_text, load_embedder
from normrag_core.embedding.base import Cancel, Progress
from normrag_core.embedding.models import choose
from normrag_core.evaluation.questions import load_questions
from normrag_core.evaluation.runs import RunResult, run
from normrag_core.files import sha256_of
from normrag_core.retriever import Retriever
from normrag_core.storage import VectorStore
from tests.bench import material
from tests.bench.table import Row, Section, Skipped, peer

SHOWN = ("dense", DEFAULT_PRESET)
WITHIN = 0.01
WAYS = {
    "cut": "long chunks cut at the model's limit, as the peer does",
    "windows": "as the app does",
    "half": f"as the app does, held as float16 (so from {HALF_FROM:,} chunks)",
}


def recall(full: bool) -> Section:
    """Vectors are kept in build/ from run to run: about five minutes of work on two cores, most of it the peer's.

    Without full only where they are there already.
    """
    if not material.real():
        raise Skipped("R@10 needs the real standards and their questions in the optional folder next to the checkout")
    questions = load_questions(material.questions_file())
    store = VectorStore(material.ROOT / "build" / "bench-vectors.sqlite")
    embedders: dict[str, Embedder] = {"peer": Peer(), "cut": load_embedder(long_texts="cut"), "windows": load_embedder()}
    config = PRESETS[DEFAULT_PRESET].config
    chunks = make_chunks(material.corpus(), config.chunking, config.max_words, config.context)
    missing = max(store.missing(e, [embedding_text(c) for c in chunks]) for e in embedders.values())
    if missing and not full:
        raise Skipped(
            f"{missing:,} chunks have to be embedded first, which takes minutes: `make bench-full` does, and keeps them"
        )
    found: dict[str, RunResult] = {}
    for name, embedder in embedders.items():
        retriever = Retriever(
            material.corpus(), embedder, lambda chunks, e=embedder: store.embed(e, [embedding_text(c) for c in chunks])
        )
        found[name] = run(retriever, questions, {preset: PRESETS[preset].config for preset in SHOWN}, (10,))
    app = embedders["windows"]
    narrow = Retriever(material.corpus(), app, lambda chunks: _narrow(store.get(app, [embedding_text(c) for c in chunks])))
    found["half"] = run(narrow, questions, {preset: PRESETS[preset].config for preset in SHOWN}, (10,))
    rows = []
    for preset in SHOWN:
        r10 = {name: result.configuration(preset).metrics["R@10"] for name, result in found.items()}
        for name, what in WAYS.items():
            lost = r10["peer"] - r10[name]
            rows.append(
                Row(
                    f"R@10, preset {preset}: {what}",
                    f"{r10[name]:.3f}",
                    f"{r10['peer']:.3f} ({peer('sentence-transformers')}, float32)",
                    f"{100 * (r10[name] - r10['peer']):+.1f} points",
                    "≥ −1 point",
                    lost <= WITHIN + 1e-9,
                    "int8 weights move near-equal cosines past each other; "
                    f"one of {len(questions)} questions is {100 / len(questions):.1f} points",
                )
            )
    return Section(
        "What the faster vectors find",
        f"{len(questions)} questions on {material.name()}, the same ranking with three sets of vectors of one model "
        f"({embedders['windows'].name}): the peer's, ours ({embedders['windows'].engine}) cut like the peer's, and ours as "
        "the app makes them, averaged over windows of a long chunk.",
        tuple(rows),
    )


def _narrow(vectors: np.ndarray | None) -> np.ndarray | None:
    return None if vectors is None else vectors.astype(np.float16)


class Peer:
    """`SentenceTransformer.encode` at its default settings, as an embedder."""

    engine = "PyTorch fp32"
    name = "sentence-transformers"

    def __init__(self) -> None:
        from sentence_transformers import SentenceTransformer

        files = choose(None)
        self._model = SentenceTransformer(str(files.folder), device="cpu")
        self.revision = f"{version('sentence-transformers')} {sha256_of(files.weights)[:16]}"
        self.dimension = int(self._model.get_embedding_dimension() or 0)
        self.max_tokens = int(self._model.max_seq_length or 0)

    def encode(self, texts: Sequence[str], progress: Progress | None = None, cancel: Cancel | None = None) -> np.ndarray:
        """(n, dimension) float32, rows L2-normalised."""
        return np.asarray(self._model.encode(list(texts), normalize_embeddings=True), dtype=np.float32)

    def encode_query(self, text: str) -> np.ndarray:
        """(dimension,) float32, L2-normalised."""
        return self.encode([text])[0]

    def token_counts(self, texts: Sequence[str]) -> np.ndarray:
        """(n,) int64."""
        return np.array([len(ids) for ids in self._model.tokenizer(list(texts))["input_ids"]], dtype=np.int64)
