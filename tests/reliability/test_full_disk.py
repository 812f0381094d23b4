"""A disk that is really full: one line, and after making room the same command ends with the same bytes."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reliability.conftest import ONE_THREAD, TWO_EPOCHS, Nursery, record_of
from tests.reliability.nursery import Mishap

pytestmark = pytest.mark.stress


def mount(path: Path, options: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", path], check=True, capture_output=True)


def test_files_that_may_not_grow(nursery: Nursery, pairs_file: Path, unbroken: Path, tmp_path: Path) -> None:
    command = ("--data", pairs_file, "--output", tmp_path / "run", *TWO_EPOCHS)
    in_export = Mishap("call chatbot.export:predict")
    for mishaps, largest in ([], 1_000_000), ([in_export], None), ([], 400_000):
        done = nursery.train(*command, *ONE_THREAD, mishaps=mishaps, largest_file=largest)
        assert done.code == (-9 if mishaps else 2), done.log
        if not mishaps:
            assert re.fullmatch(r"error: .*File too large; make room and run the same command again", done.last_line)
            assert not list((tmp_path / "run").rglob(".*.part"))
            assert "Traceback" not in done.log
    done = nursery.train(*command)
    assert done.code == 0, done.log
    assert record_of(tmp_path / "run") == record_of(unbroken)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "disk"
    path.mkdir()
    try:
        mount(path, "size=1m")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting is not allowed here")
    yield path
    subprocess.run(["umount", path], check=True)


def test_room_runs_out_again_and_again(nursery: Nursery, pairs_file: Path, disk: Path, tmp_path: Path) -> None:
    """First there is room for the best but not for the newest checkpoint, then for all but the export."""
    wanted = nursery.train("--data", pairs_file, "--output", tmp_path / "run", *TWO_EPOCHS)
    assert wanted.code == 0, wanted.log
    command = ("--data", pairs_file, "--output", disk / "run", *TWO_EPOCHS)
    for size, checkpoints in (("3m", ["best"]), ("5600k", ["best", "select-00000060", "select-00000120"])):
        mount(disk, f"remount,size={size}")
        done = nursery.train(*command)
        assert done.code == 2, done.log
        assert re.fullmatch(r"error: .*No space left on device; make room and run the same command again", done.last_line)
        assert "Traceback" not in done.log
        assert sorted(path.name for path in (disk / "run" / "checkpoints").glob("[!.]*")) == checkpoints
    mount(disk, "remount,size=20m")
    done = nursery.train(*command)
    assert done.code == 0, done.log
    assert record_of(disk / "run") == record_of(tmp_path / "run")
