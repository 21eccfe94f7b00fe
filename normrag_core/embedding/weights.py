"""Reads model weights from a safetensors file: a length, a JSON header, plain numbers. No code can hide in one.

Written out (it is thirty lines) because the published Granite weights are bfloat16, which numpy does not know.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

from normrag_core.embedding.base import EmbeddingError

_TYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_HEADER_LIMIT = 100_000_000


def load_weights(path: Path) -> dict[str, np.ndarray]:
    """name → float32 array of every floating-point tensor in the file. Integer tensors (position ids) are left out."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    if data.size < 8 or not 0 < (length := int.from_bytes(data[:8].tobytes(), "little")) <= min(data.size - 8, _HEADER_LIMIT):
        raise EmbeddingError(f"{path.name}: expected a safetensors file; found {data.size} bytes without its header")
    try:
        header = json.loads(data[8 : 8 + length].tobytes())
    except ValueError as error:
        raise EmbeddingError(f"{path.name}: expected a safetensors header in JSON; found {error}") from None
    body = data[8 + length :]
    weights = {}
    for name, entry in header.items():
        kind = _TYPES.get(entry.get("dtype", ""))
        if name == "__metadata__" or kind is None:
            continue
        start, end = entry["data_offsets"]
        wanted = math.prod(entry["shape"]) * np.dtype(kind).itemsize
        if not 0 <= start <= end <= body.size or end - start != wanted:
            raise EmbeddingError(f"{path.name}: {name}: expected {wanted} bytes; found offsets {start} to {end} of {body.size}")
        raw = body[start:end].view(kind).reshape(entry["shape"])
        if entry["dtype"] == "BF16":
            weights[name] = (raw.astype("<u4") << 16).view("<f4")
        else:
            weights[name] = np.asarray(raw, dtype=np.float32)
    return weights
