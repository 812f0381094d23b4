"""What a signal does to a program, in a process of its own, which a second one has to end."""

from __future__ import annotations

import pytest

from tests.conftest import run_program

PROGRAM = """
import os, signal, sys
from chatbot.cli.console import guarded, say
from chatbot.cli.signals import StopSignals
from chatbot.errors import Interrupted

def hit():
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))

def command():
    with StopSignals("saved") as signals:
        BODY
    return 0

sys.exit(guarded(command))
"""
BODIES = {
    "where it stands": ("hit(); say('went on')", "saved"),
    "whatever catches exceptions": (
        """
        try:
            hit()
        except Exception:
            say('went on')""",
        "saved",
    ),
    "noted, and no stop came in the stretch": (
        """
        with signals.deferred():
            hit(); say('ended')
        say('went on')""",
        "ended\nsaved",
    ),
    "twice, while it is deferred": (
        """
        with signals.deferred():
            hit(); say('saving'); hit(); say('went on')""",
        "saving",
    ),
    "twice, on the way out": (
        """
        try:
            hit()
        finally:
            say('leaving'); hit(); say('went on')""",
        "leaving",
    ),
}


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize(("body", "said"), BODIES.values(), ids=BODIES.keys())
def test_a_signal_stops_in_order_and_a_second_one_at_once(body: str, said: str, name: str, code: int) -> None:
    done = run_program("-c", PROGRAM.replace("BODY", body), name)
    assert (done.returncode, done.stderr.decode().splitlines()) == (code, said.splitlines())


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_second_signal_after_the_program_has_left_shows_no_traceback(name: str, code: int) -> None:
    program = PROGRAM.replace("BODY", "hit()").replace(
        "sys.exit(guarded(command))", "code = guarded(command); hit(); sys.exit(code)"
    )
    done = run_program("-c", program, name)
    assert (done.returncode, done.stderr) == (code, b"saved\n")
