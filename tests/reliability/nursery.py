"""A process that has imported everything and forks a child for each training: the many that are killed start at once.

It reads an order a line, see `Order`, runs `train.py` in a child as the order says, and answers with the child's exit code
(negative: the signal that killed it).
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import os
import resource
import signal
import sys
import time
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Mishap:
    """A signal that the training gets at a certain place.

    Attributes:
        place: "call MODULE:NAME", or "file EVENT PART", an audit event of Python whose arguments hold PART.
        signal: its name.
        number: which of the times that the place is reached; it comes just before.
    """

    place: str
    signal: str = "SIGKILL"
    number: int = 1


@dataclass(frozen=True)
class Order:
    """One training.

    Attributes:
        arguments: of train.py.
        log: the file that gets its stderr.
        mishaps: what happens to it.
        checkpoint_seconds: between two checkpoints, None for what users get.
        largest_file: bytes that a file can have; more is refused as on a full disk.
        signal_after: seconds until it gets `signal` wherever it stands.
        signal: its name.
    """

    arguments: list[str]
    log: str
    mishaps: list[Mishap] = field(default_factory=list)
    checkpoint_seconds: float | None = None
    largest_file: int | None = None
    signal_after: float | None = None
    signal: str = "SIGKILL"

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Order:
        document = json.loads(line)
        return cls(**{**document, "mishaps": [Mishap(**mishap) for mishap in document["mishaps"]]})


def prepare(mishap: Mishap) -> None:
    """Lets a mishap happen in this process."""
    kind, place = mishap.place.split(" ", 1)
    times = 0

    def reached() -> None:
        nonlocal times
        times += 1
        if times == mishap.number:
            os.kill(os.getpid(), signal.Signals[mishap.signal])

    if kind == "file":
        event, part = place.split(" ", 1)
        sys.addaudithook(
            lambda name, arguments: reached() if name == event and any(part in str(a) for a in arguments) else None
        )
        return
    module, name = place.split(":")
    *owners, attribute = name.split(".")
    owner = functools.reduce(getattr, owners, importlib.import_module(module))
    original = getattr(owner, attribute)

    def wrapped(*arguments: Any, **more: Any) -> Any:
        reached()
        return original(*arguments, **more)

    setattr(owner, attribute, wrapped)


def train(order: Order) -> int:
    """What the child does."""
    from chatbot.cli.entry import run
    from chatbot.training import loop

    log = os.open(order.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 2)
    os.dup2(2, 1)
    if order.checkpoint_seconds is not None:
        loop.CHECKPOINT_SECONDS = order.checkpoint_seconds
    if order.largest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (order.largest_file, order.largest_file))
    for mishap in order.mishaps:
        prepare(mishap)
    return run("train", order.arguments)


def attend(child: int, order: Order) -> int:
    """Waits for a child, sends the signal when it is time, and returns its exit code."""
    begin = time.monotonic()
    if order.signal_after is not None:
        while time.monotonic() - begin < order.signal_after:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        os.kill(child, signal.Signals[order.signal])
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> None:
    import chatbot.cli.train_run  # noqa: F401  imports everything, and starts neither TensorFlow's threads nor Java

    print("ready", flush=True)
    for line in sys.stdin:
        order = Order.from_json(line)
        child = os.fork()
        if not child:
            code = 99
            try:
                code = train(order)
            finally:
                os._exit(code)
        print(attend(child, order), flush=True)


if __name__ == "__main__":
    main()
