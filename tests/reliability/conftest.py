"""Trainings that things happen to, and the one that nothing happens to."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, TWENTY, write_pairs
from tests.reliability.nursery import Mishap, Order

SMALL = [
    *("--analyzer", "character", "--hidden-dim", "16", "--num-heads", "2", "--intermediate-dim", "16"),
    *("--num-encoder-layers", "1", "--num-decoder-layers", "1", "--validation-split", "0.2", "--learning-rate", "0.01"),
]
TWO_EPOCHS = [*SMALL, "--epochs", "2"]
ONE_THREAD = ["--threads", "1"]


@dataclass(frozen=True)
class Done:
    """How a training ended: exit code (negative: killed by that signal), what it said, seconds it took."""

    code: int
    log: str
    seconds: float

    @property
    def last_line(self) -> str:
        return self.log.splitlines()[-1]


class Nursery:
    """Starts trainings quickly, see `nursery.py`."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.reliability.nursery"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
            env={**os.environ, "XDG_CACHE_HOME": str(log.parent)},
        )  # fmt: skip
        assert self._read() == "ready"

    def _read(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def train(self, *arguments: str | Path, mishaps: list[Mishap] | None = None, **more: Any) -> Done:
        """Runs a training to its end."""
        assert self.process.stdin is not None
        begin = time.monotonic()
        order = Order([str(argument) for argument in arguments], str(self.log), mishaps or [], **more)
        self.process.stdin.write(order.to_json() + "\n")
        self.process.stdin.flush()
        code = int(self._read())
        return Done(code, self.log.read_text(encoding="utf-8", errors="replace"), time.monotonic() - begin)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=60)


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    nursery = Nursery(tmp_path_factory.mktemp("nursery") / "log")
    yield nursery
    nursery.close()


@pytest.fixture(scope="session")
def pairs_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pairs(tmp_path_factory.mktemp("pairs") / "twenty.csv", TWENTY)


@pytest.fixture(scope="session")
def unbroken(nursery: Nursery, pairs_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of a training of two epochs that nothing happened to."""
    run = tmp_path_factory.mktemp("unbroken") / "run"
    done = nursery.train("--data", pairs_file, "--output", run, *TWO_EPOCHS, *ONE_THREAD)
    assert done.code == 0, done.log
    return run


def record_of(run: Path) -> dict[str, Any]:
    """What must be the same in two runs of one training: weights, optimizer, seeds, vocabulary, history and replies."""
    assert not [path for path in run.rglob(".*") if path.name != ".lock"], "nothing half-written stays"
    files = ["history.jsonl", "samples.txt", "vocabulary.json", "export/assets.extra/vocabulary.json"]
    newest = {path.name.split("-")[0]: path for path in sorted((run / "checkpoints").iterdir())}  # and the best
    for path in newest.values():
        files += [f"checkpoints/{path.name}/{name}" for name in ("variables.npz", "state.json")]
    return {"exported": exported(run / "export"), **{name: (run / name).read_bytes() for name in files}}


def exported(export: Path) -> list[bytes]:
    """The weights of an export, sorted, since TensorFlow numbers and orders them as it likes."""
    import tensorflow as tf

    reader = tf.train.load_checkpoint(str(export / "variables" / "variables"))
    return sorted(
        reader.get_tensor(name).tobytes() for name in reader.get_variable_to_shape_map() if "OBJECT_GRAPH" not in name
    )
