"""A part of the program in a process of its own, which is asked in JSON: a line a message, in ASCII, so that any string fits.

The child says {"ready": true} or {"error": "..."} first, then to each {"id": 1, ...} an {"id": 1, ...}.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import traceback
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
        self._error = ""
        self.has_ended = False  # it will never answer again
        self._loaded = threading.Event()  # or not to be loaded
        self._answers: queue.SimpleQueue[Message] = queue.SimpleQueue()
        # A signal that interrupts reading would lose what was read of a line; it never reaches a thread like this. And as
        # answers are always read, a child that has many to write never keeps us from asking.
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break  # it was killed while it wrote
                message: Message = json.loads(line)
                if "ready" in message:
                    self._loaded.set()
                elif "error" in message:
                    self._error = str(message["error"])
                else:
                    self._answers.put(message)
        self.has_ended = True
        self._loaded.set()
        self._answers.put({})

    @property
    def is_ready(self) -> bool:
        """Whether everything is loaded."""
        return self._loaded.is_set() and not self.has_ended

    def wait_until_ready(self) -> None:
        """Returns when everything is loaded.

        Raises:
            UserError: it cannot be loaded, or the child has ended.
        """
        self._loaded.wait()
        if self.has_ended:
            raise self._failure()

    def ask(self, request: Message) -> Message:
        """Waits until it is ready, and for its answer. The answer to a call that was interrupted is dropped when it comes.

        Raises:
            UserError: see `wait_until_ready`.
        """
        self.wait_until_ready()
        self._number += 1
        self._send({"id": self._number, **request})
        while True:
            message = self._answers.get()
            if not message:
                raise self._failure()
            if message["id"] == self._number:
                return message

    def _send(self, message: Message) -> None:
        assert self._process.stdin is not None
        try:
            with suppress(BrokenPipeError):  # the end of its answers tells
                _write(self._process.stdin, message)
        except BaseException:
            self.close()  # half a request is none, and what follows would be taken for its rest
            raise

    def _failure(self) -> UserError:
        with suppress(subprocess.TimeoutExpired):  # its own exit code tells more than that of being killed
            self._process.wait(2)
        self.close()
        ended = f"the process of {self._role} has ended (exit code {self._process.returncode}); {self._way_on}"
        return UserError(self._error or ended)

    def close(self) -> None:
        """Ends it: it holds nothing that could be lost, and Java would take its time to leave."""
        self.has_ended = True
        self._loaded.set()
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # a question that was never read
            self._process.stdin.close()


def serve(load: Callable[[], Callable[[Message], Message]]) -> None:
    """What the child runs: loads, then answers requests until there are no more, and ends the process.

    Args:
        load: returns what turns a request into an answer; its `UserError` is told.
    """
    code = 1
    try:
        output = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)  # whatever else writes to stdout must not get between the answers
        _answer_all(load, output)
        code = 0
    except BrokenPipeError:  # whoever asked has gone
        code = 0
    except Exception:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)  # nothing is kept here, and Java would take its time to leave


def _answer_all(load: Callable[[], Callable[[Message], Message]], output: IO[bytes]) -> None:
    try:
        answer = load()
    except UserError as error:
        _write(output, {"error": str(error)})
        return
    _write(output, {"ready": True})
    for line in sys.stdin:
        request = json.loads(line)
        _write(output, {"id": request["id"], **answer(request)})


def _write(stream: IO[bytes], message: Message) -> None:
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()
