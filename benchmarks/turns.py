"""Contenders that take turns, each in a process of its own, so that the machine's moods hit them alike."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any

Figures = dict[str, float]
"""What one turn came to, by name."""

Contender = Callable[..., Callable[[], Figures]]
"""Makes everything ready, once, in its own process; what it returns takes a turn."""

_PAUSE = 0.3
"""Seconds between turns: threads of the last one may still spin."""


def take_turns(contenders: Mapping[str, tuple[Contender, dict[str, Any]]], rounds: int) -> dict[str, Figures]:
    """Lets contenders take turns, A B C A B C ..., while the others wait.

    Args:
        contenders: by name, each with its arguments.
        rounds: turns of each; one more comes first and does not count.

    Returns:
        the median of each figure, by the contender's name. One that is not installed is left out, and said so.
    """
    context = multiprocessing.get_context("spawn")
    processes: dict[str, tuple[Any, Connection]] = {}
    for name, (contender, arguments) in contenders.items():
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, contender, arguments), daemon=True)
        process.start()
        theirs.close()
        missing = ours.recv()  # one after the other: they would disturb each other while they get ready
        if missing:
            print(f"{name}: left out, {missing}", flush=True)
            process.join()
        else:
            processes[name] = (process, ours)
    turns: dict[str, list[Figures]] = {name: [] for name in processes}
    for number in range(rounds + 1):
        for name, (_, connection) in processes.items():
            time.sleep(_PAUSE)
            connection.send(True)
            figures = connection.recv()
            if number:
                turns[name].append(figures)
    for process, connection in processes.values():
        connection.send(False)
        process.join()
    return {name: {key: statistics.median(turn[key] for turn in taken) for key in taken[0]} for name, taken in turns.items()}


def _serve(connection: Connection, contender: Contender, arguments: dict[str, Any]) -> None:
    try:
        take_turn = contender(**arguments)
    except ImportError as error:
        connection.send(f"{error.name} is not installed")
        return
    connection.send("")
    while connection.recv():
        connection.send(take_turn())
