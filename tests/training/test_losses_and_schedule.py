from __future__ import annotations

import json
import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from chatbot.training.losses import smoothed_cross_entropy
from chatbot.training.schedule import WarmupCosine

B, T, V = 3, 5, 7


def case() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    targets = generator.integers(1, V, (B, T)).astype("int32")
    targets[0, 3:] = 0
    targets[2, :] = 0
    return generator.normal(size=(B, T, V)).astype("float32"), targets


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_equals_cross_entropy_to_smoothed_targets(smoothing: float) -> None:
    logits, targets = case()
    one_hot = np.eye(V)[targets] * (1 - smoothing) + smoothing / V
    expected = keras.losses.categorical_crossentropy(one_hot, logits, from_logits=True).numpy()
    sums = smoothed_cross_entropy(logits, targets, smoothing)
    real = targets != 0
    assert math.isclose(float(sums.loss), expected[real].sum(), rel_tol=1e-5)
    assert float(sums.tokens) == real.sum()
    assert float(sums.correct) == (logits.argmax(-1) == targets)[real].sum()


def test_loss_does_not_depend_on_the_width() -> None:
    logits, targets = case()
    wide = smoothed_cross_entropy(np.pad(logits, ((0, 0), (0, 9), (0, 0))), np.pad(targets, ((0, 0), (0, 9))), 0.1)
    for one, other in zip(smoothed_cross_entropy(logits, targets, 0.1), wide, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_what_stands_at_padding_does_not_count() -> None:
    logits, targets = case()
    changed = logits.copy()
    changed[targets == 0] = 1e4
    for one, other in zip(
        smoothed_cross_entropy(logits, targets, 0.1), smoothed_cross_entropy(changed, targets, 0.1), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_half_precision_logits_are_summed_in_full() -> None:
    logits, targets = case()
    sums = smoothed_cross_entropy(logits.astype("float16"), targets, 0.1)
    assert all(each.dtype == "float32" for each in map(keras.ops.convert_to_tensor, sums))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("padding_id", [0, None])
def test_the_written_gradient_is_the_one_that_is_derived(smoothing: float, scale: float, padding_id: int | None) -> None:
    """In float64 beside it, at logits so even and so far apart that probabilities are 0 and 1, too."""
    logits, targets = case()
    logits *= scale
    weight = 0.37  # of the loss in whatever it is a part of
    with tf.GradientTape() as tape:
        variable = tf.Variable(logits)
        sums = smoothed_cross_entropy(variable, targets, smoothing, padding_id=padding_id)
        loss = weight * sums.loss / sums.tokens
    with tf.GradientTape() as reference_tape:
        reference = tf.Variable(logits.astype("float64"))
        one_hot = tf.one_hot(targets, V, 1 - smoothing, 0.0, dtype=tf.float64) + smoothing / V
        real = tf.cast(tf.ones_like(targets) if padding_id is None else targets != padding_id, tf.float64)
        each = -tf.reduce_sum(one_hot * tf.nn.log_softmax(reference), axis=-1)
        expected = weight * tf.reduce_sum(each * real) / tf.reduce_sum(real)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)
    gradient, wanted = tape.gradient(loss, variable).numpy(), reference_tape.gradient(expected, reference).numpy()
    np.testing.assert_allclose(gradient, wanted, atol=1e-7)
    assert np.abs(wanted).max() > 1e-3, "there is something to compare"


def test_warm_up_and_decay_span_the_run_whatever_its_length() -> None:
    for steps in (10, 500, 20_000):
        schedule = WarmupCosine(1e-3, steps, 0.1)
        rates = [float(schedule(step)) for step in np.linspace(0, steps - 1, 50).astype(int)]
        assert max(rates) <= 1e-3 * (1 + 1e-6)
        assert rates[0] < 1.1e-3 * max(1 / 50, 10 / steps)
        assert max(rates) > 0.9e-3
        assert rates[-1] < 0.05e-3 * max(1, 1000 / steps)
        top = int(np.argmax(rates))
        assert rates[:top] == sorted(rates[:top])
        assert rates[top:] == sorted(rates[top:], reverse=True)


def test_schedule_serialises() -> None:
    optimizer = keras.optimizers.AdamW(learning_rate=WarmupCosine(1e-3, 100, 0.1))
    config = json.loads(json.dumps(keras.optimizers.serialize(optimizer)))
    again = keras.optimizers.deserialize(config)
    assert math.isclose(float(again._learning_rate(37)), float(optimizer._learning_rate(37)))
