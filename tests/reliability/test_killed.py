"""Killed, stopped or out of room at any moment: the same command goes on, and ends with the same bytes."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import TWENTY, run_program, write_pairs
from tests.reliability.conftest import ONE_THREAD, SMALL, TWO_EPOCHS, Done, Nursery, record_of
from tests.reliability.nursery import Mishap

AGAIN = "to go on where it stands, run the same command again"


def newest_step(run: Path, phase: str) -> int:
    steps = [int(path.name.split("-")[1]) for path in (run / "checkpoints").glob(f"{phase}-*")]
    return max(steps, default=0)


def stage(done: Done, run: Path) -> str:
    """Where a killed training stood."""
    if run.joinpath(".lock").exists() and list(run.glob(".export*")):
        return "export"
    if list(run.glob("checkpoints/.*")):
        return "checkpoint"
    for said in ("estimated", "model", "vocabulary", "devices"):
        if f"\n{said}" in done.log:
            return {"estimated": "steps", "model": "first steps", "vocabulary": "model"}.get(said, "morphemes")
    return "reading"


def test_a_training_that_everything_happens_to_equals_an_unbroken_one(
    nursery: Nursery, pairs_file: Path, unbroken: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    command = ("--data", pairs_file, "--output", run, *TWO_EPOCHS)

    in_a_step = Mishap("call chatbot.training.loop:Trainer.stop_if_requested", number=50)
    done = nursery.train(*command, *ONE_THREAD, checkpoint_seconds=0.2, mishaps=[in_a_step])
    assert done.code == -9, "in a step of the first epoch"
    assert 0 < newest_step(run, "select") < 50

    stands = newest_step(run, "select")
    in_validation = Mishap("call chatbot.training.loop:Trainer.evaluate", "SIGTERM", number=2)
    done = nursery.train(*command, mishaps=[in_validation])
    assert f"going on from step {stands}\n" in done.log
    assert "1 threads" in done.log, "as it began, not as the machine has"
    assert (done.code, AGAIN in done.last_line, "epoch 2" in done.log) == (143, True, False), "in the last validation"
    assert newest_step(run, "select") == 120

    done = nursery.train(*command, mishaps=[Mishap("file os.rename select-00000120")])
    assert done.code == -9, "its records and the best are written, the checkpoint itself is still beside its place"
    assert len((run / "history.jsonl").read_text().splitlines()) == 2

    done = nursery.train(*command, mishaps=[Mishap("call chatbot.export:predict", "SIGINT")])
    assert (done.code, AGAIN in done.last_line) == (130, True), "while the export is made"

    done = nursery.train(*command, mishaps=[Mishap(f"file os.rename {run / 'export'}")])
    assert done.code == -9, "the export is written beside its place"
    assert not (run / "export").exists()

    done = nursery.train(*command)
    assert done.code == 0, done.log
    assert record_of(run) == record_of(unbroken)


def test_a_kill_while_morphemes_are_remembered_leaves_no_half_of_them(nursery: Nursery, tmp_path: Path) -> None:
    command = ("--data", write_pairs(tmp_path / "two.csv", TWENTY[:2]), "--output", tmp_path / "run", *SMALL)
    cache = nursery.log.parent / "korean-chatbot"
    before = set(cache.glob("*.npz"))
    for place, parts, whole in (("file os.rename .npz", 1, 0), ("call chatbot.cli.train_run:make_plan", 0, 1)):
        assert nursery.train(*command, mishaps=[Mishap(place)]).code == -9
        assert (len(list(cache.glob(".*.part"))), len(set(cache.glob("*.npz")) - before)) == (parts, whole)


def test_a_kill_before_any_file_operation_loses_nothing(tmp_path: Path) -> None:
    done = run_program("-m", "tests.reliability.rehearsal", tmp_path)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    assert int(done.stdout.split()[-2]) > 100, "kills"


@pytest.mark.stress
@pytest.mark.timeout(1200)
def test_thirty_kills_at_random_moments(nursery: Nursery, pairs_file: Path, tmp_path: Path) -> None:
    """A selection and a refit, killed wherever it stands; each run that gets to its end equals the unbroken one."""
    flags = [*SMALL, "--epochs", "4", "--refit"]
    unbroken = nursery.train("--data", pairs_file, "--output", tmp_path / "unbroken", *flags)
    assert unbroken.code == 0, unbroken.log
    wanted = record_of(tmp_path / "unbroken")

    moments, hit, finished = random.Random(0), Counter[str](), 0
    while hit.total() < 30 or not finished:
        run = tmp_path / str(finished)
        stand = [(phase, newest_step(run, phase)) for phase in ("select", "refit")]
        seconds = moments.uniform(0.5, 0.6 * unbroken.seconds) if hit.total() < 30 else None
        done = nursery.train("--data", pairs_file, "--output", run, *flags, checkpoint_seconds=0.05, signal_after=seconds)
        said = re.findall(r"going on from step (\d+)\n", done.log)
        assert said == [str(step) for _, step in stand if step][: len(said)], "the exact step of the last checkpoint"
        if done.code == -9:
            hit[stage(done, run)] += 1
            continue
        assert done.code == 0, done.log
        assert record_of(run) == wanted
        finished += 1
    print(f"{hit.total()} kills: {dict(hit)}; {finished} runs finished")
