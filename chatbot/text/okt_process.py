"""Okt in a process of its own: python -m chatbot.text.okt_process

Java and TensorFlow, started side by side in one process, take twice as long as in two.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence

from chatbot.child import Child, Message, serve
from chatbot.text.analyzer import OktAnalyzer, find_jvm


class OktProcess:
    """An `Analyzer` that splits as `OktAnalyzer` does, for a program that also loads a model. Its process ends with ours."""

    name = OktAnalyzer.name
    version = OktAnalyzer.version

    def __init__(self) -> None:
        find_jvm()  # a missing Java is told at once
        self._lock = threading.Lock()
        self._child: Child | None = None

    def start(self) -> None:
        """Starts the process and waits until Okt is loaded (some seconds).

        Raises:
            UserError: Java or KoNLPy is missing or does not start.
        """
        with self._lock:
            self._started().wait_until_ready()

    def morphemes(self, texts: Sequence[str]) -> list[Sequence[str]]:
        """Splits each of `texts`, starting the process if it does not run.

        Raises:
            UserError: it cannot be started, or has ended; the next call starts another.
        """
        with self._lock:
            found: list[Sequence[str]] = self._started().ask({"texts": list(texts)})["morphemes"]
        return found

    def _started(self) -> Child:
        if self._child is None or self._child.has_ended:
            self._child = Child(__name__, role="the morpheme analyzer", way_on="ask again")
        return self._child


@functools.cache
def shared_okt_process() -> OktProcess:
    """One for all that a program loads: Okt takes seconds, and some hundred megabytes."""
    return OktProcess()


def _load() -> Callable[[Message], Message]:
    okt = OktAnalyzer()
    okt.start()
    return lambda request: {"morphemes": okt.morphemes(request["texts"])}


if __name__ == "__main__":
    serve(_load)
