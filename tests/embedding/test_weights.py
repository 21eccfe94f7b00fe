"""safetensors files: numbers come out right in each type, and a file that lies about itself is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from normrag_core.embedding import EmbeddingError
from normrag_core.embedding.weights import load_weights


def write(path: Path, header: dict, body: bytes) -> Path:
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)
    return path


def test_single_half_and_brain_floats(tmp_path: Path) -> None:
    values = np.array([[1.0, -2.5], [0.15625, 3.0]], "<f4")
    brain = (values.view("<u4") >> 16).astype("<u2")
    header = {
        "__metadata__": {"format": "pt"},
        "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "b": {"dtype": "F16", "shape": [4], "data_offsets": [16, 24]},
        "c": {"dtype": "BF16", "shape": [2, 2], "data_offsets": [24, 32]},
        "ids": {"dtype": "I64", "shape": [1], "data_offsets": [32, 40]},
    }
    body = values.tobytes() + values.astype("<f2").tobytes() + brain.tobytes() + bytes(8)
    found = load_weights(write(tmp_path / "m.safetensors", header, body))
    assert list(found) == ["a", "b", "c"]
    assert (found["a"] == values).all()
    assert (found["b"] == values.ravel()).all()
    assert (found["c"] == values).all()  # these four need no more than a brain float's 8 bits
    assert all(v.dtype == np.float32 for v in found.values())


@pytest.mark.parametrize(
    ("shape", "offsets"), [([2], [0, 4]), ([2], [0, 4096]), ([2], [8, 0]), ([1 << 40], [0, 8]), ([2], [-8, 0])]
)
def test_offsets_that_do_not_fit_are_refused(shape: list[int], offsets: list[int], tmp_path: Path) -> None:
    path = write(tmp_path / "m.safetensors", {"a": {"dtype": "F32", "shape": shape, "data_offsets": offsets}}, bytes(16))
    with pytest.raises(EmbeddingError, match=r"m\.safetensors: a: expected"):
        load_weights(path)


@pytest.mark.parametrize("data", [b"1234567", (1 << 60).to_bytes(8, "little") + b"{}", (2).to_bytes(8, "little") + b"{]"])
def test_what_is_no_safetensors_file_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.safetensors").write_bytes(data)
    with pytest.raises(EmbeddingError, match="expected a safetensors"):
        load_weights(tmp_path / "m.safetensors")
