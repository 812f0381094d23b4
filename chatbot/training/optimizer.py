"""The optimizer: AdamW with warm-up scaled to the run, gradient clipping, and one pass over each variable."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from chatbot.config import TrainingSettings
from chatbot.training.plan import Plan
from chatbot.training.schedule import WarmupCosine


class FusedAdamW(keras.optimizers.AdamW):
    """Keras's AdamW with TensorFlow's own kernel for the update.

    Put together from single operations, as Keras does it, an update reads and writes memory a dozen times for each
    weight. A vector for each n-gram and each answer are millions of weights, of which a step changes few.
    """

    def update_step(self, gradient: Any, variable: tf.Variable, learning_rate: Any) -> None:
        """Updates one variable, see `keras.optimizers.Adam`."""
        index = self._get_variable_index(variable)
        step = tf.cast(self.iterations + 1, variable.dtype)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[index].value.handle,
            v=self._velocities[index].value.handle,
            beta1_power=tf.pow(tf.cast(self.beta_1, variable.dtype), step),
            beta2_power=tf.pow(tf.cast(self.beta_2, variable.dtype), step),
            lr=tf.cast(learning_rate, variable.dtype),
            beta1=self.beta_1,
            beta2=self.beta_2,
            epsilon=self.epsilon,
            grad=tf.convert_to_tensor(gradient),  # of a table that was looked up in, it may be some of its rows
        )


def make_optimizer(settings: TrainingSettings, plan: Plan) -> keras.optimizers.Optimizer:
    """AdamW as the settings have it. Only matrices decay."""
    optimizer = FusedAdamW(
        learning_rate=WarmupCosine(plan.learning_rate, plan.total_steps, settings.warmup_share),
        beta_2=0.98,
        epsilon=1e-9,
        weight_decay=settings.weight_decay,
        global_clipnorm=settings.clip_norm,
        name="optimizer",
    )
    optimizer.exclude_from_weight_decay(var_names=["bias", "gamma", "beta"])
    return optimizer
