"""No regular expression of the package takes more than linear time, whatever it is searched in."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable

import pytest

from tests.test_conventions import PACKAGE, SOURCES

_NAMES = ("compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")
SEARCHES = {f"re.{name}" for name in _NAMES}
FILES = {
    "cli/flags.py": 1,
    "cli/check_words.py": 1,
    "doctor/faults.py": 1,  # one for each fault, joined
    "evaluation/metrics.py": 1,
    "text/normalize.py": 1,
    "training/checkpoints.py": 1,
    "training/run_directory.py": 1,
}
"""How many calls of `re` each file has, besides those with a set of characters alone."""


def patterns_of(tree: ast.AST) -> list[str]:
    """The patterns in calls of `re`: "" for one that is no literal."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in SEARCHES]
    first = [node.args[0].value if isinstance(node.args[0], ast.Constant) else "" for node in calls]
    return [pattern.decode("ascii") if isinstance(pattern, bytes) else str(pattern) for pattern in first]


ALL = {
    path.relative_to(PACKAGE).as_posix(): [
        pattern
        for pattern in patterns_of(ast.parse(path.read_text(encoding="utf-8")))
        if not re.fullmatch(r"\[[^\]]*\]|\ufffd", pattern)  # one character: nothing to go back to
    ]
    for path in SOURCES
}


def test_the_list_is_whole() -> None:
    """A new expression comes here, and below with what is hardest for it."""
    assert {name: len(patterns) for name, patterns in ALL.items() if patterns} == FILES


def different(count: int) -> str:
    return "".join(chr(0xAC00 + index % 9_000) for index in range(count))


HARD: dict[str, list[Callable[[int], str]]] = {
    "cli/flags.py": [lambda n: "a" * n, lambda n: "0" * n + "g"],
    "cli/check_words.py": [lambda n: "byte " * n, lambda n: "byte " + "1" * n, lambda n: "byt" * n],
    "evaluation/metrics.py": [different, lambda n: different(n // 2) * 2, lambda n: ("a" * 8 + "b") * (n // 9)],
    "text/normalize.py": [lambda n: "a" * n, lambda n: ("a" * 63 + "\0") * (n // 64), lambda n: "\0" * n],
    "training/checkpoints.py": [lambda n: "seed_generator_" * n, lambda n: "seed_generator_" + "1" * n],
    "training/run_directory.py": [lambda n: " " * n, lambda n: "\n" * n, lambda n: "a\n " * (n // 3)],
}


def seconds(pattern: str, text: str) -> float:
    """The best of three."""
    is_of_bytes = "\\0" in pattern
    compiled = re.compile(pattern.encode() if is_of_bytes else pattern)
    subject = text.encode() if is_of_bytes else text
    times = []
    for _ in range(3):
        begin = time.process_time()
        list(compiled.finditer(subject))
        times.append(time.process_time() - begin)
    return min(times)


@pytest.mark.parametrize("name", sorted(HARD))
def test_every_one_is_linear(name: str) -> None:
    for pattern in ALL[name]:
        for make in HARD[name]:
            short, long = seconds(pattern, make(2_000)), seconds(pattern, make(16_000))
            assert long < 0.01 + 3 * 8 * short, (pattern, make(20))


def test_faults_of_a_cell_are_found_in_linear_time() -> None:
    from chatbot.doctor.faults import cell_faults

    for unit in ("\x00", "\u200b", "가", "\ufffd\n", " "):
        begin = time.process_time()
        list(cell_faults(unit * 1_000_000))
        assert time.process_time() - begin < 1.0
