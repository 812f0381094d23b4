"""The report of `evaluate` as tables on stdout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from chatbot.cli.console import lenient_stdout

_ROWS = {
    "exact": ("exact answers", ".3f"),
    "chrf": ("chrF", ".1f"),
    "bleu": ("BLEU of characters", ".1f"),
    "perplexity": ("perplexity per token", ".2f"),
    "bits_per_character": ("bits per character", ".3f"),
    "distinct_replies": ("distinct replies", ".3f"),
    "distinct_bigrams": ("distinct bigrams of characters", ".3f"),
    "empty": ("empty replies", ".3f"),
    "cut": ("cut replies", ".3f"),
    "endless": ("endless replies", ".3f"),
    "training_answers": ("replies that are a training answer", ".3f"),
    "answers_per_second": ("answers per second", ",.0f"),
}
_SHORT = ("exact", "chrf")
_FEW_KINDS = 4
"""With more, all figures of each would fill screens: a line a kind then, and the rest in JSON."""


def print_tables(report: Mapping[str, Any]) -> None:
    """Prints the figures of all questions, those by kind, and the samples."""
    console = Console(file=lenient_stdout())
    everything, *kinds = report["groups"]
    with console.capture() as text:  # printed at once and by us: rich would leave a closed pipe with exit code 1
        if len(kinds) <= _FEW_KINDS:
            console.print(_figures(report["groups"]))
        else:
            console.print(_figures([everything]))
            console.print(_by_kind(kinds))
            console.print("All figures by kind: --json", highlight=False)
        if "fallback" in report:
            console.print(_coverage(report["fallback"]))
        if report["samples"]:
            console.print(_samples(report["samples"]))
    print(text.get(), end="", flush=True)


def _table(*columns: str, **options: Any) -> Table:
    table = Table(box=box.SIMPLE_HEAD, **options)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _name(kind: str | None) -> str:
    return "all" if kind is None else kind or "(no kind)"


def _shown(key: str, value: float | None) -> str:
    return "-" if value is None else format(value, _ROWS[key][1])


def _figures(groups: Sequence[Mapping[str, Any]]) -> Table:
    """A line a figure, a column a system, a section a kind."""
    systems = list(groups[0]["figures"])
    table = _table("")
    for system in systems:
        table.add_column(system, justify="right")
    for group in groups:
        table.add_row(Text(f"{_name(group['kind'])}: {group['questions']:,} questions", style="bold"))
        for key, (label, _) in _ROWS.items():
            values = [group["figures"][system][key] for system in systems]
            if any(value is not None for value in values):
                table.add_row(f"  {label}", *(_shown(key, value) for value in values))
        table.add_section()
    return table


def _by_kind(groups: Sequence[Mapping[str, Any]]) -> Table:
    """A line a kind, and in it the main figures of each system."""
    systems = list(groups[0]["figures"])
    table = _table("kind", title=f"by kind: {' / '.join(systems)}", title_justify="left")
    for column in ("questions", *(_ROWS[key][0] for key in _SHORT)):
        table.add_column(column, justify="right", no_wrap=True)
    for group in groups:
        cells = [" / ".join(_shown(key, group["figures"][system][key]) for system in systems) for key in _SHORT]
        table.add_row(Text(_name(group["kind"])), f"{group['questions']:,}", *cells)
    return table


def _coverage(rows: Sequence[Mapping[str, Any]]) -> Table:
    """A line a threshold; the model's own is marked."""
    table = _table("questions answered", "right among them", "threshold", "", title="fallback", title_justify="left")
    for row in rows:
        precision = "-" if row["precision"] is None else f"{row['precision']:.3f}"
        own = "chosen in training" if row["is_own"] else ""
        table.add_row(f"{row['coverage']:.3f}", precision, f"{row['threshold']:.3f}", own)
    return table


def _samples(samples: Sequence[Mapping[str, Any]]) -> Table:
    """Replies side by side; the constant answer is the same in every line and left out."""
    systems = [system for system in samples[0]["replies"] if system != "constant"]
    table = _table("question", "answer", *systems, title="samples", title_justify="left", show_lines=True)
    for sample in samples:
        texts = (sample["question"], sample["answer"], *(sample["replies"][system] for system in systems))
        table.add_row(*map(Text, texts))  # as they are: brackets are no markup here
    return table
