from __future__ import annotations

import numpy as np

from chatbot.layers.answer_memory import AnswerMemory

B, D = 2, 8


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def test_the_memory_recalls_the_likeliest_answer_alone() -> None:
    layer, question = AnswerMemory(7), floats(B, 1, D)
    layer.build(question.shape)
    layer.keys.assign(floats(7, D, seed=2))
    recalled, logits = layer(question)
    np.testing.assert_allclose(logits[:, 0], question[:, 0] @ layer.keys.numpy().T, atol=1e-5)
    np.testing.assert_allclose(recalled[:, 0], layer.values.numpy()[np.argmax(logits[:, 0], axis=-1)] * D**0.5, rtol=1e-6)


def test_the_memory_recalls_what_it_is_told_to() -> None:
    layer, question = AnswerMemory(7), floats(B, 1, D)
    recalled, logits = layer(question, np.array([5, 1]))
    np.testing.assert_allclose(recalled[:, 0], layer.values.numpy()[[5, 1]] * D**0.5, rtol=1e-6)
    np.testing.assert_array_equal(logits, layer(question)[1])
