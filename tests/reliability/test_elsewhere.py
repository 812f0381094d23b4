"""The same training again, elsewhere: other place, user, locale, hash seed and time; and where it may not write."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT, TWENTY, run_program, write_pairs
from tests.reliability.conftest import ONE_THREAD, SMALL, TWO_EPOCHS, record_of

# Root without these is bound by permissions like everybody else.
BOUND = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


class Elsewhere:
    """A directory tree with one place to write to, and a user whom permissions bind, which root is not."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.prefix = BOUND if os.geteuid() == 0 else []
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


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Elsewhere]:
    if os.geteuid() == 0 and not shutil.which(BOUND[0]):
        pytest.skip("permissions do not bind root, and there is no setpriv to change that")
    place = Elsewhere(tmp_path_factory.mktemp("elsewhere"))
    yield place
    for directory in (place.closed, place.data.parent):
        directory.chmod(0o755)  # so that it can be removed


def test_the_same_seed_gives_the_same_run_wherever_and_whenever(unbroken: Path, elsewhere: Elsewhere) -> None:
    """Blanks and Hangul in both forms in the paths, a symbolic link, data and home that are read-only, and all the rest."""
    run = elsewhere.link / "모델 1"
    done = elsewhere.run(
        "-m", "tests.reliability.elsewhere", "--data", elsewhere.data, "--output", run, *TWO_EPOCHS, *ONE_THREAD,
        PYTHONHASHSEED="4711", LC_ALL="C", TZ="Pacific/Kiritimati",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert (elsewhere.open / "모델 1" / "export").is_dir()
    assert record_of(run) == record_of(unbroken)
    assert [path.name for path in elsewhere.data.parent.iterdir()] == [elsewhere.data.name], (
        "nothing is written beside the data"
    )


@pytest.mark.stress
def test_the_same_seed_gives_the_same_run_with_java_and_all_threads(elsewhere: Elsewhere, tmp_path: Path) -> None:
    flags = [*SMALL, "--analyzer", "okt", "--epochs", "2", "--refit"]
    here = run_program(
        ROOT / "train.py", "--data", elsewhere.data, "--output", tmp_path / "run", *flags, XDG_CACHE_HOME=str(tmp_path)
    )
    assert here.returncode == 0, here.stderr.decode()
    run = elsewhere.link / "모델 2"
    there = elsewhere.run(
        "-m", "tests.reliability.elsewhere", "--data", elsewhere.data, "--output", run, *flags,
        PYTHONHASHSEED="1", LC_ALL="POSIX", TZ="America/New_York",
    )  # fmt: skip
    assert there.returncode == 0, there.stderr.decode()
    assert record_of(run) == record_of(tmp_path / "run")


@pytest.mark.parametrize("place", ["closed", "below a file", "closed later"])
def test_an_output_that_cannot_be_written_is_named_before_training(elsewhere: Elsewhere, place: str) -> None:
    run = {
        "closed": elsewhere.closed / "run",
        "below a file": elsewhere.data / "run",
        "closed later": elsewhere.open / "later",
    }[place]
    if place == "closed later":
        run.mkdir(mode=0o555)
    done = elsewhere.run(ROOT / "train.py", "--data", elsewhere.data, "--output", run, *TWO_EPOCHS)
    last = done.stderr.decode().splitlines()[-1]
    assert (done.returncode, "devices" in done.stderr.decode()) == (2, False), done.stderr.decode()
    assert last.startswith(f"error: {run}: cannot be written to (")
    assert last.endswith("choose another --output")
