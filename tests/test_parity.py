"""Systems A, B and C worked out again in plain NumPy, as their descriptions say: ours agree to 1e-5 in float32.

The arithmetic below is written from the descriptions, head by head and row by row, and shares nothing with the layers
but their weights; defects of the originals are mended in it (scores divided by the root of the head's width, masks
that count, a head width of its own).
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from chatbot.config import ModelSettings
from chatbot.presets import preset
from chatbot.transformer.base import Transformer
from chatbot.transformer.make import make_transformer

V, S, T = 23, 6, 5
SMALLER = {"hidden_dim": 16, "num_heads": 4, "intermediate_dim": 24, "num_decoder_layers": 2}
Weights = dict[str, np.ndarray]


def random_model(settings: ModelSettings) -> tuple[Transformer, Weights]:
    """A model with random weights, biases and scales too, and its weights by their place in it."""
    tf.keras.utils.set_random_seed(1)
    model = make_transformer(V, 1, settings)
    for variable in model.trainable_variables:  # by name: one variable more must not change the others
        generator = np.random.default_rng(zlib.crc32(variable.path.split("/", 1)[1].encode()))
        variable.assign(generator.normal(0, 0.4, variable.shape) + (1 if "gamma" in variable.path else 0))
    weights = {variable.path.split("/", 1)[1]: variable.numpy().astype("float64") for variable in model.trainable_variables}
    return model, weights


def some_ids(length: int, seed: int, padding: int = 0) -> np.ndarray:
    ids = np.random.default_rng(seed).integers(4, V, (3, length)).astype("int32")
    ids[0, length - padding :] = 0
    return ids


def softmax(scores: np.ndarray) -> np.ndarray:
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def normalized(x: np.ndarray, weights: Weights, name: str, epsilon: float) -> np.ndarray:
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * weights[f"{name}/gamma"] + weights[f"{name}/beta"]


def dense(x: np.ndarray, weights: Weights, name: str) -> np.ndarray:
    return x @ weights[f"{name}/kernel"] + weights.get(f"{name}/bias", 0.0)


def relu_network(x: np.ndarray, weights: Weights, name: str) -> np.ndarray:
    return dense(np.maximum(dense(x, weights, f"{name}/expand"), 0), weights, f"{name}/contract")


def sinusoid(length: int, width: int) -> np.ndarray:
    """B's way of writing it: sin(pos / 10000^(2 floor(i/2)/D) + (i mod 2) pi/2)."""
    position, index = np.arange(length)[:, None], np.arange(width)[None]
    return np.sin(position / 10000 ** (2 * (index // 2) / width) + (index % 2) * np.pi / 2)


def attention(
    query: np.ndarray, memory: np.ndarray, may: np.ndarray, weights: Weights, name: str, heads: int, width: int
) -> np.ndarray:
    """One attention a head, each with projections of its own; joined, then linear where there is such a matrix."""
    fused = [part for part in ("query_key_value", "query", "key_value") if f"{name}/{part}/kernel" in weights]
    kernels = np.concatenate([weights[f"{name}/{part}/kernel"] for part in fused], axis=1)  # query, key, value side by side
    biases = np.concatenate([weights.get(f"{name}/{part}/bias", np.zeros(0)) for part in fused])
    joined = []
    for head in range(heads):
        parts = []
        for number, source in enumerate((query, memory, memory)):
            columns = slice((number * heads + head) * width, (number * heads + head + 1) * width)
            parts.append(source @ kernels[:, columns] + (biases[columns] if biases.size else 0.0))
        q, k, v = parts
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(width)
        joined.append(softmax(np.where(may, scores, -np.inf)) @ v)
    context = np.concatenate(joined, axis=-1)
    return dense(context, weights, f"{name}/output") if f"{name}/output/kernel" in weights else context


def causal(ids: np.ndarray) -> np.ndarray:
    return np.tril(np.ones((ids.shape[1], ids.shape[1]), bool)) & (ids != 0)[:, None, :]


def test_system_a() -> None:
    settings = preset("base-decoder-only").replace(**SMALLER)
    model, weights = random_model(settings)
    ids = some_ids(T, seed=2, padding=2)
    x = weights["answer_embedding/table/embeddings"][ids] + sinusoid(T, 16)
    for layer in range(2):
        name = f"body/encoder/layer_{layer}"
        norm = f"{name}/self_attention_residual/normalization"  # the one of both halves
        x = normalized(x + attention(x, x, causal(ids), weights, f"{name}/self_attention", 4, 4), weights, norm, 1e-5)
        x = normalized(x + relu_network(x, weights, f"{name}/feed_forward"), weights, norm, 1e-5)
    expected = dense(x, weights, "output_projection")
    logits = model.forward(ids[:, :0], ids).logits.numpy()
    np.testing.assert_allclose(logits[ids != 0], expected[ids != 0], atol=1e-5, rtol=1e-5)


def encode_decode(weights: Weights, question: np.ndarray, answer: np.ndarray, block: Any, embed: Any, final: Any) -> np.ndarray:
    """Encoder and decoder of two layers around the given way to wrap a sublayer."""
    seen = np.repeat((question != 0)[:, None, :], max(S, T), axis=1)
    x = embed(question, "question_embedding")
    for layer in range(2):
        name = f"encoder/layer_{layer}"
        x = block(x, f"{name}/self_attention", lambda y, name=name: (y, seen[:, :S]))
        x = block(x, f"{name}/feed_forward", None)
    memory = final(x, "encoder")
    y = embed(answer, "answer_embedding")
    for layer in range(2):
        name = f"decoder/layer_{layer}"
        y = block(y, f"{name}/self_attention", lambda z: (z, causal(answer)))
        y = block(y, f"{name}/cross_attention", lambda z: (memory, seen[:, :T]))
        y = block(y, f"{name}/feed_forward", None)
    return dense(final(y, "decoder"), weights, "output_projection")


def test_system_b() -> None:
    settings = preset("base-pre-norm").replace(**SMALLER, num_encoder_layers=2)
    model, weights = random_model(settings)
    question, answer = some_ids(S, seed=3, padding=2), some_ids(T, seed=4)

    def embed(ids: np.ndarray, name: str) -> np.ndarray:
        vectors = weights[f"{name}/table/embeddings"][ids] * (ids != 0)[..., None]
        return vectors * np.sqrt(16) + sinusoid(ids.shape[1], 16)

    def block(x: np.ndarray, name: str, memory: Any) -> np.ndarray:
        y = normalized(x, weights, f"{name}_residual/normalization", 1e-6)
        return x + (
            relu_network(y, weights, name) if memory is None else attention(y, *memory(y), weights, name, heads=4, width=4)
        )

    def final(x: np.ndarray, name: str) -> np.ndarray:
        return normalized(x, weights, f"{name}/final_normalization", 1e-6)

    expected = encode_decode(weights, question, answer, block, embed, final)
    logits = model.forward(question, answer).logits.numpy()
    np.testing.assert_allclose(logits, expected, atol=1e-5, rtol=1e-5)
    assert not any(name.startswith("output_projection/bias") or ("attention" in name and "bias" in name) for name in weights)


def test_system_c() -> None:
    model, weights = random_model(preset("tiny"))
    question, answer = some_ids(S, seed=5, padding=3), some_ids(T, seed=6)

    def embed(ids: np.ndarray, name: str) -> np.ndarray:
        return weights[f"{name}/table/embeddings"][ids] + sinusoid(ids.shape[1], 16)

    def block(x: np.ndarray, name: str, memory: Any) -> np.ndarray:
        update = (
            relu_network(x, weights, name) if memory is None else attention(x, *memory(x), weights, name, heads=4, width=16)
        )
        return normalized(x + update, weights, f"{name}_residual/normalization", 1e-3)

    expected = encode_decode(weights, question, answer, block, embed, lambda x, name: x)
    logits = model.forward(question, answer).logits.numpy()
    np.testing.assert_allclose(logits, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("changed", [{"epsilon": 1e-2}, {"norm": "pre"}, {"share_norm": False}, {"final_norm": True}])
def test_an_argument_that_changes_nothing_would_be_found(changed: dict[str, Any]) -> None:
    settings = preset("base-decoder-only").replace(**SMALLER)
    ids = some_ids(T, seed=2)
    outputs = []
    for each in (settings, settings.replace(**changed)):
        model, _ = random_model(each)
        outputs.append(model.forward(ids[:, :0], ids).logits.numpy())
    assert np.abs(outputs[0] - outputs[1]).max() > 1e-4
