"""The optimizer: AdamW with warm-up scaled to the run and gradient clipping."""

from __future__ import annotations

import keras

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
        global_clipnorm=settings.clip_norm,
        name="optimizer",
    )
    optimizer.exclude_from_weight_decay(var_names=["bias", "gamma", "beta"])
    return optimizer
