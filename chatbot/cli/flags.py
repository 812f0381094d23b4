"""Flags of the command line, generated from the config's dataclasses where they set its fields."""

from __future__ import annotations

import argparse
import dataclasses
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from chatbot.cli.console import EXIT_USER, fail
from chatbot.config import PARTS, Settings, field_type
from chatbot.errors import UserError


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, with `--help-all` for the flags that `--help` leaves out."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_abbrev=False, add_help=False, **kwargs)
        self._rare: list[tuple[argparse.Action, str]] = []
        self.add_argument("-h", "--help", action="help", help="show this help")

    def rare(self, *names: str, help: str, **kwargs: Any) -> None:
        """Adds a flag that only `--help-all` shows."""
        action = self.add_argument(*names, help=argparse.SUPPRESS, **kwargs)
        self._rare.append((action, help))

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        """Parses the arguments; shows every flag for `--help-all`."""
        if self._rare and "--help-all" in argv:
            for action, text in self._rare:
                action.help = text
            self.print_help()
            raise SystemExit(0)
        return self.parse_args(argv)

    def format_help(self) -> str:
        """The help, with a last line that names `--help-all` where there is more."""
        hidden = any(action.help == argparse.SUPPRESS for action, _ in self._rare)
        return super().format_help() + ("\n--help-all shows every flag.\n" if hidden else "")

    def error(self, message: str) -> NoReturn:
        """One line instead of the usage."""
        fail(f"{message}; see {self.prog} --help")
        raise SystemExit(EXIT_USER)


def add_settings(parser: Parser) -> None:
    """Adds a flag for each field of the config, without defaults, so that it shows which were given."""
    for settings in PARTS.values():
        for entry in dataclasses.fields(settings):
            kind, _ = field_type(settings, entry.name)
            default = "" if entry.default is None else f" (default: {_shown(entry.default)})"
            arguments: dict[str, Any] = {
                "dest": f"{settings.part}.{entry.name}",
                "default": argparse.SUPPRESS,
                "help": (entry.metadata["help"] + default).replace("%", "%%"),
            }
            if kind is bool:
                arguments["action"] = argparse.BooleanOptionalAction
            else:
                arguments |= {"type": kind, "choices": entry.metadata["choices"] or None}
                arguments["metavar"] = None if entry.metadata["choices"] else {int: "N", float: "X", str: "TEXT"}[kind]
            add = parser.add_argument if entry.metadata["common"] else parser.rare
            add(f"--{entry.name.replace('_', '-')}", **arguments)


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def given_settings(arguments: argparse.Namespace, settings: type[Settings]) -> dict[str, Any]:
    """The fields of one part of the config that were given as flags."""
    prefix = f"{settings.part}."
    return {name.removeprefix(prefix): value for name, value in vars(arguments).items() if name.startswith(prefix)}


def add_sha256(parser: Parser) -> None:
    """Adds the flag that pins an export."""
    parser.add_argument(
        "--sha256", type=_sha256, metavar="DIGEST", help="of its manifest, as train.py prints it: refuse any other model"
    )


def _sha256(text: str) -> str:
    """A digest in hexadecimal digits, for argparse."""
    if not re.fullmatch("[0-9a-fA-F]{64}", text):
        raise argparse.ArgumentTypeError("a SHA-256 has 64 hexadecimal digits")
    return text


def positive(text: str) -> int:
    """A number of at least 1, for argparse."""
    number = int(text)
    if number < 1:
        raise UserError(f"a number of at least 1 is needed, not {number}")
    return number
