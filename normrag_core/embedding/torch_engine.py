"""Runs a model with sentence-transformers and PyTorch: for families that `bert` cannot write, and as the peer to compare with.

Importing PyTorch takes seconds; that happens when an engine is made, never before.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

_BATCH = 16


class TorchEngine:
    """A sentence-transformers folder on the CPU in float32; weights from safetensors only, no code from the folder."""

    def __init__(self, folder: Path) -> None:
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(
            str(folder), device="cpu", local_files_only=True, trust_remote_code=False, model_kwargs={"use_safetensors": True}
        )
        self.dimension = int(self._model.get_embedding_dimension() or 0)
        self._padding = int(getattr(self._model.tokenizer, "pad_token_id", 0) or 0)

    def vectors(self, sequences: Sequence[Sequence[int]]) -> np.ndarray:
        """(n, dimension) float32, rows L2-normalised. sequences: token ids with special tokens, each within the limit."""
        import torch

        rows = np.empty((len(sequences), self.dimension), np.float32)
        order = sorted(range(len(sequences)), key=lambda i: -len(sequences[i]))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            width = max(len(sequences[i]) for i in batch)
            ids = torch.full((len(batch), width), self._padding, dtype=torch.long)
            mask = torch.zeros((len(batch), width), dtype=torch.long)
            for row, i in enumerate(batch):
                ids[row, : len(sequences[i])] = torch.as_tensor(list(sequences[i]))
                mask[row, : len(sequences[i])] = 1
            with torch.inference_mode():
                out = self._model({"input_ids": ids, "attention_mask": mask})["sentence_embedding"]
                rows[batch] = torch.nn.functional.normalize(out.float(), dim=1).numpy()
        return rows
