"""The conversation as functions of streams: lines in, replies out, notices beside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, Protocol, TextIO

from chatbot.cli import messages
from chatbot.responder import Reply


class Answerer(Protocol):
    """Whatever answers: a `Responder`, or one in another process."""

    def reply(self, text: str) -> Reply:
        """Answers one question."""
        ...


def read_lines(stream: BinaryIO) -> Iterator[str]:
    """The lines of a byte stream as text, whatever wrote them: UTF-8, else CP949, else with U+FFFD for bad bytes."""
    for raw in stream:
        line = raw.rstrip(b"\r\n")
        for encoding, errors in (("utf-8-sig", "strict"), ("cp949", "strict"), ("utf-8", "replace")):
            try:
                yield line.decode(encoding, errors)
            except UnicodeDecodeError:
                continue
            break


def answer_lines(lines: Iterable[str], answerer: Answerer, output: TextIO, notify: Callable[[str], None]) -> None:
    """A pipe: exactly one line out for one line in, blank ones too."""
    for line in lines:
        reply = answerer.reply(line)
        output.write(reply.text + "\n")
        output.flush()
        for notice in reply.notices:
            notify(messages.NOTICES[notice])


def converse(
    read: Callable[[], str], answerer: Answerer, output: TextIO, notify: Callable[[str], None], task: str = "chat"
) -> None:
    """A terminal: a prompt, commands, replies, until the person leaves.

    Args:
        read: shows the prompt and returns a line; EOFError or KeyboardInterrupt: the person leaves.
        answerer: what answers; KeyboardInterrupt during an answer drops it.
        output: where replies go.
        notify: shows everything else.
        task: of the model; decides the first line shown.
    """
    notify(messages.BANNERS[task])
    last: Reply | None = None
    while True:
        try:
            line = read().strip()
        except (EOFError, KeyboardInterrupt):
            break
        if line.startswith("/"):
            if line == "/quit":
                break
            if line == "/help":
                notify(messages.HELP)
            elif line == "/why":
                notify(messages.why(last) if last else messages.NOTHING_ASKED)
            else:
                notify(messages.unknown_command(line))
            continue
        if not line:
            continue
        try:
            last = answerer.reply(line)
        except KeyboardInterrupt:
            notify(messages.DROPPED)
            continue
        if last.text:
            output.write(f"{messages.REPLY}{last.text}\n")
            output.flush()
        for notice in last.notices:
            notify(f"({messages.NOTICES[notice]})")
    notify(messages.FAREWELL)
