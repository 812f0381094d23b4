"""The learning rate over the steps of a run."""

from __future__ import annotations

import math
from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="chatbot")
class WarmupCosine(keras.optimizers.schedules.LearningRateSchedule):
    """Rises linearly to `peak` over the first steps, then falls along half a cosine to 0 at the last one.

    Args:
        peak: the highest learning rate.
        total_steps: steps of the whole run; the warm-up is a share of them, since one of 4,000 never ends in a short run.
        warmup_share: share of the steps in which it rises.

    Source: Loshchilov and Hutter 2016 (https://arxiv.org/abs/1608.03983); the warm-up, Vaswani et al. 2017, section 5.3.
    """

    def __init__(self, peak: float, total_steps: int, warmup_share: float) -> None:
        self.peak = peak
        self.total_steps = total_steps
        self.warmup_share = warmup_share

    def __call__(self, step: Any) -> Any:
        """The learning rate of a step, counted from 0: float32 []."""
        step = ops.cast(step, "float32")
        warmup = max(1.0, self.warmup_share * self.total_steps)
        rising = (step + 1) / warmup
        done = (step - warmup) / max(1.0, self.total_steps - warmup)
        falling = 0.5 * (1 + ops.cos(math.pi * ops.clip(done, 0.0, 1.0)))
        return self.peak * ops.minimum(rising, falling)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {"peak": self.peak, "total_steps": self.total_steps, "warmup_share": self.warmup_share}
