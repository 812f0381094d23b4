from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from chatbot.config import TrainingSettings
from chatbot.training.optimizer import make_optimizer, make_update
from chatbot.training.plan import Plan

SETTINGS = TrainingSettings(clip_norm=1.0, weight_decay=0.1)
PLAN = Plan(batch_size=8, passes=1, steps_per_epoch=10, epochs=2, learning_rate=1e-2)
SHAPES = {"embeddings": (9, 4), "kernel": (4, 3), "bias": (3,), "gamma": (4,)}


def make_variables() -> list[keras.Variable]:
    generator = np.random.default_rng(0)
    return [keras.Variable(generator.normal(size=shape).astype("float32"), name=name) for name, shape in SHAPES.items()]


def gradients(step: int, scale: float) -> list[Any]:
    """Of the table as a lookup gives it, one row twice, of the others whole."""
    generator = np.random.default_rng(step + 1)
    whole = [tf.constant(scale * generator.normal(size=shape).astype("float32")) for shape in SHAPES.values()]
    rows = tf.IndexedSlices(whole[0][:3], tf.constant([5, 1, 5]), tf.constant(SHAPES["embeddings"]))
    return [rows, *whole[1:]]


@pytest.mark.parametrize("scale", [1e-3, 10.0])
def test_the_update_is_that_of_the_optimizer_with_its_gradients_clipped(scale: float) -> None:
    ours, theirs = make_variables(), make_variables()
    optimizer, reference = make_optimizer(SETTINGS, PLAN), make_optimizer(SETTINGS, PLAN)
    reference.global_clipnorm = SETTINGS.clip_norm
    optimizer.build(ours)
    reference.build(theirs)
    update = tf.function(make_update(optimizer, ours, SETTINGS.clip_norm))
    before = [variable.numpy() for variable in ours]
    for step in range(5):
        update(gradients(step, scale))
        reference.apply([tf.convert_to_tensor(gradient) for gradient in gradients(step, scale)], theirs)
    for one, other, old in zip(ours, theirs, before, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)
        assert np.abs(one.numpy() - old).max() > 1e-3
    for one, other in zip(optimizer.variables, reference.variables, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-9)


def test_gradients_are_clipped_by_their_norm_over_all_variables() -> None:
    variables = make_variables()
    optimizer = keras.optimizers.SGD(1.0)
    optimizer.build(variables)
    before = [variable.numpy() for variable in variables]
    make_update(optimizer, variables, 0.5)(gradients(0, 10.0))
    moved = [variable.numpy() - old for variable, old in zip(variables, before, strict=True)]
    np.testing.assert_allclose(np.sqrt(sum(np.sum(each**2) for each in moved)), 0.5, rtol=1e-5)
    directions = [each / tf.convert_to_tensor(gradient) for each, gradient in zip(moved, gradients(0, 10.0), strict=True)]
    values = np.concatenate([np.ravel(direction)[np.isfinite(np.ravel(direction))] for direction in directions])
    np.testing.assert_allclose(values, values[0], rtol=1e-3)


def test_gradients_without_a_finite_norm_are_not_passed_over_in_silence() -> None:
    for size in (1e25, float("nan"), float("inf")):  # squares of the first are infinite
        variables = make_variables()
        optimizer = make_optimizer(SETTINGS, PLAN)
        optimizer.build(variables)
        make_update(optimizer, variables, 1.0)([tf.fill(shape, size) for shape in SHAPES.values()])
        assert all(np.all(np.isnan(variable.numpy())) for variable in variables), size


def test_no_weight_decay_on_what_scales_and_shifts() -> None:
    variables = make_variables()
    optimizer = make_optimizer(SETTINGS, PLAN)
    optimizer.build(variables)
    before = {variable.name: variable.numpy() for variable in variables}
    make_update(optimizer, variables, 1.0)([tf.zeros(shape) for shape in SHAPES.values()])
    shrunk = {variable.name: np.any(variable.numpy() != before[variable.name]) for variable in variables}
    assert shrunk == {"embeddings": True, "kernel": True, "bias": False, "gamma": False}
