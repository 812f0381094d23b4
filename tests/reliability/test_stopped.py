"""Ctrl-C and SIGTERM: saved and gone within ten seconds, wherever they come. See `test_killed.py` for validation and export."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.reliability.conftest import SMALL, Nursery, record_of

# On a machine with time for it: loading Okt's dictionaries is one call into Java, seconds long where others work beside it.
LONGEST = 10.0 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
STOPPED = "run the same command again$|stopped before the training began; nothing is lost$"


def start(output: Path) -> subprocess.Popen[str]:
    """A training whose morphemes are not remembered, so that Java has to start and has work for a while."""
    return subprocess.Popen(
        [sys.executable, ROOT / "train.py", "--data", ROOT / "data" / "smalltalk.csv", "--output", output],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "XDG_CACHE_HOME": str(output.parent / "cache")},
    )  # fmt: skip


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"{text!r} never came")


def stop(process: subprocess.Popen[str], number: signal.Signals) -> str:
    """Stops it once, and returns the last it says."""
    begin = time.monotonic()
    process.send_signal(number)
    assert process.stderr is not None
    rest = process.stderr.read()
    assert process.wait() == 128 + number, rest
    assert time.monotonic() - begin < LONGEST
    assert "Traceback" not in rest
    return rest.splitlines()[-1]


def test_before_and_after_java_has_started(tmp_path: Path) -> None:
    for number, java in ((signal.SIGINT, False), (signal.SIGTERM, True)):
        process = start(tmp_path / "run")
        wait_for(process, "devices" if java else "preset")
        until = time.monotonic() + 60
        while java and "libjvm" not in Path(f"/proc/{process.pid}/maps").read_text():
            assert time.monotonic() < until, "Java never started"
            time.sleep(0.05)
        time.sleep(1.5 if java else 0.2)
        assert re.search(STOPPED, stop(process, number))
        assert not list((tmp_path / "run").glob("*/*")), "nothing was there to save, and nothing is left behind"


@pytest.mark.stress
@pytest.mark.timeout(1200)
def test_stopped_at_random_moments(nursery: Nursery, pairs_file: Path, tmp_path: Path) -> None:
    flags = [*SMALL, "--epochs", "2", "--refit"]
    unbroken = nursery.train("--data", pairs_file, "--output", tmp_path / "unbroken", *flags)
    assert unbroken.code == 0, unbroken.log
    wanted = record_of(tmp_path / "unbroken")
    moments, stops, finished, longest = random.Random(1), 0, 0, 0.0
    while stops < 10 or not finished:
        run = tmp_path / str(finished)
        number = moments.choice([signal.SIGINT, signal.SIGTERM])
        seconds = moments.uniform(0.5, 0.6 * unbroken.seconds) if stops < 10 else None
        done = nursery.train("--data", pairs_file, "--output", run, *flags, signal_after=seconds, signal=number.name)
        if done.code == 0:
            assert record_of(run) == wanted
            finished += 1
            continue
        assert seconds is not None, done.log
        assert done.code == 128 + number, done.log
        assert re.search(STOPPED, done.last_line), done.log
        longest, stops = max(longest, done.seconds - seconds), stops + 1
        assert longest < LONGEST
    print(f"{stops} stops, the slowest took {longest:.1f} s; {finished} runs finished")


@pytest.mark.stress
@pytest.mark.parametrize("seconds", [0.0, 1.0, 2.0, 3.5])
def test_while_tensorflow_and_java_load(tmp_path: Path, seconds: float) -> None:
    process = start(tmp_path / "run")
    wait_for(process, "preset")
    time.sleep(seconds)
    assert re.search(STOPPED, stop(process, signal.SIGINT))
