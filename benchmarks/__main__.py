"""All four things a user waits for, beside their peers: python -m benchmarks [NAME ...]"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from benchmarks import answering_speed, corpus_growth, preparing_speed, start_time, training_speed
from benchmarks.turns import Contender, Figures, take_turns


class Benchmark(NamedTuple):
    """Contenders by name, the one to compare with first, and how many turns each has."""

    contenders: dict[str, tuple[Contender, dict[str, Any]]]
    rounds: int


BENCHMARKS = {
    "training": Benchmark(training_speed.CONTENDERS, 5),
    "one-answer": Benchmark(answering_speed.contenders(batch=1, answers=100), 5),
    "256-answers": Benchmark(answering_speed.contenders(batch=256, answers=5), 5),
    "start": Benchmark(start_time.CONTENDERS, 3),
    "preparing": Benchmark(preparing_speed.CONTENDERS, 5),
    "growth": Benchmark(corpus_growth.CONTENDERS, 1),
}


def main(names: list[str]) -> int:
    """Runs the benchmarks with these names, or all, and prints a table for each."""
    for name in names:
        if name not in BENCHMARKS:
            print(f"error: no benchmark {name!r}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
            return 2
    for name in names or BENCHMARKS:
        print(f"\n{name}", flush=True)
        print_table(take_turns(*BENCHMARKS[name]))
    return 0


def print_table(results: dict[str, Figures]) -> None:
    """A row for each contender: its figures, and how many times as fast the first one is."""
    ours = next(iter(results.values()))
    first = next(iter(ours))
    is_rate = first.endswith("/s")
    for name, figures in results.items():
        ratio = ours[first] / figures[first] if is_rate else figures[first] / ours[first]
        listed = "  ".join(f"{key} {value:,.4g}" for key, value in figures.items())
        print(f"  {name:<28}{listed}  ({ratio:.2f} x)", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
