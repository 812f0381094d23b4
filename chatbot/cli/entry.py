"""The commands by name, each imported only when it is called."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from chatbot.cli.console import EXIT_USER, guarded

COMMANDS = {
    "train": "train on a file of questions and answers, and export the model",
    "chat": "talk to a trained model",
    "check": "tell what is wrong with files of questions and answers, and what training would make of them",
    "evaluate": "measure a model on questions it has not seen, beside two baselines",
    "export": "copy the SavedModel of a run to where it is served",
}


def run(command: str, argv: Sequence[str]) -> int:
    """Runs a command with its arguments and returns its exit code."""
    module = importlib.import_module(f"chatbot.cli.{command}")
    return guarded(lambda: int(module.main(argv)), verbose="--verbose" in argv)


def main(argv: Sequence[str]) -> int:
    """`python -m chatbot COMMAND ...`"""
    listing = "\n".join(f"  {name:<10}{text}" for name, text in COMMANDS.items())
    usage = f"usage: python -m chatbot COMMAND [--help]\n\n{listing}"
    if not argv or argv[0] in ("-h", "--help"):
        print(usage, file=sys.stdout if argv else sys.stderr)
        return 0 if argv else EXIT_USER
    if argv[0] not in COMMANDS:
        print(f"error: no command {argv[0]!r}; there are {', '.join(COMMANDS)}", file=sys.stderr)
        return EXIT_USER
    return run(argv[0], argv[1:])
