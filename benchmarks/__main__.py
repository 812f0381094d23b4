"""All four things a user waits for, beside their peers: python -m benchmarks [NAME ...]"""

from __future__ import annotations

import sys

from benchmarks import training_speed
from benchmarks.turns import Figures, take_turns

BENCHMARKS = {"training": training_speed}


def main(names: list[str]) -> int:
    """Runs the benchmarks with these names, or all, and prints a table for each."""
    for name in names or BENCHMARKS:
        if name not in BENCHMARKS:
            print(f"error: no benchmark {name!r}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
            return 2
    for name in names or BENCHMARKS:
        print(f"\n{name}", flush=True)
        print_table(take_turns(BENCHMARKS[name].CONTENDERS, BENCHMARKS[name].ROUNDS))
    return 0


def print_table(results: dict[str, Figures]) -> None:
    """A row for each contender: its figures, and how many times ours is better than it."""
    ours = next(iter(results.values()))
    first = next(iter(ours))
    is_rate = first.endswith("/s")
    for name, figures in results.items():
        ratio = ours[first] / figures[first] if is_rate else figures[first] / ours[first]
        listed = "  ".join(f"{key} {value:,.4g}" for key, value in figures.items())
        print(f"  {name:<28}{listed}  ({ratio:.2f} x)", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
