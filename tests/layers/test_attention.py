from __future__ import annotations

import math

import keras
import numpy as np
import pytest

from chatbot.layers.attention import MultiHeadAttention, ScaledDotProductAttention
from chatbot.layers.masks import attend_to, causal_mask, padding_mask
from chatbot.layers.positional_encoding import PositionalEncoding

B, S, T, D, H, HEAD = 2, 6, 4, 12, 3, 5


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def test_sinusoid_against_its_formula() -> None:
    length, width = 150, 16
    written = PositionalEncoding()(np.zeros((1, length, width), "float32"))[0]
    for position in (0, 1, 7, 149):
        for pair in range(width // 2):
            angle = position / 10000 ** (2 * pair / width)
            assert math.isclose(written[position, 2 * pair], math.sin(angle), abs_tol=2e-5)
            assert math.isclose(written[position, 2 * pair + 1], math.cos(angle), abs_tol=2e-5)


def test_sinusoid_continues_where_it_is_told_to() -> None:
    layer, vectors = PositionalEncoding(), floats(B, 10, D)
    np.testing.assert_allclose(layer(vectors[:, 6:], positions=np.arange(6, 10)), layer(vectors)[:, 6:], atol=1e-6)


def test_masks_say_who_may_attend() -> None:
    assert padding_mask(np.array([[5, 7, 0]])).numpy().tolist() == [[True, True, False]]
    assert attend_to(padding_mask(np.array([[5, 7, 0]]))).shape == (1, 1, 1, 3)
    assert causal_mask(3, 3).numpy()[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert causal_mask(1, 4, 2).numpy()[0, 0].tolist() == [[True, True, True, False]]


def test_weights_sum_to_one_and_ignore_what_is_masked() -> None:
    mask = np.array([[[[True, True, False, True, False, False]]]])
    context, weights = ScaledDotProductAttention()(floats(B, H, T, HEAD), floats(B, H, S, HEAD), floats(B, H, S, HEAD), mask)
    np.testing.assert_allclose(np.sum(weights, -1), 1, atol=1e-6)
    assert np.all(weights.numpy()[..., [2, 4, 5]] == 0)
    changed = floats(B, H, S, HEAD)
    changed[:, :, [2, 4, 5]] = 1e4
    again, _ = ScaledDotProductAttention()(floats(B, H, T, HEAD), changed, changed, mask)
    once, _ = ScaledDotProductAttention()(floats(B, H, T, HEAD), floats(B, H, S, HEAD), floats(B, H, S, HEAD), mask)
    np.testing.assert_allclose(again, once, atol=1e-6)
    np.testing.assert_allclose(context, once)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_fully_masked_row_stays_finite(dtype: str) -> None:
    layer = ScaledDotProductAttention(dtype=dtype)
    mask = np.zeros((B, 1, 1, S), bool)
    context, weights = layer(floats(B, H, T, HEAD), floats(B, H, S, HEAD), floats(B, H, S, HEAD), mask)
    assert np.all(np.isfinite(np.asarray(context, "float32")))
    np.testing.assert_allclose(np.asarray(weights, "float32"), 1 / S, atol=1e-3)


@pytest.mark.parametrize("cross", [False, True])
def test_equals_the_frameworks_attention_with_the_same_weights(cross: bool) -> None:
    ours = MultiHeadAttention(H, HEAD, cross_attention=cross)
    theirs = keras.layers.MultiHeadAttention(H, HEAD)
    query = floats(B, T, D)
    memory = floats(B, S, D, seed=1) if cross else query
    mask = np.random.default_rng(2).random((B, 1, T, memory.shape[1])) > 0.3
    ours(query, memory) if cross else ours(query)
    for variable in ours.weights:
        variable.assign(floats(*variable.shape, seed=len(variable.path)))
    theirs(query, memory)

    if cross:
        kernels = [ours.query_projection.kernel, *np.split(ours.memory_projection.kernel.numpy(), 2, axis=1)]
        biases = [ours.query_projection.bias, *np.split(ours.memory_projection.bias.numpy(), 2)]
    else:
        kernels = np.split(ours.self_projection.kernel.numpy(), 3, axis=1)
        biases = np.split(ours.self_projection.bias.numpy(), 3)
    weights = []
    for kernel, bias in zip(kernels, biases, strict=True):
        weights += [np.reshape(kernel, (D, H, HEAD)), np.reshape(bias, (H, HEAD))]
    weights += [np.reshape(ours.output_projection.kernel, (H, HEAD, D)), ours.output_projection.bias.numpy()]
    theirs.set_weights([weights[0], weights[1], weights[2], weights[3], weights[4], weights[5], weights[6], weights[7]])

    expected, expected_weights = theirs(query, memory, attention_mask=mask[:, 0], return_attention_scores=True)
    output, attention_weights, _ = ours(query, *([memory] if cross else []), attention_mask=mask)
    np.testing.assert_allclose(output, expected, atol=1e-5)
    np.testing.assert_allclose(attention_weights, expected_weights, atol=1e-5)


def test_one_attention_a_head_is_the_same_map() -> None:
    """The Korean original has a layer with its own projections for each head, then concatenates."""
    layer = MultiHeadAttention(H, HEAD)
    x = floats(B, T, D)
    output, _, _ = layer(x)
    query, key, value = np.split(layer.self_projection.kernel.numpy(), 3, axis=1)
    core = ScaledDotProductAttention()
    heads = []
    for head in range(H):
        columns = slice(head * HEAD, (head + 1) * HEAD)
        q, k, v = (x @ kernel[:, columns] for kernel in (query, key, value))  # biases start at zero
        heads.append(core(q[:, None], k[:, None], v[:, None])[0][:, 0])
    joined = np.concatenate(heads, axis=-1) @ layer.output_projection.kernel.numpy()
    np.testing.assert_allclose(output, joined, atol=1e-5)


def test_fused_projections_start_like_separate_ones() -> None:
    layer = MultiHeadAttention(4, 64)
    layer.build((None, None, 256))
    limit = math.sqrt(6 / (256 + 256))
    assert 0.98 * limit < np.max(np.abs(layer.self_projection.kernel)) <= limit


def test_self_attention_stepping_equals_the_full_pass() -> None:
    layer, x = MultiHeadAttention(H, HEAD), floats(B, T, D)
    full, _, (key, value) = layer(x, attention_mask=causal_mask(T, T))
    cache = layer.empty_cache(B, T + 3)
    for index in range(T):
        output, _, cache = layer(
            x[:, index : index + 1], attention_mask=causal_mask(1, T + 3, index), cache=cache, start_index=index
        )
        np.testing.assert_allclose(output[:, 0], full[:, index], atol=1e-5)
    np.testing.assert_allclose(cache[0][:, :, :T], key, atol=1e-5)
    np.testing.assert_allclose(cache[1][:, :, :T], value, atol=1e-5)
    assert np.all(cache[0][:, :, T:] == 0), "a fixed-size buffer"


def test_memory_is_projected_once() -> None:
    layer, x, memory = MultiHeadAttention(H, HEAD, cross_attention=True), floats(B, T, D), floats(B, S, D, seed=1)
    full, _, cache = layer(x, memory)
    again, _, _ = layer(x, cache=cache)
    np.testing.assert_array_equal(full, again)
    for one, other in zip(layer.project_memory(memory), cache, strict=True):
        np.testing.assert_array_equal(one, other)
