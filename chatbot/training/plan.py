"""What the size of the data decides where the settings leave it open."""

from __future__ import annotations

import math
from dataclasses import dataclass

from chatbot.config import TrainingSettings

MIN_STEPS_PER_EPOCH = 60
_SMALLEST_BATCH, _LARGEST_BATCH = 8, 64
_MIN_PAIRS_FOR_VALIDATION = 200
_DEFAULT_VALIDATION_SPLIT = 0.1
_BY_PAIRS = ((200, 20, 3e-3), (4_000, 16, 3e-3), (math.inf, 20, 3e-3))
"""Epochs and learning rate below that many pairs."""
_POST_NORM_SHARE = 1 / 3
"""Post-norm needs a lower rate: its gradients near the output are large at first, Xiong et al. 2020."""


@dataclass(frozen=True)
class Plan:
    """The run in numbers.

    Attributes:
        batch_size: pairs a step.
        passes: over the data in an epoch; more than one where the data is small.
        steps_per_epoch: optimizer steps.
        epochs: the cap.
        learning_rate: the highest.
    """

    batch_size: int
    passes: int
    steps_per_epoch: int
    epochs: int
    learning_rate: float

    @property
    def total_steps(self) -> int:
        """Steps if the cap is reached; the learning rate's schedule ends there."""
        return self.epochs * self.steps_per_epoch


def validation_share(settings: TrainingSettings, num_pairs: int) -> float:
    """The share of questions held out: as set, else none where 200 pairs are not there."""
    if settings.validation_split is not None:
        return settings.validation_split
    return _DEFAULT_VALIDATION_SPLIT if num_pairs >= _MIN_PAIRS_FOR_VALIDATION else 0.0


def make_plan(settings: TrainingSettings, num_pairs: int, norm: str = "pre") -> Plan:
    """Plans a run over `num_pairs` training pairs: the batch grows with them, and no epoch is shorter than 60 steps."""
    batch_size = settings.batch_size or min(max(num_pairs // MIN_STEPS_PER_EPOCH, _SMALLEST_BATCH), _LARGEST_BATCH)
    steps_per_pass = -(-num_pairs // batch_size)
    passes = -(-MIN_STEPS_PER_EPOCH // steps_per_pass)
    epochs, learning_rate = next(defaults for below, *defaults in _BY_PAIRS if num_pairs < below)
    return Plan(
        batch_size=batch_size,
        passes=passes,
        steps_per_epoch=passes * steps_per_pass,
        epochs=settings.epochs or int(epochs),
        learning_rate=settings.learning_rate or learning_rate * (_POST_NORM_SHARE if norm == "post" else 1),
    )
