from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

from chatbot.training.optimizer import FusedAdamW

ARGUMENTS = {"learning_rate": 0.01, "beta_2": 0.98, "epsilon": 1e-9, "weight_decay": 0.1, "global_clipnorm": 1.0}


def make(kind: type[keras.optimizers.AdamW]) -> tuple[keras.optimizers.AdamW, list[keras.Variable]]:
    values = np.random.default_rng(0)
    shapes = {"table": (9, 4), "bias": (4,)}
    variables = [keras.Variable(values.normal(size=shape), dtype="float32", name=name) for name, shape in shapes.items()]
    optimizer = kind(**ARGUMENTS)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    optimizer.build(variables)
    return optimizer, variables


def test_weights_and_moments_are_those_of_keras() -> None:
    """Also where only some rows of a table have a gradient: the others decay and follow their moments all the same."""
    pairs = [make(keras.optimizers.AdamW), make(FusedAdamW)]
    rng = np.random.default_rng(1)
    for step in range(12):
        rows, bias = rng.normal(size=(3, 4)).astype("float32"), rng.normal(size=4).astype("float32")
        for optimizer, variables in pairs:
            table = tf.IndexedSlices(tf.constant(rows), tf.constant([1, 5, 1]), tf.constant([9, 4]))
            if step % 2:
                table = tf.convert_to_tensor(table)
            optimizer.apply([table, tf.constant(bias)], variables)
    (theirs, their_variables), (ours, our_variables) = pairs
    for their, our in zip([*their_variables, *theirs.variables], [*our_variables, *ours.variables], strict=True):
        np.testing.assert_allclose(our.numpy(), their.numpy(), rtol=2e-5, atol=1e-7)
    assert [variable.path.split("/", 1)[-1] for variable in ours.variables] == [
        variable.path.split("/", 1)[-1] for variable in theirs.variables
    ]
