"""A model's folder → an ONNX file in the cache, once; which precision it has is measured on this machine at that time.

int8 is taken when its vectors of a few probe texts stay near those of float32 and cost less; the choice is written down
beside the file, so that it cannot flip from start to start and turn every stored vector stale.
"""

from __future__ import annotations

import json
import platform
import time
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import numpy as np
from filelock import FileLock

from normrag_core.embedding import bert
from normrag_core.embedding.base import EmbeddingError
from normrag_core.embedding.models import ModelFiles, ModelSettings
from normrag_core.embedding.onnx_engine import OnnxEngine
from normrag_core.embedding.weights import load_weights
from normrag_core.files import atomic_write, cache_folder, clear_leftovers, sha256_of

GRAPH_VERSION = 3
"""Raised when `bert` writes another graph for the same weights."""
Precision = Literal["auto", "int8", "fp32"]
_WEIGHT_LIMITS = (127, 63)
_LEAST_COSINE = 0.97
"""On the probes, which are harder than prose (0.988 where prose has 0.994); overflowing 8-bit sums give far less."""
_PROBE_LENGTHS = (16, 64, 128, 192)


@dataclass(frozen=True, slots=True)
class Converted:
    """What the cache says of a converted model. precision: "fp32", "int8" or "int8 (7 bit)".

    cosine: mean to float32 on the probes; speedup: float32's time over this one's.
    """

    precision: str
    source_sha256: str
    onnx_sha256: str
    cosine: float
    speedup: float


def convert(
    files: ModelFiles, settings: ModelSettings, shape: bert.Architecture, precision: Precision
) -> tuple[OnnxEngine, Converted]:
    """The engine of a model, converted now or found in the cache; works without a cache where that cannot be written."""
    folder = cache_folder() / "models" / _key(files, precision)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "lock"):
            clear_leftovers(folder)
            found = _cached(folder)
            if found is None:
                model, made = _make(files, settings, shape, precision)
                atomic_write(folder / "model.onnx", model)
                atomic_write(folder / "manifest.json", json.dumps(asdict(made), indent=1).encode())
                return OnnxEngine(model), made
            return OnnxEngine(folder / "model.onnx"), found
    except OSError:  # disk full or read-only: slower starts, nothing else
        model, made = _make(files, settings, shape, precision)
        return OnnxEngine(model), made


def _key(files: ModelFiles, precision: Precision) -> str:
    """Names what the result depends on. Size and time stand for the weights, whose hash takes longer than loading them."""
    import onnxruntime

    state = files.weights.stat()
    parts = (
        str(files.folder),
        state.st_size,
        state.st_mtime_ns,
        GRAPH_VERSION,
        precision,
        onnxruntime.__version__,
        _processor(),
    )
    return sha256("\0".join(map(str, parts)).encode()).hexdigest()[:24]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf8").splitlines()
        return next(line for line in lines if line.startswith(("flags", "Features")))
    except (OSError, StopIteration):
        return f"{platform.machine()} {platform.processor()}"


def _cached(folder: Path) -> Converted | None:
    """None where nothing is there or where a checksum says that it is not what was written."""
    try:
        manifest = Converted(**json.loads((folder / "manifest.json").read_text("utf8")))
        return manifest if sha256_of(folder / "model.onnx") == manifest.onnx_sha256 else None
    except (OSError, ValueError, TypeError):
        return None


def _make(
    files: ModelFiles, settings: ModelSettings, shape: bert.Architecture, precision: Precision
) -> tuple[bytes, Converted]:
    source = sha256_of(files.weights)
    if files.sha256 and source != files.sha256:
        raise EmbeddingError(
            f"{files.name}: expected weights with SHA-256 {files.sha256}; found {source}. Remedy: reinstall the package"
        )
    if settings.pooling is None:
        raise EmbeddingError(f"{files.name}: expected mean or cls pooling; found another. Remedy: NORMRAG_ENGINE=torch")
    weights = load_weights(files.weights)
    probes = _probes(len(weights[next(k for k in weights if k.endswith("word_embeddings.weight"))]), settings.max_tokens)
    plain = bert.build(weights, shape, settings.pooling, None)
    expected, plain_seconds = _measure(plain, probes)
    if precision != "fp32":
        for limit in _WEIGHT_LIMITS:
            model = bert.build(weights, shape, settings.pooling, limit)
            found, seconds = _measure(model, probes)
            cosine = float((expected * found).sum(axis=1).mean())
            if cosine >= _LEAST_COSINE and (precision == "int8" or seconds < plain_seconds):
                name = "int8" if limit == _WEIGHT_LIMITS[0] else "int8 (7 bit)"
                return model, Converted(name, source, sha256(model).hexdigest(), cosine, plain_seconds / seconds)
        if precision == "int8":
            raise EmbeddingError(
                f"{files.name}: expected int8 vectors within cosine {_LEAST_COSINE} of float32; found {cosine:.3f}. "
                "Remedy: NORMRAG_ENGINE=onnx-fp32"
            )
    return plain, Converted("fp32", source, sha256(plain).hexdigest(), 1.0, 1.0)


def _probes(vocabulary: int, max_tokens: int) -> list[list[int]]:
    """Token sequences drawn once and for all from the middle of the vocabulary, where whole words stand."""
    draw = np.random.default_rng(7)
    low, high = vocabulary // 15, vocabulary // 3
    return [draw.integers(low, high, min(n, max_tokens)).tolist() for n in _PROBE_LENGTHS]


def _measure(model: bytes, probes: list[list[int]]) -> tuple[np.ndarray, float]:
    """Vectors of the probes and the quickest of three rounds in seconds."""
    engine = OnnxEngine(model)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        vectors = engine.vectors(probes)
        times.append(time.perf_counter() - start)
    return vectors, min(times)
