"""A responder in a child process, see `worker.py`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

import chatbot
from chatbot.errors import UserError
from chatbot.notices import Notice
from chatbot.responder import Reply
from chatbot.text.analyzer import QUICK_START_VARIABLE

# One question at a time: an answer is many small products one after the other, and handing each to another thread takes
# longer than the product. Java need not become fast either, but be there soon.
_FOR_ONE_PERSON = {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1", QUICK_START_VARIABLE: "1"}


class RemoteResponder:
    """Starts loading at once; `reply` waits for it. To be used as a context manager.

    Args:
        path: run directory or export.
        options: further arguments of `Responder.load`.
        verbose: whether to show what the child writes to stderr.
    """

    def __init__(self, path: Path, options: Mapping[str, Any] = MappingProxyType({}), verbose: bool = False) -> None:
        root = str(Path(chatbot.__file__).resolve().parent.parent)
        search_path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
        self._open = ExitStack()
        errors = None if verbose else self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "chatbot.cli.worker", str(path), json.dumps(dict(options))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**_FOR_ONE_PERSON, **os.environ, "PYTHONPATH": search_path, "PYTHONUTF8": "1"},
            start_new_session=True,  # Ctrl-C at the terminal is ours to handle
        )
        self._number = 0
        self.is_ready = False

    def wait_until_ready(self) -> None:
        """Returns when everything is loaded.

        Raises:
            UserError: it cannot be loaded.
        """
        while not self.is_ready:
            self.is_ready = bool(self._receive().get("ready"))

    def reply(self, text: str) -> Reply:
        """Answers a question. An answer whose wait was interrupted is dropped when it comes.

        Raises:
            UserError: the model cannot be loaded, or the child has died.
        """
        self._number += 1
        request = json.dumps({"id": self._number, "question": text})  # ASCII: a lone surrogate goes through, too
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(request.encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self._receive()  # says why
        self.wait_until_ready()
        message = self._receive()
        while message.get("id") != self._number:
            message = self._receive()
        fields = message["reply"]
        return Reply(
            text=fields["text"],
            pieces=tuple(fields["pieces"]),
            spelled=tuple(fields["spelled"]),
            log_probability=fields["log_probability"],
            confidence=fields["confidence"],
            withheld=fields["withheld"],
            notices=tuple(map(Notice, fields["notices"])),
        )

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            raise UserError(f"the process that holds the model has ended (code {code}); --verbose shows what it wrote")
        message: dict[str, Any] = json.loads(line)
        if "error" in message:
            raise UserError(message["error"])
        return message

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.kill()  # it holds nothing that could be lost; Java would take its time to leave
        self._process.wait()
        self._open.close()
        assert self._process.stdout is not None
        self._process.stdout.close()
        with suppress(BrokenPipeError):  # a question that was never read
            assert self._process.stdin is not None
            self._process.stdin.close()
