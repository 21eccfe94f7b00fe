"""Module 2: texts to vectors. `load_embedder()` → Embedder; importing this package loads no model library."""

from normrag_core.chunking import passage as embedding_text
from normrag_core.embedding.base import Embedder, EmbeddingCancelled, EmbeddingError
from normrag_core.embedding.load import load_embedder
from normrag_core.embedding.models import local_models

__all__ = ["Embedder", "EmbeddingCancelled", "EmbeddingError", "embedding_text", "load_embedder", "local_models"]
