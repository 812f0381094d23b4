"""The one error type that a user is meant to read."""

from __future__ import annotations


class UserError(Exception):
    """Something the user can mend. The message is one line: what, where, what to do.

    The command line prints the message and exits with code 2; no traceback is shown.
    """


class Interrupted(BaseException):
    """The user or the system asked the process to stop, and everything worth keeping is saved.

    Like KeyboardInterrupt it is no Exception: a signal comes anywhere, and what catches whatever goes wrong there (a
    damaged cache, a Java that does not start) must not take it for that.

    Args:
        signal_number: the signal received; the process exits with 128 + signal_number.
        message: how to go on, in one line.
    """

    def __init__(self, signal_number: int, message: str = "") -> None:
        super().__init__(message)
        self.signal_number = signal_number
