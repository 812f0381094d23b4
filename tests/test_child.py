from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from chatbot.child import Child
from chatbot.errors import UserError

MODULE = """
import os, sys, time
from chatbot.child import serve
from chatbot.errors import UserError

def load():
    print("noise on stdout")
    if "refuses" in sys.argv:
        raise UserError("none of that")
    def answer(request):
        if request["text"] == "end":
            os._exit(7)
        if request["text"] == "crash":
            raise KeyError("of the child")
        time.sleep(0.02)
        return {"echo": request["text"], "variable": os.environ.get("OURS")}
    return answer

serve(load)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "asked_module.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "asked_module"


@pytest.fixture
def child(module: str) -> Iterator[Child]:
    asked = Child(module, role="the echo", way_on="try again", environment={"OURS": "set", "PYTHONPATH": "never"})
    yield asked
    asked.close()


@pytest.mark.parametrize("text", ["", "안녕", "한\n줄\r\x00", "\ud800", "🎂" * 100_000])
def test_any_string_goes_there_and_back(child: Child, text: str) -> None:
    assert not child.is_ready
    assert child.ask({"text": text})["echo"] == text
    assert child.is_ready


def test_ours_go_before_the_environment_it_is_given(child: Child, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert child.ask({"text": ""})["variable"] == "set"
    monkeypatch.setenv("OURS", "the user's")
    other = Child(module, role="", way_on="", environment={"OURS": "set"})
    assert other.ask({"text": ""})["variable"] == "the user's"
    other.close()


def test_what_it_cannot_load_is_told_each_time(module: str) -> None:
    child = Child(module, "refuses", role="the echo", way_on="try again")
    for _ in range(2):
        with pytest.raises(UserError, match=r"^none of that$"):
            child.ask({"text": "안녕"})


def test_its_end_is_told_each_time(child: Child) -> None:
    child.ask({"text": "안녕"})
    for text in ("end", "안녕"):
        with pytest.raises(UserError, match=r"^the process of the echo has ended \(exit code 7\); try again$"):
            child.ask({"text": text})


def test_an_interrupt_at_any_moment_leaves_the_next_answer_right_or_one_line(module: str) -> None:
    """Requests and answers are larger than what fits into a pipe: whoever stops reading stops the other, too."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    moments = random.Random(0)
    before = signal.signal(signal.SIGALRM, interrupt)
    child: Child | None = None
    outcomes: Counter[str] = Counter()
    try:
        for number in range(60):
            child = child or Child(module, role="the echo", way_on="try again")
            child.wait_until_ready()
            try:
                signal.setitimer(signal.ITIMER_REAL, moments.uniform(0.0005, 0.05))
                child.ask({"text": "x" * 1_000_000})
                signal.setitimer(signal.ITIMER_REAL, 0)
                outcomes["answered"] += 1
            except KeyboardInterrupt:
                outcomes["interrupted"] += 1
            text = f"{number} " * 50_000
            if not child.has_ended:
                assert child.ask({"text": text})["echo"] == text
                continue
            with pytest.raises(UserError, match="has ended"):
                child.ask({"text": text})
            outcomes["ended"] += 1
            child = None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if child is not None:
            child.close()
    assert outcomes["interrupted"] > 20, outcomes
    assert outcomes["ended"] < outcomes["interrupted"], outcomes


def test_what_breaks_in_it_is_shown_and_told(module: str, capfd: pytest.CaptureFixture[str]) -> None:
    child = Child(module, role="the echo", way_on="try again")
    with pytest.raises(UserError, match="exit code 1"):
        child.ask({"text": "crash"})
    assert "KeyError: 'of the child'" in capfd.readouterr().err


def test_closed_or_ended_it_says_so_whatever_is_asked(child: Child) -> None:
    child.wait_until_ready()
    child.close()
    for call in (child.wait_until_ready, lambda: child.ask({"text": "안녕"})):
        with pytest.raises(UserError, match=r"has ended \(exit code -9\)"):
            call()


def test_closed_it_is_gone(child: Child) -> None:
    child.wait_until_ready()
    process = Path(f"/proc/{child._process.pid}")
    assert process.exists()
    began = time.monotonic()
    child.close()
    assert not process.exists()
    assert time.monotonic() - began < 5
