"""A run goes on well after damage: what was passed over never costs what is saved later."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chatbot.training.checkpoints import Checkpoints, read_state
from chatbot.training.state import TrainingState


class Variable:
    """As much of a variable as a checkpoint needs."""

    path, shape = "weights", (2,)

    def assign(self, value: np.ndarray) -> None:
        self.value = value

    def __init__(self, value: float = 0.0) -> None:
        self.value = np.full(2, value)

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return self.value


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.mark.parametrize("damaged", [[20], [10, 20]])
def test_new_checkpoints_take_the_place_of_damaged_ones(tmp_path: Path, damaged: list[int]) -> None:
    warnings: list[str] = []
    checkpoints = Checkpoints(tmp_path, warnings.append)
    for step in (10, 20):
        checkpoints.save([Variable(step)], TrainingState(step=step))
    for step in damaged:
        (tmp_path / f"select-{step:08d}" / "variables.npz").write_bytes(b"")
    state = checkpoints.restore_newest([Variable()], "select")
    assert (state and state.step) == (10 if damaged == [20] else None)
    assert len(warnings) == len(damaged)
    assert ("this begins anew" in warnings[-1]) == (damaged == [10, 20])

    checkpoints.save([Variable(15)], TrainingState(step=15))
    assert names(tmp_path) == ["select-00000010", "select-00000015"], "not the damaged one, though its number is higher"
    again = Variable()
    state = checkpoints.restore_newest([again], "select")
    assert (state and state.step, again.value[0]) == (15, 15)


def test_a_disk_that_gets_full_while_saving_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoints = Checkpoints(tmp_path, pytest.fail)
    for step in (10, 20):
        checkpoints.save([Variable(step)], TrainingState(step=step), is_best=step == 10)
    before = names(tmp_path)

    def full(file: object, **arrays: np.ndarray) -> None:
        Path(str(file)).write_bytes(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        checkpoints.save([Variable(30)], TrainingState(step=30), is_best=True)
    assert names(tmp_path) == before
    assert read_state(checkpoints.best)["state"]["step"] == 10


def test_a_phase_that_begins_anew_forgets_its_own_checkpoints_only(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, pytest.fail)
    checkpoints.save([Variable()], TrainingState(step=10), is_best=True)
    checkpoints.save([Variable()], TrainingState(phase="refit", step=5))
    checkpoints.forget("refit")
    assert names(tmp_path) == ["best", "select-00000010"]
