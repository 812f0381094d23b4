"""`train.py --list-presets`: the named sizes as a table."""

from __future__ import annotations

import argparse
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from chatbot.cli.console import lenient_stdout
from chatbot.config import TextSettings
from chatbot.parameter_count import count_parameters
from chatbot.presets import PRESETS

_VOCABULARY_SIZE = TextSettings().vocabulary_size
_NUM_ANSWERS = 5_000


class ListPresets(argparse.Action):
    """A flag that prints the table and exits, whatever else is given or missing."""

    def __init__(self, option_strings: Any, dest: str, **kwargs: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **kwargs)

    def __call__(self, *arguments: Any, **kwargs: Any) -> None:
        """Prints and exits."""
        print_presets()
        raise SystemExit(0)


def print_presets() -> None:
    """Prints a line a preset: architecture, sizes, and parameters at the default vocabulary."""
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("preset", "architecture", "norm"):
        table.add_column(column, no_wrap=True)
    for column in ("layers", "hidden", "heads", "intermediate", "parameters"):
        table.add_column(column, justify="right", no_wrap=True)
    for name, settings in PRESETS.items():
        layers = (settings.num_encoder_layers, settings.num_decoder_layers)
        table.add_row(
            name,
            settings.architecture,
            settings.norm,
            "+".join(str(number) for number in layers if number),
            str(settings.hidden_dim),
            f"{settings.num_heads} x {settings.width_of_head}",
            str(settings.intermediate_dim),
            f"{count_parameters(settings, _VOCABULARY_SIZE, _NUM_ANSWERS):,}",
        )
    console = Console(file=lenient_stdout(), width=110)
    with console.capture() as text:
        console.print(table)
    print(text.get(), end="")
    print(f"Parameters at {_VOCABULARY_SIZE:,} pieces; compact and small with a memory of {_NUM_ANSWERS:,} answers.")
