"""A part of the program in a process of its own, which is asked in JSON: a line a message, in ASCII, so that any string fits.

The child says {"ready": true} or {"error": "..."} first, then to each {"id": 1, ...} an {"id": 1, ...}.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

import chatbot
from chatbot.errors import UserError

Message = dict[str, Any]


class Child:
    """Starts `python -m MODULE ARGUMENTS`, and does not wait. The module calls `serve`.

    Args:
        module: to run.
        arguments: for it.
        role: what it does, for a message about its end.
        way_on: what to do then.
        environment: variables that it gets where ours does not set them.
        errors: a file for its stderr; None: ours.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        role: str,
        way_on: str,
        environment: Mapping[str, str] = MappingProxyType({}),
        errors: IO[bytes] | None = None,
    ) -> None:
        root = str(Path(chatbot.__file__).resolve().parent.parent)
        search_path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
        self._role, self._way_on = role, way_on
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**environment, **os.environ, "PYTHONPATH": search_path, "PYTHONUTF8": "1"},
            start_new_session=True,  # Ctrl-C at the terminal is for the program, not for its child
        )
        self._number = 0
        self.is_ready = False
        self.failure: str | None = None

    def wait_until_ready(self) -> None:
        """Returns when everything is loaded.

        Raises:
            UserError: it cannot be loaded, or the child has ended.
        """
        while not self.is_ready:
            self.is_ready = bool(self._receive().get("ready"))

    def ask(self, request: Message) -> Message:
        """Waits until it is ready, and for its answer. The answer to a call that was interrupted is dropped when it comes.

        Raises:
            UserError: see `wait_until_ready`.
        """
        if self.failure is not None:
            raise UserError(self.failure)
        self.wait_until_ready()
        self._number += 1
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # the answer that does not come says so
            _send(self._process.stdin, {"id": self._number, **request})
        message = self._receive()
        while message.get("id") != self._number:
            message = self._receive()
        return message

    def _receive(self) -> Message:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            with suppress(subprocess.TimeoutExpired):  # its own exit code tells more than that of being killed
                self._process.wait(2)
            self.close()
            self.failure = f"the process of {self._role} has ended (exit code {self._process.returncode}); {self._way_on}"
            raise UserError(self.failure)
        message: Message = json.loads(line)
        if "error" in message:
            self.close()
            self.failure = str(message["error"])
            raise UserError(self.failure)
        return message

    def close(self) -> None:
        """Ends it: it holds nothing that could be lost, and Java would take its time to leave."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        assert self._process.stdin is not None
        self._process.stdout.close()
        with suppress(BrokenPipeError):  # a question that was never read
            self._process.stdin.close()


def serve(load: Callable[[], Callable[[Message], Message]]) -> None:
    """What the child runs: loads, then answers requests until there are no more, and ends the process.

    Args:
        load: returns what turns a request into an answer; its `UserError` is told.
    """
    try:
        output = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)  # whatever else writes to stdout must not get between the answers
        with suppress(BrokenPipeError):  # whoever asked may have gone
            try:
                answer = load()
            except UserError as error:
                _send(output, {"error": str(error)})
                return
            _send(output, {"ready": True})
            for line in sys.stdin:
                request = json.loads(line)
                _send(output, {"id": request["id"], **answer(request)})
    finally:
        os._exit(0)  # nothing is kept here, and Java would take its time to leave


def _send(stream: IO[bytes], message: Message) -> None:
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()
