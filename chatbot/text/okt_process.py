"""Okt in a process of its own: python -m chatbot.text.okt_process

Java and TensorFlow, started side by side in one process, take twice as long as in two. In: {"id": 1, "texts": [...]}. Out:
first {"ready": true} or {"error": "..."}, then {"id": 1, "morphemes": [[...], ...]}.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import chatbot
from chatbot.errors import UserError
from chatbot.text.analyzer import OktAnalyzer, find_jvm


class OktProcess:
    """An `Analyzer` that splits as `OktAnalyzer` does, for a program that also loads a model. Its process ends with ours."""

    name = OktAnalyzer.name
    version = OktAnalyzer.version

    def __init__(self) -> None:
        find_jvm()  # a missing Java is told at once
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._number = 0

    def start(self) -> None:
        """Starts the process and waits until Okt is loaded (some seconds).

        Raises:
            UserError: Java or KoNLPy is missing or does not start.
        """
        with self._lock:
            self._started()

    def morphemes(self, texts: Sequence[str]) -> list[Sequence[str]]:
        """Splits each of `texts`, starting the process if it does not run.

        Raises:
            UserError: it cannot be started, or has ended; the next call starts another.
        """
        with self._lock:
            process = self._started()
            self._number += 1
            with suppress(BrokenPipeError):  # the answer that does not come says so
                _send(process.stdin, {"id": self._number, "texts": list(texts)})
            message = self._receive(process)
            while message.get("id") != self._number:  # the answer to a call that was interrupted
                message = self._receive(process)
        found: list[Sequence[str]] = message["morphemes"]
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            root = str(Path(chatbot.__file__).resolve().parent.parent)
            search_path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
            process = subprocess.Popen(
                [sys.executable, "-m", "chatbot.text.okt_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": search_path},
                start_new_session=True,  # Ctrl-C at the terminal is for the program, not for its analyzer
            )
            self._receive(process)  # ready, or why not
            self._process = process
        return self._process

    def _receive(self, process: subprocess.Popen[bytes]) -> dict[str, Any]:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.endswith(b"\n"):
            self._process = None
            process.kill()
            raise UserError(f"the process of the morpheme analyzer has ended (exit code {process.wait()}); ask again")
        message: dict[str, Any] = json.loads(line)
        if "error" in message:
            process.wait()
            raise UserError(message["error"])
        return message


@functools.cache
def shared_okt_process() -> OktProcess:
    """One for all that a program loads: Okt takes seconds, and some hundred megabytes."""
    return OktProcess()


def _send(stream: Any, message: dict[str, Any]) -> None:
    stream.write(json.dumps(message).encode() + b"\n")  # ASCII: any string goes through
    stream.flush()


def main(requests: TextIO) -> None:
    """Answers requests until there are no more."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else writes to stdout must not get between the answers
    try:
        okt = OktAnalyzer()
        okt.start()
    except UserError as error:
        _send(output, {"error": str(error)})
        return
    _send(output, {"ready": True})
    for line in requests:
        request = json.loads(line)
        _send(output, {"id": request["id"], "morphemes": okt.morphemes(request["texts"])})


if __name__ == "__main__":
    try:
        with suppress(BrokenPipeError):  # whoever asked may have gone
            main(sys.stdin)
    finally:
        os._exit(0)  # nothing is kept here, and Java would take its time to leave
