"""NormRAG's in-memory core: standards in, ranked and explained clauses out. No Streamlit anywhere in here.

The names of the five-line use stand here; each is imported when it is asked for, so that `import normrag_core` costs nothing.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from normrag_core.embedding import load_embedder
    from normrag_core.ingest import read_pdf
    from normrag_core.model import Corpus
    from normrag_core.retriever import Retriever

# Before any library of theirs is imported: they read it then. Whoever wants to report to Hugging Face sets it to 0.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

__version__ = "0.1.0"
__all__ = ["Corpus", "Retriever", "load_embedder", "read_pdf"]
_HOME = {
    "Corpus": "normrag_core.model",
    "Retriever": "normrag_core.retriever",
    "load_embedder": "normrag_core.embedding",
    "read_pdf": "normrag_core.ingest",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'normrag_core' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
