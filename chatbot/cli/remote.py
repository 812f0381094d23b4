"""A responder in a child process, see `worker.py`."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

from chatbot.child import Child
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
        self._open = ExitStack()
        self._child = Child(
            "chatbot.cli.worker",
            str(path),
            json.dumps(dict(options)),
            role="the model",
            way_on="--verbose shows what it wrote",
            environment=_FOR_ONE_PERSON,
            errors=None if verbose else self._open.enter_context(tempfile.TemporaryFile()),  # noqa: SIM115
        )
        self._open.callback(self._child.close)

    @property
    def is_ready(self) -> bool:
        """Whether everything is loaded, as far as anybody has waited for it."""
        return self._child.is_ready

    def wait_until_ready(self) -> None:
        """Returns when everything is loaded.

        Raises:
            UserError: it cannot be loaded.
        """
        self._child.wait_until_ready()

    def reply(self, text: str) -> Reply:
        """Answers a question. An answer whose wait was interrupted is dropped when it comes.

        Raises:
            UserError: the model cannot be loaded, or the child has died.
        """
        fields = self._child.ask({"question": text})["reply"]
        return Reply(
            text=fields["text"],
            pieces=tuple(fields["pieces"]),
            spelled=tuple(fields["spelled"]),
            log_probability=fields["log_probability"],
            confidence=fields["confidence"],
            withheld=fields["withheld"],
            notices=tuple(map(Notice, fields["notices"])),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._open.close()
