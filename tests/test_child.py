from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.child import Child
from chatbot.errors import UserError

MODULE = """
import os, sys
from chatbot.child import serve
from chatbot.errors import UserError

def load():
    print("noise on stdout")
    if "refuses" in sys.argv:
        raise UserError("none of that")
    def answer(request):
        if request["text"] == "end":
            os._exit(7)
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


def test_an_answer_that_nobody_waited_for_is_dropped(child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Child) -> dict[str, object]:
        raise KeyboardInterrupt

    child.wait_until_ready()
    with monkeypatch.context() as patch:
        patch.setattr(Child, "_receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            child.ask({"text": "first"})
    assert child.ask({"text": "second"})["echo"] == "second"


def test_closed_it_is_gone(child: Child) -> None:
    child.wait_until_ready()
    process = Path(f"/proc/{child._process.pid}")
    assert process.exists()
    began = time.monotonic()
    child.close()
    assert not process.exists()
    assert time.monotonic() - began < 5
