"""Small things to test with: a deterministic embedder and a corpus of two made-up standards."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from normrag_core.model import Block, Citation, Corpus, Document, InfoUnit


class HashingEmbedder:
    """Words hashed into a few dimensions: texts that share words are close. No model, no randomness."""

    name = "hashing"
    revision = "1"
    engine = "none"
    max_tokens = 1_000_000

    def __init__(self, dimension: int = 32) -> None:
        self.dimension = dimension
        self.encoded = 0

    def encode(
        self,
        texts: Sequence[str],
        progress: Callable[[int, int], None] | None = None,
        cancel: Callable[[], bool] | None = None,
    ) -> np.ndarray:
        self.encoded += len(texts)
        return np.stack([self._vector(t) for t in texts]) if texts else np.zeros((0, self.dimension), dtype=np.float32)

    def token_counts(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([len(t.split()) for t in texts], dtype=np.int64)

    def encode_query(self, text: str) -> np.ndarray:
        self.encoded += 1
        return self._vector(text)

    def _vector(self, text: str) -> np.ndarray:
        out = np.zeros(self.dimension, dtype=np.float32)
        for word in text.lower().split():
            digest = hashlib.md5(word.encode()).digest()
            out[digest[0] % self.dimension] += 1 if digest[1] % 2 else -1
        length = float(np.linalg.norm(out))
        return out / length if length else np.eye(1, self.dimension, dtype=np.float32)[0]


def unit(
    document: str, key: str, title: str, body: str = "", parent: str | None = "", blocks: Sequence[Block] = ()
) -> InfoUnit:
    """A clause; key "" makes the document's root."""
    kind = "clause" if key else "document"
    return InfoUnit(
        f"{document}#{key}", document, key, key, title, kind, parent if key else None, 1, body, blocks=tuple(blocks)
    )


def citation(source: str, target: str) -> Citation:
    """A resolved citation between two unit ids."""
    return Citation(source, 1, -1, -1, "", "", target.split("#")[0], target.split("#")[1], target=target, state="resolved")


def document(name: str, version: str, title: str) -> Document:
    return Document(f"{name} {version}", name, version, "2020-01", title, 1, f"{name}.pdf")


def corpus() -> Corpus:
    """Two standards with eleven units, split and unsplit, that cite each other."""
    a, b = "EN 999 001 V1.1.1", "TS 999 002 V1.2.1"
    long = " ".join(f"The immunity level of port {n} shall be {n} V/m." for n in range(1, 13))
    units = (
        unit(a, "", "Radio widget immunity"),
        unit(a, "1", "Scope", "The present document covers radio widgets and their chargers."),
        unit(a, "4", "Test conditions"),
        unit(a, "4.1", "General", "The equipment shall be tested under clause 5 conditions.", "4"),
        unit(a, "4.2", "Arrangements for test signals", "Test signals shall be applied as in TS 999 002.", "4"),
        unit(a, "5", "Immunity requirements", long),
        unit(a, "5.1", "Performance criteria", "Widgets shall not lose stored data during the immunity test.", "5"),
        unit(b, "", "Widget signal generators"),
        unit(b, "1", "Scope", "The present document specifies generators of test signals."),
        unit(b, "2", "Output level", "The generator shall keep its output level within 0,5 dB over 10 minutes."),
        unit(b, "2.1", "Calibration", "Calibration of the output level shall be repeated every 12 months.", "2"),
    )
    citations = (citation(f"{a}#4.1", f"{a}#5"), citation(f"{a}#4.2", f"{b}#"), citation(f"{a}#4.2", f"{b}#2"))
    documents = (
        document("EN 999 001", "V1.1.1", "Radio widget immunity"),
        document("TS 999 002", "V1.2.1", "Widget signal generators"),
    )
    return Corpus(documents, units, citations)
