"""The defects of the pre-norm encoder-decoder original, each as a test that our version passes."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from chatbot.layers.attention import ScaledDotProductAttention
from chatbot.layers.encoder import Encoder
from chatbot.presets import preset
from chatbot.training.losses import smoothed_cross_entropy
from chatbot.transformer.base import Transformer
from chatbot.transformer.make import make_transformer

V = 30


def make_model(**changes: float) -> Transformer:
    keras.utils.set_random_seed(0)
    settings = preset("base-pre-norm").replace(hidden_dim=16, num_heads=4, intermediate_dim=32, **changes)
    return make_transformer(V, 1, settings)


def some_ids(length: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(4, V, (2, length)).astype("int32")


def test_scores_are_divided_by_the_root_of_the_width() -> None:
    width = 64
    query = np.random.default_rng(0).normal(size=(1, 1, 200, width)).astype("float32")
    key = np.random.default_rng(1).normal(size=(1, 1, 8, width)).astype("float32")
    _, weights = ScaledDotProductAttention()(query, key, key)
    scores = query @ key.swapaxes(-1, -2)
    expected = tf.nn.softmax(scores / 8.0)
    np.testing.assert_allclose(weights, expected, atol=1e-5)
    assert weights.numpy().max(-1).mean() < 0.6, "multiplied by the root instead, nearly all goes to one key"


def test_masks_do_something() -> None:
    model = make_model()
    question, answer = some_ids(6, 0), some_ids(5, 1)
    before = model.forward(question, answer).logits.numpy()
    later = answer.copy()
    later[:, 3:] = 4
    np.testing.assert_array_equal(model.forward(question, later).logits.numpy()[:, :3], before[:, :3])
    wider = np.pad(question, ((0, 0), (0, 4)))
    np.testing.assert_allclose(model.forward(wider, answer).logits, before, atol=1e-5)


def test_every_block_is_a_part_of_the_model_and_trains() -> None:
    model = make_model()
    names = {variable.path for variable in model.trainable_variables}
    for stack in ("encoder", "decoder"):
        for layer in range(4):
            assert any(f"{stack}/layer_{layer}/self_attention" in name for name in names)
    with tf.GradientTape() as tape:
        sums = smoothed_cross_entropy(model.forward(some_ids(6, 0), some_ids(5, 1), training=True).logits, some_ids(5, 2), 0.0)
    gradients = tape.gradient(sums.loss, [variable.value for variable in model.trainable_variables])
    for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
        assert np.abs(tf.convert_to_tensor(gradient)).max() > 0, variable.path


@pytest.mark.parametrize("kind", ["dropout", "attention_dropout", "feed_forward_dropout"])
def test_one_argument_governs_every_dropout(kind: str) -> None:
    rates = {"dropout": 0.0, "attention_dropout": 0.0, "feed_forward_dropout": 0.0, kind: 0.5}
    model = make_model(**rates)
    question, answer = some_ids(6, 0), some_ids(5, 1)
    once, again = (model.forward(question, answer, training=False).logits.numpy() for _ in range(2))
    np.testing.assert_array_equal(once, again)
    dropped = model.forward(question, answer, training=True).logits.numpy()
    assert np.abs(dropped - once).max() > 1e-3


def test_a_maximum_length_is_not_there_to_be_ignored() -> None:
    encoder = Encoder(1, {"num_heads": 2, "head_dim": 4, "intermediate_dim": 8})
    with pytest.raises(ValueError, match="max_length"):
        Encoder(1, {"num_heads": 2, "head_dim": 4, "intermediate_dim": 8, "max_length": 200})
    output, _, _ = encoder(np.zeros((1, 300, 8), "float32"))
    assert output.shape == (1, 300, 8), "any length is read"
