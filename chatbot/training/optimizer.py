"""The optimizer: AdamW with warm-up scaled to the run and gradient clipping."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from chatbot.config import TrainingSettings
from chatbot.training.plan import Plan
from chatbot.training.schedule import WarmupCosine


def make_optimizer(settings: TrainingSettings, plan: Plan) -> keras.optimizers.Optimizer:
    """AdamW as the settings have it. Only matrices decay."""
    optimizer = keras.optimizers.AdamW(
        learning_rate=WarmupCosine(plan.learning_rate, plan.total_steps, settings.warmup_share),
        beta_2=0.98,
        epsilon=1e-9,
        weight_decay=settings.weight_decay,
        name="optimizer",
    )
    optimizer.exclude_from_weight_decay(var_names=["bias", "gamma", "beta"])
    return optimizer


def make_update(
    optimizer: keras.optimizers.Optimizer, variables: Sequence[keras.Variable], clip_norm: float
) -> Callable[[Sequence[Any]], None]:
    """What changes the variables by their gradients, whose norm over all of them is clipped.

    An optimizer is some forty small operations a variable, each of which reads and writes all its values: XLA makes one
    pass of them. The norm stays outside, where it is a sum on all cores. It is that of the whole gradients: Keras would take
    it of lookups as they come, where a row that was looked up twice counts as two.
    """

    @tf.function(jit_compile=True, autograph=False)
    def update(gradients: list[Any], factor: Any) -> None:
        optimizer.apply([gradient * factor for gradient in gradients], variables)

    def clip_and_update(gradients: Sequence[Any]) -> None:
        # A gradient's shape is not always known before it is there; XLA has to know it.
        dense = [
            tf.ensure_shape(tf.convert_to_tensor(gradient), variable.shape)
            for gradient, variable in zip(gradients, variables, strict=True)
        ]
        norm = tf.linalg.global_norm(dense)
        # norm - norm is 0, but of an infinite norm NaN, which ends the run; without it such steps would do nothing in silence.
        update(dense, clip_norm / tf.maximum(norm, clip_norm) + (norm - norm))

    return clip_and_update
