"""`python -m chatbot export`: the SavedModel of a run, copied to where it is served."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from chatbot.artifact import MANIFEST, find_export, read_extra
from chatbot.cli.console import say
from chatbot.cli.flags import Parser
from chatbot.errors import UserError
from chatbot.storage import file_digest, replace_directory


def make_parser() -> Parser:
    """The flags of the command."""
    parser = Parser(prog="python -m chatbot export", description="Copy the SavedModel of a run to where it is served.")
    parser.add_argument("path", type=Path, help="run directory, or an export")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="where it shall stand, e.g. /srv/bot/1")
    parser.add_argument("--overwrite", action="store_true", help="replace an export that stands there")
    return parser


def main(argv: Sequence[str]) -> int:
    """Runs the command and returns its exit code."""
    arguments = make_parser().parse(argv)
    source, target = find_export(arguments.path), arguments.output
    read_extra(source)
    if target.exists() and any(target.iterdir() if target.is_dir() else [target]):
        is_export = (target / MANIFEST).is_file()
        if not (arguments.overwrite and is_export):
            hint = "add --overwrite to replace it" if is_export else "it is no export; choose another --output"
            raise UserError(f"{target}: something stands there already; {hint}")
    with replace_directory(target) as beside:
        shutil.copytree(source, beside, dirs_exist_ok=True)
        read_extra(beside)
    say(f"exported: {target} (sha256 of its manifest: {file_digest(target / MANIFEST)})")
    return 0
