"""The line a person types into: prompt_toolkit with a private history."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.history import History, InMemoryHistory

from chatbot.cli.messages import PROMPT

HISTORY_LINES = 1_000


def history_path() -> Path:
    """Where typed lines are kept: $XDG_STATE_HOME/korean-chatbot/history, by default below ~/.local/state."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "korean-chatbot" / "history"


class PrivateHistory(History):
    """The last 1,000 lines, a line each, in a file that only its owner can read. No file, no harm."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def _lines(self) -> list[str]:
        try:
            return self.path.read_text(encoding="utf-8", errors="replace").splitlines()[-HISTORY_LINES:]
        except OSError:
            return []

    def load_history_strings(self) -> Iterable[str]:
        """The lines, newest first."""
        return reversed(self._lines())

    def store_string(self, string: str) -> None:
        """Adds a line and drops the oldest beyond 1,000."""
        lines = [*self._lines(), " ".join(string.split())][-HISTORY_LINES:]
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            beside = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
                file.write("\n".join(lines) + "\n")
            beside.replace(self.path)


def make_reader(keep_history: bool) -> Callable[[], str]:
    """A function that shows the prompt and returns the line typed; with or without a history on disk."""
    history = PrivateHistory(history_path()) if keep_history else InMemoryHistory()
    session: PromptSession[str] = PromptSession(history=history)
    return lambda: session.prompt(PROMPT)
