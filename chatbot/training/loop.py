"""The training loop: steps, epochs, selection on replies, checkpoints."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import tensorflow as tf

from chatbot.config import TrainingSettings
from chatbot.dataset.batches import Batch, Batches
from chatbot.errors import Interrupted
from chatbot.training.checkpoints import Checkpoints, restore
from chatbot.training.optimizer import make_optimizer
from chatbot.training.plan import Plan
from chatbot.training.state import SUM_NAMES, TrainingState
from chatbot.training.step import make_evaluation_step, make_train_step
from chatbot.transformer.base import Transformer

CHECKPOINT_SECONDS = 120.0


class Hooks(Protocol):
    """What a caller may do along the way; it must not touch the model."""

    def on_step(self, state: TrainingState) -> None:
        """After each step."""

    def on_epoch(self, state: TrainingState, record: dict[str, Any]) -> None:
        """After each epoch, before it is saved; `record` is the line for the history."""


class Selection(Protocol):
    """Judges the model on what was held out."""

    def evaluate(self, trainer: Trainer) -> dict[str, float]:
        """Returns figures for the history."""

    def score(self, figures: dict[str, float]) -> list[float]:
        """What of them decides, the higher the better; the next one where the first are equal."""


class Trainer:
    """Trains one model on one set of batches, and can go on at the exact step of a checkpoint.

    Args:
        model: built.
        batches: the training data.
        settings: how to train.
        plan: the run in numbers.
        checkpoints: where the training is saved; it is restored from the newest one there.
        phase: of the `TrainingState`.
        stop_requested: returns the number of a signal that asks to stop, else None.
    """

    def __init__(
        self,
        model: Transformer,
        batches: Batches,
        settings: TrainingSettings,
        plan: Plan,
        checkpoints: Checkpoints,
        phase: str = "select",
        stop_requested: Callable[[], int | None] = lambda: None,
    ) -> None:
        self.model = model
        self.batches = batches
        self.settings = settings
        self.plan = plan
        self.checkpoints = checkpoints
        self.stop_requested = stop_requested
        self.optimizer = make_optimizer(settings, plan)
        self.optimizer.build(model.trainable_variables)
        self.variables = [*model.variables, *self.optimizer.variables]
        self.state = checkpoints.restore_newest(self.variables, phase) or TrainingState(phase=phase)
        self._last_save = time.monotonic()
        self._train_step = make_train_step(model, self.optimizer, settings)
        self._evaluation_step = make_evaluation_step(model)

    def build_graph(self) -> None:
        """What takes the first step some seconds: before a stretch in which a stop has to wait for the end of a step."""
        self._train_step.get_concrete_function()

    def evaluate(self, batches: Sequence[Batch]) -> dict[str, float]:
        """Means over the real tokens of some batches, without dropout: nll and accuracy.

        Raises:
            Interrupted: a stop was requested; everything is saved.
        """
        sums = []
        for batch in batches:
            self.stop_if_requested()
            sums.append(self._evaluation_step(*map(tf.constant, batch)))
        tokens = sum(float(each.tokens) for each in sums)
        return {
            "nll": sum(float(each.nll) for each in sums) / tokens,
            "accuracy": sum(float(each.correct) for each in sums) / tokens,
        }

    def run(self, hooks: Hooks, selection: Selection | None = None, last_step: int | None = None) -> TrainingState:
        """Trains to the end: the cap on epochs, `last_step`, or `patience` epochs without a better score.

        The best weights are in the model afterwards: those with the best score, or without `selection` the last.

        Raises:
            Interrupted: a stop was requested; everything is saved.
            UserError: the loss is not a number; the last good weights are kept.
            OSError: a checkpoint cannot be written.
        """
        while not self.state.is_finished:
            self._train_epoch(hooks, last_step)
            self._end_epoch(hooks, selection, last_step)
        if selection is not None and self.state.best_score is not None:
            restore(self.checkpoints.best, self.model.variables)
        return self.state

    def _train_epoch(self, hooks: Hooks, last_step: int | None) -> None:
        for batch in self.batches.epoch(self.state.epoch, skip=self.state.step_in_epoch):
            if self.state.step == last_step:
                return
            sums = self._train_step(*map(tf.constant, batch))
            self.state.add({name: float(value) for name, value in zip(SUM_NAMES, sums, strict=True)})
            hooks.on_step(self.state)
            self.stop_if_requested()
            if time.monotonic() - self._last_save > CHECKPOINT_SECONDS:
                self._save()

    def stop_if_requested(self) -> None:
        """Between two steps, or two batches of a validation: saves and leaves when a stop was requested.

        Raises:
            Interrupted: it was; everything is saved.
        """
        stop = self.stop_requested()
        if stop is not None:
            self._save()
            raise Interrupted(stop)

    def _end_epoch(self, hooks: Hooks, selection: Selection | None, last_step: int | None) -> None:
        state = self.state
        record: dict[str, Any] = {
            "phase": state.phase,
            "epoch": state.epoch + 1,
            "step": state.step,
            **{name: state.mean(name) for name in ("loss", "nll")},
            "accuracy": state.mean("correct"),
        }
        score = None
        if selection is not None:
            record["validation"] = selection.evaluate(self)
            score = selection.score(record["validation"])
        is_best = state.end_epoch(score)
        state.is_finished = (
            state.epoch >= self.plan.epochs
            or (last_step is not None and state.step >= last_step)
            or (selection is not None and state.epochs_since_best() >= self.settings.patience)
        )
        record["is_best"] = is_best
        hooks.on_epoch(state, record)
        self._save(is_best)

    def _save(self, is_best: bool = False) -> None:
        self.checkpoints.save(self.variables, self.state, is_best)
        self._last_save = time.monotonic()
