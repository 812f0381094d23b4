"""The child process of a chat: holds TensorFlow and Java, answers JSON lines.

A process of its own keeps the prompt alive while they load, lets Ctrl-C drop an answer, and keeps what native code
writes out of the terminal. In: {"id": 1, "question": "..."}. Out: first {"ready": true} or {"error": "..."}, then
{"id": 1, "reply": {...}}.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from chatbot.errors import UserError
from chatbot.notices import Notice
from chatbot.responder import Reply, Responder


def main(path: str, options: str) -> None:
    """Loads the export at `path`, with `options` of `Responder.load` as JSON, and answers until the input ends."""
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else writes to stdout must not get between the answers
    try:
        responder = Responder.load(Path(path), **json.loads(options))
    except UserError as error:
        _send(output, {"error": str(error)})
        return
    _send(output, {"ready": True})
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = responder.reply(request["question"])
        except Exception as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            reply = Reply("", notices=(Notice.FAILED,))
        _send(output, {"id": request["id"], "reply": dataclasses.asdict(reply)})


def _send(output: TextIO, message: dict[str, Any]) -> None:
    output.write(json.dumps(message) + "\n")
    output.flush()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    finally:
        os._exit(0)  # the chat is over, or gone: nothing is kept here, and Java would take its time to leave
