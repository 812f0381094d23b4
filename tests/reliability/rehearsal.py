"""A training without a model: what it writes, in the order in which the real one does, killed before each file operation.

    python -m tests.reliability.rehearsal DIRECTORY

prints in how many places it was killed; fails where the files do not end as those of an unbroken one. It needs no TensorFlow,
so that a child can be forked for every place.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

from chatbot.storage import replace_directory, write_text
from chatbot.training.checkpoints import Checkpoints, restore
from chatbot.training.run_directory import RunDirectory
from chatbot.training.state import TrainingState

EPOCHS, STEPS, BEST = 2, 1, (1, 2)
OPERATIONS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir"}


class Weights:
    """As much of a variable as a checkpoint needs."""

    path, shape = "weights", (3,)

    def __init__(self) -> None:
        self.value = np.zeros(3)

    def assign(self, value: np.ndarray) -> None:
        self.value = value

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.value


def rehearse(directory: Path) -> None:
    """Goes on where the files stand, as `TrainRun` does."""
    run, weights = RunDirectory(directory), Weights()
    run.prepare()
    with run.lock():
        run.sweep()
        run.write_config({})
        checkpoints = Checkpoints(run.checkpoints, lambda line: print(line, flush=True))
        state = checkpoints.restore_newest([weights], "select") or TrainingState()
        run.forget_after("select", state.epoch)
        while not state.is_finished:
            while state.step_in_epoch < STEPS:
                weights.assign(weights.value + np.arange(3) / (state.step + 1))
                state.add({"loss": 1.0, "nll": 1.0, "correct": 1.0, "tokens": 1.0})
                checkpoints.save([weights], state)
            is_best = state.end_epoch([float(state.epoch + 1 in BEST), state.step])
            state.is_finished = state.epoch == EPOCHS
            run.append_history({"phase": "select", "epoch": state.epoch, "step": state.step})
            run.append_samples(f"epoch {state.epoch}\n  questions\n    안녕 -> {weights.value}\n")
            checkpoints.save([weights], state, is_best)
        restore(checkpoints.best, [weights])
        if not run.is_finished:
            with replace_directory(run.export) as beside:
                write_text(beside / "saved_model.pb", str(weights.value))


def child(directory: Path, killed_at: int | None) -> bool:
    """Rehearses in a child that is killed before its operation of that number; returns whether it was."""
    process = os.fork()
    if process:
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        assert code in (0, -signal.SIGKILL), f"{directory}: exit code {code}"
        return code != 0
    code = 1
    try:
        done = 0

        def watch(event: str, arguments: tuple[Any, ...]) -> None:
            nonlocal done
            if event in OPERATIONS and isinstance(arguments[0], (str, Path)) and str(directory) in str(arguments[0]):
                done += 1
                if done == killed_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        os.fsync = lambda file: None  # the slowest part, and for a power cut, not for a kill
        sys.addaudithook(watch)
        rehearse(directory)
        code = 0
    finally:
        os._exit(code)


def files_of(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def main() -> None:
    directory = Path(sys.argv[1])
    child(directory / "unbroken", None)
    wanted, kills, number = files_of(directory / "unbroken"), 0, 1
    while child(directory / str(number), number):
        # The second kill hits what goes on after the first, a little later each time.
        kills += 1 + child(directory / str(number), 1 + number * 7 % 30)
        child(directory / str(number), None)
        assert files_of(directory / str(number)) == wanted, f"killed before operation {number}"
        number += 1
    print(f"{kills} kills")


if __name__ == "__main__":
    main()
