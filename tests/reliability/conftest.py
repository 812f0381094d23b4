"""Trainings that things happen to, and the one that nothing happens to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import unicodedata
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

# Root without these is bound by permissions like everybody else.
BOUND = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


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


class Elsewhere:
    """A directory tree with one place to write to, and a user whom permissions bind, which root is not."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.prefix = BOUND if os.geteuid() == 0 and shutil.which(BOUND[0]) else []
        self.is_bound = bool(self.prefix) or os.geteuid() != 0
        self.data = path / unicodedata.normalize("NFD", "읽기 전용 자료") / "스무 쌍.csv"
        self.data.parent.mkdir()
        write_pairs(self.data, TWENTY)
        self.data.chmod(0o444)
        self.data.parent.chmod(0o555)
        self.open = path / unicodedata.normalize("NFC", "쓰는 곳")
        self.open.mkdir()
        self.link = path / "가는 길"
        self.link.symlink_to(self.open)
        self.closed = path / "닫힌 곳"
        self.closed.mkdir()
        self.closed.chmod(0o555)

    def run(self, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
        home = self.closed / "집"  # cannot even be made
        return subprocess.run(
            [*self.prefix, sys.executable, *map(str, arguments)],
            capture_output=True, cwd=self.open, timeout=300, check=False,
            env={"PATH": "/usr/bin:/bin", "HOME": str(home), "PYTHONPATH": str(ROOT), **environment},
        )  # fmt: skip


@pytest.fixture(scope="session")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Elsewhere]:
    place = Elsewhere(tmp_path_factory.mktemp("elsewhere"))
    yield place
    for directory in (place.closed, place.data.parent):
        directory.chmod(0o755)  # so that it can be removed


@pytest.fixture(scope="session")
def unbroken(elsewhere: Elsewhere) -> Path:
    """The run of a training of two epochs that nothing happened to: in another place, locale, hash seed and time.

    What is compared with it shows two promises at the cost of one training.
    """
    run = elsewhere.link / "모델 1"
    done = elsewhere.run(
        "-m", "tests.reliability.elsewhere", "--data", elsewhere.data, "--output", run, *TWO_EPOCHS, *ONE_THREAD,
        PYTHONHASHSEED="4711", LC_ALL="C", TZ="Pacific/Kiritimati",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
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
