"""One line that tells a person how the training goes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from chatbot.training.state import TrainingState

_ESTIMATE_AFTER = 20
_TERMINAL_SECONDS, _LOG_SECONDS = 0.2, 30.0


class Progress:
    """Shows loss, token accuracy, real tokens/s and the time left; after 20 steps the minutes the whole will take.

    Args:
        stream: a terminal gets one line that is written over, a file a line every 30 seconds.
        total_steps: steps if nothing stops the training earlier.
        steps_per_epoch: steps of an epoch.
        clock: seconds.
    """

    def __init__(
        self, stream: TextIO, total_steps: int, steps_per_epoch: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.stream = stream
        self.total_steps = total_steps
        self.steps_per_epoch = steps_per_epoch
        self.clock = clock
        self.is_terminal = stream.isatty()
        self._steps = 0
        self._tokens = 0.0
        self._epoch_tokens = 0.0
        self._begin = clock()
        self._shown = self._begin
        self._width = 0

    def on_step(self, state: TrainingState) -> None:
        """Counts a step and shows the line when it is time."""
        self._steps += 1
        if self._steps == 1:
            self._begin = self.clock()  # the first step builds the graph: it tells nothing about the rate
        else:
            new_epoch = state.sums["tokens"] < self._epoch_tokens
            self._tokens += state.sums["tokens"] - (0.0 if new_epoch else self._epoch_tokens)
        self._epoch_tokens = state.sums["tokens"]
        if self._steps == _ESTIMATE_AFTER:
            minutes = max(1, round(self._seconds_left(state) / 60))
            unit = "minute" if minutes == 1 else "minutes"
            self.say(f"estimated: {minutes} {unit} for all {self.total_steps:,} steps, less if it stops earlier")
        now = self.clock()
        if now - self._shown >= (_TERMINAL_SECONDS if self.is_terminal else _LOG_SECONDS):
            self._shown = now
            self._show(self._line(state))

    def _seconds_left(self, state: TrainingState) -> float:
        rate = max(1, self._steps - 1) / max(1e-9, self.clock() - self._begin)
        return max(0, self.total_steps - state.step) / rate

    def _line(self, state: TrainingState) -> str:
        minutes, seconds = divmod(round(self._seconds_left(state)), 60)
        rate = self._tokens / max(1e-9, self.clock() - self._begin)
        return (
            f"epoch {state.epoch + 1}  step {state.step_in_epoch}/{self.steps_per_epoch}  loss {state.mean('loss'):.3f}  "
            f"accuracy {state.mean('correct'):.3f}  {rate:,.0f} tokens/s  ETA {minutes}:{seconds:02d}"
        )

    def _show(self, line: str) -> None:
        if self.is_terminal:
            self.stream.write("\r" + line.ljust(self._width))
            self._width = len(line)
        else:
            self.stream.write(line + "\n")
        self.stream.flush()

    def say(self, text: str) -> None:
        """Writes lines of their own, above the progress line."""
        if self.is_terminal and self._width:
            self.stream.write("\r" + " " * self._width + "\r")
            self._width = 0
        self.stream.write(text + "\n")
        self.stream.flush()
