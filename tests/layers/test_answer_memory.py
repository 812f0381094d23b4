from __future__ import annotations

import numpy as np

from chatbot.layers.answer_memory import AnswerMemory
from chatbot.layers.summary import Summary

B, S, D = 2, 5, 8


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def test_the_summary_does_not_see_padding() -> None:
    layer = Summary()
    embedded, encoded = floats(B, S, D), floats(B, S, D, seed=1)
    real = np.array([[True, True, False, False, False], [True] * 5])
    before = layer(embedded, encoded, real).numpy()
    for vectors in (embedded, encoded):
        vectors[0, 2:] = 1e3
    np.testing.assert_allclose(layer(embedded, encoded, real), before, atol=1e-6)
    wide = [np.pad(vectors, ((0, 0), (0, 4), (0, 0))) for vectors in (embedded, encoded)]
    np.testing.assert_allclose(layer(*wide, np.pad(real, ((0, 0), (0, 4)))), before, atol=1e-6)


def test_the_summary_sees_both_sides_of_the_encoder() -> None:
    layer = Summary()
    embedded, encoded, real = floats(B, S, D), floats(B, S, D, seed=1), np.ones((B, S), bool)
    before = layer(embedded, encoded, real).numpy()
    assert np.abs(layer(2 * embedded, encoded, real) - before).max() > 1e-2
    assert np.abs(layer(embedded, 2 * encoded, real) - before).max() > 1e-2


def test_a_question_without_a_piece_has_a_finite_summary() -> None:
    assert np.all(np.isfinite(Summary()(floats(B, S, D), floats(B, S, D), np.zeros((B, S), bool))))


def test_the_memory_recalls_the_likeliest_answer_alone() -> None:
    layer, summary = AnswerMemory(7), floats(B, 1, D)
    layer.build(summary.shape)
    layer.keys.assign(floats(7, D, seed=2))
    recalled, logits = layer(summary)
    np.testing.assert_allclose(logits[:, 0], summary[:, 0] @ layer.keys.numpy().T, atol=1e-5)
    np.testing.assert_array_equal(recalled[:, 0], layer.values.numpy()[np.argmax(logits[:, 0], axis=-1)])


def test_in_training_the_memory_recalls_the_mixture_so_that_keys_learn() -> None:
    layer, summary = AnswerMemory(7), floats(B, 1, D)
    mixture, logits = layer(summary, training=True)
    weights = np.exp(logits[:, 0]) / np.exp(logits[:, 0]).sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(mixture[:, 0], weights @ layer.values.numpy(), atol=1e-5)
