"""A signal in the very moment in which Java starts is Python's, as before and after it."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import ROOT

PROGRAM = """
import sys, time
from chatbot.cli.console import guarded
from chatbot.cli.signals import StopSignals
from chatbot.text.analyzer import OktAnalyzer

def command():
    with StopSignals("stopped"):
        OktAnalyzer().start()
        time.sleep(20)
    return 0

sys.exit(guarded(command))
"""


def threads_of(process: int) -> set[str]:
    names = set()
    for thread in Path(f"/proc/{process}/task").iterdir():
        with suppress(OSError):
            names.add((thread / "comm").read_text().strip())
    return names


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="tells by /proc how far Java is")
@pytest.mark.parametrize("number", [2, 15])
def test_it_stops_the_program(number: int) -> None:
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        # By then Java has taken the signals it wants, and it goes on loading for a while.
        while "Service Thread" not in threads_of(process.pid):
            assert process.poll() is None
        process.send_signal(number)
        _, said = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, said.splitlines()[-1]) == (128 + number, "stopped")
