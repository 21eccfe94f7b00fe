"""The ONNX engine against sentence-transformers: the bundled model, and tiny random ones of each family it can write."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from normrag_core.embedding import Embedder, EmbeddingCancelled, EmbeddingError, load_embedder
from normrag_core.embedding import models as choice

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

pytestmark = pytest.mark.model

TEXTS = [
    "The receiver shall ignore descriptors whose tag it does not know.",
    "4.2.1 Radiated emission: the limit at 3 m is 40 dBµV/m between 30 MHz and 230 MHz.",
    "Conformance is tested with a carrier at the lowest, a middle and the highest channel of the declared band. " * 4,
    "Void.",
    "The present document specifies 64 800 bits a frame; see clause 6.2 of EN 399 489-1 [1].",
]


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NORMRAG_CACHE", str(tmp_path_factory.mktemp("cache")))
        for name in ("NORMRAG_MODEL", "NORMRAG_ENGINE"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder("minilm")


@pytest.fixture(scope="module")
def peer() -> SentenceTransformer:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(choice.choose("minilm").folder), device="cpu")


@pytest.mark.parametrize(
    ("engine", "mean", "least"), [("auto", 0.99, 0.98), ("onnx-fp32", 0.9999, 0.9999), ("torch", 0.9999, 0.9999)]
)
def test_near_the_vectors_of_sentence_transformers(engine: str, mean: float, least: float, peer: SentenceTransformer) -> None:
    ours = load_embedder("minilm", engine).encode(TEXTS)
    theirs = peer.encode(TEXTS, normalize_embeddings=True)
    cosines = (ours * theirs).sum(axis=1)
    assert cosines.mean() >= mean
    assert cosines.min() >= least
    assert ours.shape == (5, 384)
    assert ours.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(ours, axis=1), 1.0, atol=1e-5)


def test_cut_like_the_peer_or_read_to_the_end(peer: SentenceTransformer) -> None:
    long = "A paragraph about frames and carriers. " * 60 + "At the very end it speaks of hydraulic brakes. " * 30
    cut, whole = load_embedder("minilm", long_texts="cut"), load_embedder("minilm")
    assert whole.token_counts([long])[0] > 2 * whole.max_tokens
    assert cut.encode([long])[0] @ peer.encode(long, normalize_embeddings=True) >= 0.99
    about = whole.encode_query("hydraulic brakes")
    assert whole.encode([long])[0] @ about > cut.encode([long])[0] @ about + 0.1
    assert cut.revision != whole.revision


def test_a_vector_does_not_depend_on_its_company(embedder: Embedder) -> None:
    together = embedder.encode(TEXTS)
    for text, row in zip(TEXTS, together, strict=True):
        assert (embedder.encode([text])[0] == row).all()


def test_token_counts_include_special_tokens_and_nothing_is_an_empty_text(
    embedder: Embedder, peer: SentenceTransformer
) -> None:
    expected = [len(peer.tokenizer(t)["input_ids"]) for t in TEXTS]
    assert embedder.token_counts(TEXTS).tolist() == expected
    assert embedder.encode([]).shape == (0, 384)
    assert np.isfinite(embedder.encode(["", "\ud800 \x00"])).all()


def test_progress_and_cancel(embedder: Embedder) -> None:
    seen: list[tuple[int, int]] = []
    embedder.encode(["a"] * 40, lambda done, total: seen.append((done, total)))
    assert seen == [(32, 40), (40, 40)]
    with pytest.raises(EmbeddingCancelled, match="after 32 of 40"):
        embedder.encode(["a"] * 40, cancel=lambda: bool(len(seen) == 3), progress=lambda *_: seen.append((0, 0)))


def test_a_second_start_converts_nothing_and_imports_no_torch(embedder: Embedder) -> None:
    code = (
        "import sys\n"
        "import normrag_core.embedding\n"
        "heavy = {'torch', 'transformers', 'onnxruntime', 'tokenizers', 'onnx', 'sentence_transformers'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "from normrag_core.embedding import load_embedder\n"
        "print(load_embedder('minilm').revision)\n"
        "assert heavy & set(sys.modules) == {'onnxruntime', 'tokenizers'}, heavy & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == embedder.revision


def test_nothing_calls_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setenv("NORMRAG_MODEL", "minilm")
    assert load_embedder().encode_query("What is the limit?").shape == (384,)


def test_a_harmed_file_in_the_cache_is_made_anew(embedder: Embedder) -> None:
    from normrag_core.files import cache_folder

    for model in (cache_folder() / "models").glob("*/model.onnx"):
        model.write_bytes(b"harmed" + model.read_bytes()[6:])
    again = load_embedder("minilm")
    assert (again.encode(TEXTS) == embedder.encode(TEXTS)).all()


def test_a_cache_that_cannot_be_written_costs_time_only(
    embedder: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NORMRAG_CACHE", str(tmp_path / "file"))
    assert load_embedder("minilm").encode(TEXTS).shape == embedder.encode(TEXTS).shape


def test_weights_that_are_not_the_known_ones_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = choice.choose("minilm")
    monkeypatch.setattr(choice, "_BUNDLED_SHA256", "0" * 64)
    monkeypatch.setenv("NORMRAG_CACHE", str(tmp_path))
    for engine in ("onnx-fp32", "torch"):
        with pytest.raises(EmbeddingError, match=f"expected weights with SHA-256 0000.*found {files.sha256}"):
            load_embedder("minilm", engine)


@pytest.mark.parametrize(("family", "pooling"), [("bert", "mean"), ("bert", "cls"), ("roberta", "cls")])
def test_tiny_models_of_each_family(family: str, pooling: str, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    folder = tiny_model(tmp_path / "tiny", family, pooling)
    ours = load_embedder(str(folder), "onnx-fp32")
    assert (ours.dimension, ours.max_tokens) == (32, 62)
    theirs = SentenceTransformer(str(folder), device="cpu").encode(TEXTS[:2], normalize_embeddings=True)
    np.testing.assert_allclose(ours.encode(TEXTS[:2]), theirs, atol=1e-4)


def test_another_family_falls_back_to_torch(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny", "bert", "mean")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_act": "relu"}))
    found = load_embedder(str(folder))
    assert found.engine == "PyTorch fp32"
    assert found.encode(TEXTS[:2]).shape == (2, 32)
    with pytest.raises(EmbeddingError, match="expected a BERT or RoBERTa encoder"):
        load_embedder(str(folder), "onnx-int8")


def tiny_model(folder: Path, family: str, pooling: str) -> Path:
    """A random encoder of 2 layers with a word tokenizer, in the sentence-transformers layout."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel

    torch.manual_seed(3)
    specials = {"bert": ("[CLS]", "[SEP]", "[PAD]"), "roberta": ("<s>", "</s>", "<pad>")}[family]
    words = sorted({w for t in TEXTS for w, _ in pre_tokenizers.Whitespace().pre_tokenize_str(t)})
    # RoBERTa's padding is 1, from which its positions are counted
    order = [specials[2], specials[0], specials[1]] if family == "bert" else [specials[0], specials[2], specials[1]]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate([*order, "[UNK]", *words])}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{specials[0]} $A {specials[1]}", special_tokens=[(s, tokenizer.token_to_id(s)) for s in specials[:2]]
    )
    kind, network = {"bert": (BertConfig, BertModel), "roberta": (RobertaConfig, RobertaModel)}[family]
    config = kind(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=62 if family == "bert" else 64,
        type_vocab_size=2 if family == "bert" else 1,
        pad_token_id=tokenizer.token_to_id(specials[2]),
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.4,
    )
    network(config, add_pooling_layer=False).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    facts = {
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "pad_token": specials[2],
            "unk_token": "[UNK]",
            "cls_token": specials[0],
            "sep_token": specials[1],
            "model_max_length": 62,
        },
        "sentence_bert_config.json": {"max_seq_length": 62},
        "1_Pooling/config.json": {
            "word_embedding_dimension": 32,
            "pooling_mode_cls_token": pooling == "cls",
            "pooling_mode_mean_tokens": pooling == "mean",
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        ],
    }
    for name, content in facts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    return folder
