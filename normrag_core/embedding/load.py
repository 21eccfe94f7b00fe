"""From a model's name to a working embedder: which files, which engine, which revision."""

from __future__ import annotations

import logging
import os
from hashlib import sha256
from typing import TYPE_CHECKING, get_args

from normrag_core.embedding.base import Embedder, EmbeddingError
from normrag_core.embedding.models import HASH, ModelFiles, ModelSettings, choose, read_settings

if TYPE_CHECKING:
    from normrag_core.embedding.encoder import LongTexts

ENGINES = ("auto", "onnx-int8", "onnx-fp32", "torch")
_log = logging.getLogger(__name__)


def load_embedder(model: str | None = None, engine: str = "auto", long_texts: LongTexts = "windows") -> Embedder:
    """The embedder to use on this machine.

    model: a folder, a hub name, an alias ("minilm", "granite") or "hash"; None: NORMRAG_MODEL, else the default order of
    `models`. engine: one of ENGINES; "auto" takes NORMRAG_ENGINE, else what was measured to be best here. long_texts:
    what happens beyond the model's limit, "windows" (average over all of the text) or "cut". Raises EmbeddingError.
    """
    if (model or os.environ.get("NORMRAG_MODEL")) == HASH:
        from normrag_core.embedding.hashing import HashEmbedder

        return HashEmbedder()
    wanted = os.environ.get("NORMRAG_ENGINE", "auto") if engine == "auto" else engine
    if wanted not in ENGINES:
        raise EmbeddingError(f"engine: expected one of {', '.join(ENGINES)}; found {wanted!r}")
    files = choose(model)
    settings = read_settings(files)
    if wanted == "torch":
        return _with_torch(files, settings, long_texts)
    try:
        return _with_onnx(files, settings, wanted, long_texts)
    except (EmbeddingError, ImportError) as error:
        if wanted != "auto" or not _torch_installed():
            raise EmbeddingError(str(error)) from error
        _log.warning("%s: onnxruntime cannot run it (%s); PyTorch does", files.name, error)
        return _with_torch(files, settings, long_texts)


def _with_onnx(files: ModelFiles, settings: ModelSettings, wanted: str, long_texts: LongTexts) -> Embedder:
    from normrag_core.embedding.bert import Architecture
    from normrag_core.embedding.convert import GRAPH_VERSION, convert

    shape = Architecture.of(settings.config)
    if shape is None or settings.pooling is None:
        kind = settings.config.get("model_type")
        raise EmbeddingError(f"{files.name}: expected a BERT or RoBERTa encoder with mean or cls pooling; found {kind!r}")
    precision = {"onnx-int8": "int8", "onnx-fp32": "fp32"}.get(wanted, "auto")
    computing, made = convert(files, settings, shape, precision)  # type: ignore[arg-type]
    weights = f"{made.source_sha256} {made.precision} {GRAPH_VERSION}"
    return _embedder(files, settings, f"onnxruntime {made.precision}", computing, weights, long_texts)


def _with_torch(files: ModelFiles, settings: ModelSettings, long_texts: LongTexts) -> Embedder:
    from normrag_core.embedding.torch_engine import TorchEngine
    from normrag_core.files import sha256_of

    found = sha256_of(files.weights)
    if files.sha256 and found != files.sha256:
        raise EmbeddingError(f"{files.name}: expected weights with SHA-256 {files.sha256}; found {found}")
    return _embedder(files, settings, "PyTorch fp32", TorchEngine(files.folder), f"{found} torch", long_texts)


def _embedder(
    files: ModelFiles, settings: ModelSettings, engine_name: str, computing: object, weights: str, long_texts: LongTexts
) -> Embedder:
    from tokenizers import Tokenizer

    from normrag_core.embedding.encoder import LongTexts, TransformerEmbedder

    if long_texts not in get_args(LongTexts):
        raise EmbeddingError(f"long_texts: expected one of {', '.join(get_args(LongTexts))}; found {long_texts!r}")
    path = files.folder / "tokenizer.json"
    if not path.is_file():
        raise EmbeddingError(f"{files.name}: expected tokenizer.json in {files.folder}; found none")
    facts = (weights, settings.max_tokens, settings.pooling, settings.query_prefix, long_texts)
    return TransformerEmbedder(
        name=files.name,
        revision=sha256("\0".join(map(str, facts)).encode()).hexdigest()[:16],
        engine_name=engine_name,
        engine=computing,  # type: ignore[arg-type]
        tokenizer=Tokenizer.from_file(str(path)),
        max_tokens=settings.max_tokens,
        query_prefix=settings.query_prefix,
        long_texts=long_texts,
    )


def _torch_installed() -> bool:
    import importlib.util

    return all(importlib.util.find_spec(name) for name in ("torch", "sentence_transformers"))
