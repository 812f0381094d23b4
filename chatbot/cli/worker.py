"""The child process of a chat: holds TensorFlow and Java.

A process of its own keeps the prompt alive while they load, lets Ctrl-C drop an answer, and keeps what native code
writes out of the terminal.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable
from pathlib import Path

from chatbot.child import Message, serve
from chatbot.notices import Notice
from chatbot.responder import Reply, Responder


def load(path: str, options: str) -> Callable[[Message], Message]:
    """Loads the export at `path`, with `options` of `Responder.load` as JSON; returns what answers {"question": "..."}."""
    responder = Responder.load(Path(path), **json.loads(options))

    def answer(request: Message) -> Message:
        try:
            reply = responder.reply(request["question"])
        except Exception as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            reply = Reply("", notices=(Notice.FAILED,))
        return {"reply": dataclasses.asdict(reply)}

    return answer


if __name__ == "__main__":
    serve(lambda: load(*sys.argv[1:]))
