"""Which model is chosen, and that nothing calls out unless it was asked to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from normrag_core.embedding import EmbeddingError, load_embedder, models
from normrag_core.embedding.hashing import HashEmbedder


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("NORMRAG_MODEL", "NORMRAG_ENGINE", "NORMRAG_ALLOW_DOWNLOAD", "HF_HUB_OFFLINE", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))


def in_cache(home: Path, name: str) -> Path:
    repository = home / "hub" / ("models--" + name.replace("/", "--"))
    folder = repository / "snapshots" / "abc"
    folder.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    (folder / "model.safetensors").write_bytes(b"")
    (folder / "config.json").write_text("{}")
    return folder


def refuse(name: str) -> Path:
    raise AssertionError(f"called out for {name}")


def test_bundled_then_granite_from_the_cache_then_what_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_download", refuse)
    assert models.choose().name == models.BUNDLED
    folder = in_cache(tmp_path / "hf", models.GRANITE)
    assert models.choose() == models.ModelFiles(models.GRANITE, folder)
    assert models.local_models() == (models.GRANITE, models.BUNDLED)
    monkeypatch.setenv("NORMRAG_MODEL", "minilm")
    assert models.choose().name == models.BUNDLED
    assert models.choose("granite").folder == folder
    monkeypatch.setenv("NORMRAG_MODEL", str(folder))
    assert models.choose().folder == folder


def test_the_hub_is_asked_only_when_that_was_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(models, "_download", lambda name: asked.append(name) or tmp_path)
    models.choose()
    assert asked == []
    monkeypatch.setenv("NORMRAG_ALLOW_DOWNLOAD", "1")
    assert models.choose() == models.ModelFiles(models.GRANITE, tmp_path)
    assert models.choose("someone/model").folder == tmp_path
    assert asked == [models.GRANITE, "someone/model"]
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert models.choose().name == models.BUNDLED
    with pytest.raises(EmbeddingError, match=r"someone/model: expected it in the local Hugging Face cache"):
        models.choose("someone/model")
    assert len(asked) == 2


def test_a_hub_that_does_not_answer_leaves_the_bundled_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(name: str) -> Path:
        raise EmbeddingError(f"{name}: expected the Hugging Face hub to answer; found ConnectError")

    monkeypatch.setattr(models, "_download", silent)
    monkeypatch.setenv("NORMRAG_ALLOW_DOWNLOAD", "1")
    assert models.choose().name == models.BUNDLED
    with pytest.raises(EmbeddingError, match="hub to answer"):
        models.choose("someone/model")


@pytest.mark.parametrize("name", ["no-such-alias", "/no/such/folder", "./model", "a/b/c"])
def test_a_name_that_is_nothing_says_what_was_expected(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_download", refuse)
    with pytest.raises(EmbeddingError, match="expected a folder, owner/name of a hub model, or one of hash, granite"):
        models.choose(name)


def test_the_toy_and_unknown_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NORMRAG_MODEL", "hash")
    assert isinstance(load_embedder(), HashEmbedder)
    monkeypatch.setenv("NORMRAG_ENGINE", "gpu")
    with pytest.raises(EmbeddingError, match=r"engine: expected one of auto, onnx-int8, .*; found 'gpu'"):
        load_embedder("minilm")


@pytest.mark.parametrize(
    ("files", "pooling", "max_tokens", "prefix"),
    [
        ({"config.json": {"model_type": "bert", "max_position_embeddings": 512}}, "mean", 512, ""),
        (
            {
                "config.json": {"model_type": "bert", "max_position_embeddings": 512},
                "sentence_bert_config.json": {"max_seq_length": 256},
                "1_Pooling/config.json": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False},
                "config_sentence_transformers.json": {"prompts": {"query": "query: "}},
            },
            "cls",
            256,
            "query: ",
        ),
        # RoBERTa: positions begin after the padding index, and transformers writes 1e30 for "no limit"
        (
            {
                "config.json": {"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1},
                "tokenizer_config.json": {"model_max_length": 1000000000000000019884624838656},
                "1_Pooling/config.json": {"pooling_mode": "cls"},
            },
            "cls",
            512,
            "",
        ),
        (
            {
                "config.json": {"model_type": "bert"},
                "modules.json": [
                    {"type": "sentence_transformers.models.Transformer"},
                    {"type": "sentence_transformers.models.Dense"},
                ],
            },
            None,
            512,
            "",
        ),
        ({"config.json": {"model_type": "bert"}, "1_Pooling/config.json": {"pooling_mode_max_tokens": True}}, None, 512, ""),
    ],
)
def test_settings_of_a_folder(files: dict, pooling: str | None, max_tokens: int, prefix: str, tmp_path: Path) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(content))
    found = models.read_settings(models.ModelFiles("m", tmp_path))
    assert (found.pooling, found.max_tokens, found.query_prefix) == (pooling, max_tokens, prefix)


def test_a_folder_without_a_model_says_so(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match=r"m: expected config\.json"):
        models.read_settings(models.ModelFiles("m", tmp_path))
