"""BERT and RoBERTa encoders written straight from their weights as an ONNX graph, in float32 or int8. Needs no PyTorch.

The graph maps one text's token ids (1, length) to its vector (1, hidden): there is no padding, hence no mask, hence a
vector does not depend on which texts were computed together. int8: weights symmetric per output channel, activations
quantised per text as they come (dynamic quantisation).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from normrag_core.embedding.base import EmbeddingError

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

Pooling = Literal["mean", "cls"]
_CONTRIB = "com.microsoft"
_PREFIXES = ("", "bert.", "roberta.", "model.")


@dataclass(frozen=True, slots=True)
class Architecture:
    """The numbers of a config.json that the graph needs. first_position: row of the position table of the first token."""

    layers: int
    heads: int
    hidden: int
    epsilon: float
    first_position: int
    positions: int

    @classmethod
    def of(cls, config: dict) -> Architecture | None:
        """None where this module cannot write the model (another family, another activation, relative positions)."""
        kind = config.get("model_type")
        if (
            kind not in ("bert", "roberta", "xlm-roberta")
            or config.get("hidden_act") != "gelu"
            or config.get("position_embedding_type", "absolute") != "absolute"
        ):
            return None
        # RoBERTa counts positions from padding_idx + 1; the rows before are never used.
        first = 0 if kind == "bert" else int(config.get("pad_token_id", 1)) + 1
        return cls(
            layers=int(config["num_hidden_layers"]),
            heads=int(config["num_attention_heads"]),
            hidden=int(config["hidden_size"]),
            epsilon=float(config.get("layer_norm_eps", 1e-12)),
            first_position=first,
            positions=int(config["max_position_embeddings"]) - first,
        )


def build(weights: dict[str, np.ndarray], shape: Architecture, pooling: Pooling, weight_limit: int | None) -> bytes:
    """The serialised ONNX model: input "ids" (1, length) int64, output "vector" (1, hidden) float32, L2-normalised.

    weight_limit: None for float32; 127 for int8 weights; 63 for 7-bit ones, which processors without 8-bit dot products
    need, since the sum of two products of unsigned and signed bytes overflows their 16 bits.
    """
    prefix = next((p for p in _PREFIXES if f"{p}embeddings.word_embeddings.weight" in weights), None)
    if prefix is None:
        raise EmbeddingError(
            f"weights: expected embeddings.word_embeddings.weight; found {', '.join(sorted(weights)[:5])}, ..."
        )
    return _Graph({k.removeprefix(prefix): v for k, v in weights.items()}, shape, weight_limit).write(pooling)


class _Graph:
    def __init__(self, weights: dict[str, np.ndarray], shape: Architecture, weight_limit: int | None) -> None:
        self.weights, self.shape, self.weight_limit = weights, shape, weight_limit
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self._last_quantised = ""

    def write(self, pooling: Pooling) -> bytes:
        from onnx import TensorProto, helper

        hidden = self._embeddings()
        for layer in range(self.shape.layers):
            hidden = self._layer(hidden, f"encoder.layer.{layer}.")
        if pooling == "mean":
            pooled = self._node("ReduceMean", [hidden], "pooled", axes=[1], keepdims=0)
        else:
            pooled = self._node("Gather", [hidden, self._constant("zero", np.array(0))], "pooled", axis=1)
        self._node("LpNormalization", [pooled], "vector", axis=-1, p=2)
        graph = helper.make_graph(
            self.nodes,
            "encoder",
            [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "length"])],
            [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, self.shape.hidden])],
            self.constants,
        )
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(_CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()

    def _embeddings(self) -> str:
        from onnx import TensorProto, helper

        positions = self._weight("embeddings.position_embeddings.weight")[self.shape.first_position :]
        ids = self._node("Cast", ["ids"], "ids32", to=TensorProto.INT32)
        types = self._node("Sub", [ids, ids], "types32")  # one segment: all zero
        inputs = [
            ids,
            types,
            self._constant("words", self._weight("embeddings.word_embeddings.weight")),
            self._constant("positions", positions),
            self._constant("types", self._weight("embeddings.token_type_embeddings.weight")),
            self._constant("embedded.gain", self._weight("embeddings.LayerNorm.weight")),
            self._constant("embedded.bias", self._weight("embeddings.LayerNorm.bias")),
        ]
        self.nodes.append(
            helper.make_node(
                "EmbedLayerNormalization",
                inputs,
                ["embedded", ""],  # the second output, a mask, is not optional to the type checker, but may be nameless
                name="embedded",
                domain=_CONTRIB,
                epsilon=self.shape.epsilon,
            )
        )
        return "embedded"

    def _layer(self, x: str, at: str) -> str:
        """Post-norm transformer block: attention and feed-forward, each added to its input and normalised."""
        parts = [self._linear(x, f"{at}attention.self.{name}") for name in ("query", "key", "value")]
        attended = self._node("MultiHeadAttention", parts, f"{at}attended", _CONTRIB, num_heads=self.shape.heads)
        y = self._add_norm(self._linear(attended, f"{at}attention.output.dense"), x, f"{at}attention.output.LayerNorm")
        wide = self._node("Gelu", [self._linear(y, f"{at}intermediate.dense")], f"{at}gelu", _CONTRIB)
        return self._add_norm(self._linear(wide, f"{at}output.dense"), y, f"{at}output.LayerNorm")

    def _add_norm(self, x: str, skip: str, name: str) -> str:
        """Layer normalisation of x + skip, written out: gain · √hidden · (v − mean) / ‖v − mean‖ + bias.

        onnxruntime's own operator runs value by value and took a fifth of the time; these take a third of that. They drop
        the epsilon (1e-12 to 1e-5), which counts only where all values of a token are equal.
        """
        total = self._node("Add", [x, skip], f"{name}.sum")
        mean = self._node("ReduceMean", [total], f"{name}.mean", axes=[2], keepdims=1)
        unit = self._node(
            "LpNormalization", [self._node("Sub", [total, mean], f"{name}.centred")], f"{name}.unit", axis=-1, p=2
        )
        gain = self._constant(f"{name}.gain", self._weight(f"{name}.weight") * np.float32(np.sqrt(self.shape.hidden)))
        bias = self._constant(f"{name}.bias", self._weight(f"{name}.bias"))
        return self._node("Add", [self._node("Mul", [unit, gain], f"{name}.scaled"), bias], f"{name}.out")

    def _linear(self, x: str, name: str) -> str:
        weight = self._weight(f"{name}.weight").T
        bias = self._constant(f"{name}.bias", self._weight(f"{name}.bias"))
        if self.weight_limit is None:
            product = self._node("MatMul", [x, self._constant(f"{name}.weight", weight)], f"{name}.product")
            return self._node("Add", [product, bias], f"{name}.out")
        scale = np.maximum(np.abs(weight).max(axis=0), 1e-12) / np.float32(self.weight_limit)
        quantised, x_scale, x_zero = self._quantised(x)
        inputs = [
            quantised,
            self._constant(f"{name}.weight", np.round(weight / scale).astype(np.int8)),
            x_scale,
            self._constant(f"{name}.scale", scale.astype(np.float32)),
            x_zero,
            self._constant(f"{name}.zero", np.zeros(weight.shape[1], np.int8)),
            bias,
        ]
        return self._node("MatMulIntegerToFloat", inputs, f"{name}.out", _CONTRIB)

    def _quantised(self, x: str) -> list[str]:
        """uint8 values, scale and zero point of an activation; made once for the query, key and value projections."""
        from onnx import helper

        names = [f"{x}.uint8", f"{x}.scale", f"{x}.zero"]
        if self._last_quantised != x:
            self._last_quantised = x
            self.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], names, name=names[0]))
        return names

    def _weight(self, name: str) -> np.ndarray:
        if name not in self.weights:
            raise EmbeddingError(f"weights: expected {name}; found {len(self.weights)} tensors without it")
        return self.weights[name]

    def _constant(self, name: str, value: np.ndarray) -> str:
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def _node(self, kind: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, domain=domain, **attributes))
        return output
