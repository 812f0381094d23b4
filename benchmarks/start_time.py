"""Starting: how long a person waits for chat.py, beside a bare `import tensorflow` in the same turns.

The export is of the default model's size for ten thousand pairs, with random weights; every turn is a process from its
first instruction on. In a pipe: the first answer, the second, and one of those from the tenth second after the first on,
morphemes included. In a terminal: until the prompt is there.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.turns import Contender, Figures
from benchmarks.workload import ROOT, read_texts

_QUIET_SECONDS = 10


def write_export() -> Path:
    """Makes the export in a process of its own, so that this one stays small."""
    directory = Path(tempfile.mkdtemp()) / "export"
    subprocess.run([sys.executable, "-m", "benchmarks.random_export", str(directory)], check=True, cwd=ROOT)
    return directory


def import_tensorflow() -> Callable[[], Figures]:
    """What no chat with a SavedModel can be faster than."""

    def turn() -> Figures:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import tensorflow"], check=True, stderr=subprocess.DEVNULL)
        return {"s": time.perf_counter() - began}

    return turn


def chat_in_a_pipe() -> Callable[[], Figures]:
    """Answers, line by line."""
    export, questions = write_export(), read_texts().questions

    def turn() -> Figures:
        began = time.perf_counter()
        chat = subprocess.Popen(
            [sys.executable, "chat.py", str(export)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

        def answer(question: str) -> float:
            assert chat.stdin is not None
            assert chat.stdout is not None
            asked = time.perf_counter()
            chat.stdin.write(f"{question}\n".encode())
            chat.stdin.flush()
            chat.stdout.readline()
            return time.perf_counter() - asked

        answer(questions[0])
        first = time.perf_counter() - began
        second = answer(questions[1])
        time.sleep(_QUIET_SECONDS)
        later = statistics.median(answer(question) for question in questions[2:12])
        chat.communicate()
        return {"s": first, "second ms": second * 1e3, "later ms": later * 1e3}

    return turn


def chat_once() -> Callable[[], Figures]:
    """One question on the command line."""
    export = write_export()

    def turn() -> Figures:
        began = time.perf_counter()
        command = [sys.executable, "chat.py", str(export), "--once", "오늘 뭐 먹지?"]
        subprocess.run(command, check=True, cwd=ROOT, capture_output=True)
        return {"s": time.perf_counter() - began}

    return turn


def prompt_in_a_terminal() -> Callable[[], Figures]:
    """Until a person can type."""
    import pexpect

    export = write_export()

    def turn() -> Figures:
        began = time.perf_counter()
        chat = pexpect.spawn(sys.executable, ["chat.py", "--no-history", str(export)], cwd=str(ROOT), encoding="utf-8")
        chat.expect_exact("나>")
        seconds = time.perf_counter() - began
        chat.sendeof()
        chat.expect(pexpect.EOF)
        return {"s": seconds}

    return turn


CONTENDERS: dict[str, tuple[Contender, dict[str, Any]]] = {
    "import tensorflow": (import_tensorflow, {}),
    "chat.py, first answer": (chat_in_a_pipe, {}),
    "chat.py --once": (chat_once, {}),
    "chat.py, prompt": (prompt_in_a_terminal, {}),
}
