"""Where a training stands: all that decides how it goes on, besides variables."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any

from chatbot.errors import UserError

SUM_NAMES = ("loss", "nll", "correct", "tokens")


@dataclass
class TrainingState:
    """Selection, early stop and place in the data, saved whole with each checkpoint.

    Attributes:
        phase: "select" (validation questions are held out) or "refit" (all pairs, a fixed number of steps).
        epoch: epochs that are complete.
        step_in_epoch: steps done in the epoch under way.
        step: steps done in all.
        sums: over the epoch under way, by the names of `losses.Sums`.
        best_score: the highest so far, see `Selection.score`; None before the first.
        best_step: the step it was reached at.
        best_epoch: the epoch it was reached at.
        is_finished: nothing is left to train in this phase.
    """

    phase: str = "select"
    epoch: int = 0
    step_in_epoch: int = 0
    step: int = 0
    sums: dict[str, float] = field(default_factory=lambda: dict.fromkeys(SUM_NAMES, 0.0))
    best_score: list[float] | None = None
    best_step: int = 0
    best_epoch: int = 0
    is_finished: bool = False

    def add(self, sums: dict[str, float]) -> None:
        """Counts a step.

        Raises:
            UserError: the loss is not a number; the message names the step.
        """
        if not math.isfinite(sums["loss"]):
            raise UserError(
                f"step {self.step + 1}: the loss is {sums['loss']}; the last good weights are kept. Try a lower --learning-rate"
            )
        for name, value in sums.items():
            self.sums[name] += value
        self.step += 1
        self.step_in_epoch += 1

    def mean(self, name: str) -> float:
        """A sum of the epoch under way, divided by its real tokens."""
        return self.sums[name] / max(1.0, self.sums["tokens"])

    def end_epoch(self, score: list[float] | None) -> bool:
        """Closes the epoch; returns whether its `score` is the best so far."""
        self.epoch += 1
        self.step_in_epoch = 0
        self.sums = dict.fromkeys(SUM_NAMES, 0.0)
        is_best = score is not None and (self.best_score is None or score > self.best_score)
        if is_best:
            self.best_score, self.best_step, self.best_epoch = score, self.step, self.epoch
        return is_best

    def epochs_since_best(self) -> int:
        """Epochs without a better score."""
        return self.epoch - self.best_epoch

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> TrainingState:
        """Reads what `to_dict` wrote.

        Raises:
            UserError: fields are unknown or missing.
        """
        if set(document) != {entry.name for entry in dataclasses.fields(cls)}:
            raise UserError("training state: unknown or missing fields; it is damaged or of another version")
        return cls(**document)
