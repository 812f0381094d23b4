from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from chatbot.errors import UserError
from chatbot.training.checkpoints import Checkpoints, restore
from chatbot.training.state import TrainingState


def variables(offset: float = 0.0) -> list[keras.Variable]:
    return [
        keras.Variable(np.arange(6.0).reshape(2, 3) + offset, name="kernel"),
        keras.Variable(np.array([1, 2], "uint32"), name="seed"),
        keras.Variable(3.5 + offset, name="rate"),
    ]


def state_at(step: int, phase: str = "select") -> TrainingState:
    return TrainingState(phase=phase, step=step, epoch=step // 10)


def scored_at(step: int, chrf: float) -> TrainingState:
    state = state_at(step)
    state.best_score = [chrf, 0.5]
    return state


def test_best_is_kept_and_ties_go_by_accuracy() -> None:
    state = TrainingState()
    assert state.end_epoch([10.0, 0.5])
    assert not state.end_epoch([9.0, 0.9])
    assert state.end_epoch([10.0, 0.6])
    assert not state.end_epoch([10.0, 0.6])
    assert (state.best_score, state.best_epoch, state.epochs_since_best()) == ([10.0, 0.6], 3, 1)
    assert not state.end_epoch(None)


def test_state_round_trip_is_exact() -> None:
    state = TrainingState(step=7, best_score=[1 / 3, 0.1])
    state.add({"loss": 0.1 + 0.2, "nll": 1 / 3, "correct": 1.0, "tokens": 3.0})
    assert TrainingState.from_dict(json.loads(json.dumps(state.to_dict()))) == state
    with pytest.raises(UserError, match="training state"):
        TrainingState.from_dict({"step": 1})


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_stops_and_names_the_step(loss: float) -> None:
    state = TrainingState(step=41)
    with pytest.raises(UserError, match=r"step 42: the loss is (nan|inf)"):
        state.add({"loss": loss, "nll": 1.0, "correct": 1.0, "tokens": 1.0})
    assert state.step == 41


def test_save_and_restore_bit_for_bit(tmp_path: Path) -> None:
    saved, state = variables(1 / 3), state_at(20)
    Checkpoints(tmp_path, pytest.fail).save(saved, state)
    loaded = variables()
    assert Checkpoints(tmp_path, pytest.fail).restore_newest(loaded, "select") == state
    for one, other in zip(saved, loaded, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
        assert one.dtype == other.dtype


def test_newest_two_and_best_are_kept(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, pytest.fail)
    for step in (10, 20, 30, 40):
        checkpoints.save(variables(step), state_at(step), is_best=step == 20)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best", "select-00000030", "select-00000040"]
    best = variables()
    restore(checkpoints.best, best)
    assert best[2].numpy() == 3.5 + 20


def test_phases_do_not_mix(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, pytest.fail)
    checkpoints.save(variables(), state_at(30))
    assert checkpoints.restore_newest(variables(), "refit") is None


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x01
    path.write_bytes(content)


DAMAGE = {"truncated": _truncate, "emptied": lambda path: path.write_bytes(b""), "missing": Path.unlink, "flipped": _flip}


@pytest.mark.parametrize("name", ["variables.npz", "state.json"])
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_newest_falls_back_to_the_one_before_with_a_warning(tmp_path: Path, name: str, damage: Any) -> None:
    warnings: list[str] = []
    checkpoints = Checkpoints(tmp_path, warnings.append)
    for step in (10, 20):
        checkpoints.save(variables(step), state_at(step))
    damage(tmp_path / "select-00000020" / name)
    loaded = variables()
    state = checkpoints.restore_newest(loaded, "select")
    assert state == state_at(10)
    assert loaded[2].numpy() == 3.5 + 10
    assert len(warnings) == 1
    assert "select-00000020" in warnings[0]


@pytest.mark.parametrize("name", ["variables.npz", "state.json"])
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_without_the_best_it_goes_on_from_before_there_was_one(tmp_path: Path, name: str, damage: Any) -> None:
    warnings: list[str] = []
    checkpoints = Checkpoints(tmp_path, warnings.append)
    checkpoints.save(variables(10), state_at(10))
    checkpoints.save(variables(20), scored_at(20, 50.0), is_best=True)
    damage(checkpoints.best / name)
    loaded = variables()
    assert checkpoints.restore_newest(loaded, "select") == state_at(10)
    assert loaded[2].numpy() == 3.5 + 10
    (line,) = warnings
    assert "select-00000020 needs its best weights" in line
    assert "best: the checkpoint is damaged" in line

    checkpoints.save(variables(30), scored_at(30, 50.0))
    checkpoints.save(variables(40), scored_at(40, 50.0))
    untouched = variables()
    assert checkpoints.restore_newest(untouched, "select") is None
    assert untouched[2].numpy() == 3.5, "what begins anew has its first weights"
    assert "begins anew" in warnings[-1]


def test_a_best_that_is_worse_than_the_state_says_is_none(tmp_path: Path) -> None:
    """It began anew without its best weights, and was killed when it had written the first new ones."""
    warnings: list[str] = []
    checkpoints = Checkpoints(tmp_path, warnings.append)
    checkpoints.save(variables(30), scored_at(30, 50.0), is_best=True)
    shutil.copytree(tmp_path / "select-00000030", tmp_path / "kept")
    shutil.rmtree(checkpoints.best)
    checkpoints.save(variables(10), scored_at(10, 1.0), is_best=True)
    (tmp_path / "kept").rename(tmp_path / "select-00000030")
    loaded = variables()
    assert checkpoints.restore_newest(loaded, "select") == scored_at(10, 1.0)
    assert loaded[2].numpy() == 3.5 + 10
    assert "select-00000030 needs its best weights" in warnings[0]


def test_a_best_that_is_better_than_the_state_says_is_one(tmp_path: Path) -> None:
    """Best comes first: a kill behind it has the epoch done again."""
    checkpoints = Checkpoints(tmp_path, pytest.fail)
    checkpoints.save(variables(20), scored_at(20, 60.0), is_best=True)
    shutil.rmtree(tmp_path / "select-00000020")
    shutil.copytree(checkpoints.best, tmp_path / "kept")
    checkpoints.save(variables(10), scored_at(10, 50.0), is_best=True)
    shutil.rmtree(checkpoints.best)
    (tmp_path / "kept").rename(checkpoints.best)
    assert checkpoints.restore_newest(variables(), "select") == scored_at(10, 50.0)


def test_any_flipped_byte_of_the_state_is_noticed(tmp_path: Path) -> None:
    Checkpoints(tmp_path, pytest.fail).save(variables(), state_at(20))
    path = tmp_path / "select-00000020" / "state.json"
    whole = path.read_bytes()
    noticed = 0
    for offset in range(len(whole)):
        path.write_bytes(whole[:offset] + bytes([whole[offset] ^ 0x01]) + whole[offset + 1 :])
        try:
            state = restore(path.parent, variables())
        except UserError:
            noticed += 1
        else:
            assert state == state_at(20), "a changed blank between the fields may pass"
    assert noticed > 0.8 * len(whole.replace(b" ", b""))


def test_another_model_is_refused_and_nothing_is_loaded(tmp_path: Path) -> None:
    Checkpoints(tmp_path, pytest.fail).save(variables(5), state_at(10))
    renamed = [keras.Variable(np.zeros((2, 3)), name="other"), *variables()[1:]]
    with pytest.raises(UserError, match="of another model"):
        restore(tmp_path / "select-00000010", renamed)
    reshaped = [keras.Variable(np.zeros((3, 2)), name="kernel"), *variables()[1:]]
    with pytest.raises(UserError, match=r"kernel has shape \(2, 3\), expected \(3, 2\)"):
        restore(tmp_path / "select-00000010", reshaped)
    assert reshaped[2].numpy() == 3.5
