"""The records of a run stay in step with the checkpoint it goes on from, and only one training writes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chatbot.errors import UserError
from chatbot.training.run_directory import RunDirectory


def record(run: RunDirectory, epoch: int, phase: str = "select") -> None:
    run.append_history({"phase": phase, "epoch": epoch, "step": 10 * epoch})
    run.append_samples(f"epoch {epoch}: loss 0.1\n  questions\n    안녕 -> 안녕하세요 {epoch}!\n    잘 자 -> \n")


def epochs_of(run: RunDirectory) -> tuple[list[int], list[int]]:
    history = [json.loads(line)["epoch"] for line in (run.path / "history.jsonl").read_text().splitlines()]
    samples = [line for line in (run.path / "samples.txt").read_text(encoding="utf-8").splitlines() if line.startswith("epoch")]
    return history, [int(line.split()[1].rstrip(":")) for line in samples]


def test_what_the_checkpoint_does_not_know_is_forgotten_in_both_records(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    for epoch in (1, 2, 3):
        record(run, epoch)
    record(run, 1, "refit")
    run.forget_after("refit", 1)
    assert epochs_of(run) == ([1, 2, 3, 1], [1, 2, 3, 1])
    run.forget_after("select", 2)
    assert epochs_of(run) == ([1, 2], [1, 2]), "what came after it goes, too"
    run.forget_after("select", 0)
    assert epochs_of(run) == ([], [])


@pytest.mark.parametrize("name", ["history.jsonl", "samples.txt"])
def test_records_torn_at_any_byte_are_mended(tmp_path: Path, name: str) -> None:
    """A kill comes in the middle of a line or letter, and the epoch it tells of is not in the checkpoint yet."""
    run = RunDirectory(tmp_path)
    record(run, 1)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    record(run, 2)
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    if name == "history.jsonl":
        after["samples.txt"] = before["samples.txt"]  # it comes second
    for end in range(len(before[name]), len(after[name])):
        for path, content in {**after, name: after[name][:end]}.items():
            (tmp_path / path).write_bytes(content)
        run.forget_after("select", 1)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_a_kill_in_the_first_moment_leaves_is_no_stranger(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()
    (tmp_path / ".config.json.123.part").write_text("{")
    run = RunDirectory(tmp_path)
    run.prepare()
    with run.lock():
        run.sweep()
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]
    (tmp_path / ".hidden").touch()
    with pytest.raises(UserError, match=r"holds something that is not a run \(\.hidden\)"):
        run.prepare()


def test_a_second_training_is_refused_as_long_as_the_first_holds_the_directory(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    refused = pytest.raises(UserError, match="another training is writing there; wait for it")
    with run.lock(), refused, RunDirectory(tmp_path).lock():
        pytest.fail("both write")
    with RunDirectory(tmp_path).lock():
        pass


def test_a_directory_moved_away_by_a_killed_process_comes_back(tmp_path: Path) -> None:
    checkpoints = tmp_path / "checkpoints"
    for name in (".best.7.old", ".select-00000004.7.old", "select-00000004"):
        (checkpoints / name).mkdir(parents=True)
        (checkpoints / name / "state.json").write_text(name)
    RunDirectory(tmp_path).sweep()
    assert {path.name: (path / "state.json").read_text() for path in checkpoints.iterdir()} == {
        "best": ".best.7.old",
        "select-00000004": "select-00000004",
    }
