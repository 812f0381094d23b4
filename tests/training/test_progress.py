from __future__ import annotations

import io

from chatbot.training.progress import Progress
from chatbot.training.state import TrainingState


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def run(stream: io.StringIO, steps: int, seconds: float = 1.0) -> str:
    clock, state = Clock(), TrainingState()
    progress = Progress(stream, total_steps=100, steps_per_epoch=50, clock=clock)
    for _ in range(steps):
        clock.now += seconds
        state.add({"loss": 20.0, "nll": 10.0, "correct": 5.0, "tokens": 10.0})
        progress.on_step(state)
        if state.step_in_epoch == 50:
            state.end_epoch(None)
    return stream.getvalue()


def test_a_terminal_gets_one_line_written_over() -> None:
    shown = run(Terminal(), 30)
    last = shown.split("\r")[-1]
    assert last.strip() == "epoch 1  step 30/50  loss 2.000  accuracy 0.500  10 tokens/s  ETA 1:10"
    assert shown.count("\n") == 1, "the estimate has a line of its own"


def test_the_estimate_comes_after_twenty_steps() -> None:
    assert "estimated" not in run(Terminal(), 19)
    assert "estimated: 8 minutes for all 100 steps" in run(Terminal(), 20, seconds=6.0)
    assert "estimated: 1 minute for" in run(Terminal(), 20)


def test_a_log_gets_a_line_now_and_then() -> None:
    lines = run(io.StringIO(), 95).splitlines()
    assert sum("step" in line and "loss" in line for line in lines) == 3
    assert "\r" not in "".join(lines)


def test_the_rate_counts_real_tokens_over_epochs() -> None:
    assert "epoch 2  step 10/50" in run(Terminal(), 60).split("\r")[-1]
    assert " 10 tokens/s" in run(Terminal(), 60).split("\r")[-1]
