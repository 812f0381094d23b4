"""Ctrl-C and SIGTERM: stop in order the first time, at once the second time."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from chatbot.errors import Interrupted


class StopSignals:
    """Catches SIGINT and SIGTERM while it is entered.

    Outside a `deferred` stretch a signal raises `Interrupted` where the program stands. Inside one it is only
    noted, for the program to stop at the next good moment (`requested`). A second signal ends the process.

    Args:
        message: of the `Interrupted`.
    """

    def __init__(self, message: str = "") -> None:
        self.message = message
        self.number: int | None = None
        self.is_deferred = False
        self._previous: dict[int, Any] = {}

    def requested(self) -> int | None:
        """The number of the signal that asked to stop, None if none did."""
        return self.number

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """A stretch in which a signal is only noted; one that did not stop it does so at its end."""
        self.is_deferred = True
        try:
            yield
        finally:
            self.is_deferred = False
        if self.number is not None:
            raise Interrupted(self.number, self.message)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.number is not None:
            os._exit(128 + number)
        self.number = number
        if not self.is_deferred:
            raise Interrupted(number, self.message)

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *exception: object) -> None:
        if self.number is not None:
            return  # the program is leaving, and a second signal on its way out still ends it at once
        for number, handler in self._previous.items():
            signal.signal(number, handler)
