"""`train.py`: questions and answers in, a run directory with an export out."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from chatbot.artifact import read_extra, read_manifest
from chatbot.cli.console import native_silence, say
from chatbot.cli.flags import Parser, add_settings, given_settings, positive
from chatbot.cli.presets_table import ListPresets
from chatbot.cli.reading import add_read_flags, read_aloud, read_options
from chatbot.cli.signals import StopSignals
from chatbot.config import Config, ModelSettings, TextSettings, TrainingSettings
from chatbot.errors import Interrupted, UserError
from chatbot.presets import PRESETS, default_preset, preset
from chatbot.text.vocabulary import Vocabulary
from chatbot.training.run_directory import RunDirectory, differences


def make_parser() -> Parser:
    """The flags of `train.py`."""
    parser = Parser(prog="train.py", description="Train a chatbot on questions and answers, and export it as a SavedModel.")
    parser.add_argument(
        "--data", action="append", type=Path, required=True, metavar="FILE", help="CSV file, or plain text; may be repeated"
    )
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="run directory, e.g. models/mine")
    parser.add_argument("--preset", choices=PRESETS, help="sizes of the model (default: by the size of the data)")
    parser.add_argument("--list-presets", action=ListPresets, help="show the presets with their sizes and exit")
    parser.add_argument("--overwrite", action="store_true", help="set an earlier run aside under another name and begin anew")
    parser.add_argument("--init-from", type=Path, metavar="RUN", help="begin with the weights and vocabulary of another run")
    parser.add_argument("--verbose", action="store_true", help="show what TensorFlow and Java write, and tracebacks")
    add_read_flags(parser)
    parser.rare("--threads", type=positive, metavar="N", help="threads of TensorFlow (default: all cores)")
    add_settings(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    """Runs the command and returns its exit code."""
    arguments = make_parser().parse(argv)
    with StopSignals("stopped before the training began; nothing is lost") as signals:
        return _train(arguments, signals)


def _train(arguments: argparse.Namespace, signals: StopSignals) -> int:
    from chatbot.dataset.sources import describe_sources

    run = RunDirectory(arguments.output)
    origin = _origin(arguments.init_from, arguments.output)
    text = _text(arguments, origin)
    options = read_options(arguments, text.task)
    corpus = read_aloud(arguments.data, options)

    versions = {name: version(name) for name in ("tensorflow", "keras", "konlpy", "numpy")}
    config, preset_name = _config(arguments, text, len(corpus.pairs), origin)
    document = {
        "config": config.to_dict(),
        "data": {"digest": corpus.digest(), "pairs": len(corpus.pairs)},
        "init_from": None if origin is None else origin.final_digest(),
    }
    if run.exists and not arguments.overwrite:
        recorded = run.read_config()
        _refuse_changes(run, recorded, document)
        if run.is_finished and _is_whole(run):
            say(f"{run.path}: this training is finished and nothing has changed; chat: python chat.py {run.path}")
            return 0
        threads = arguments.threads or recorded["threads"]
        for changed in differences(recorded["versions"], versions):
            say(f"{changed} since this training began: it goes on, but may end with slightly other weights")
    else:
        threads = arguments.threads or os.cpu_count() or 1
        if run.exists:
            say(f"the run that stood there is now {run.set_aside()}")
    run.prepare()
    with run.lock():
        run.sweep()
        sources = describe_sources(arguments.data, options)  # not compared: files may move between two calls
        about = {"preset": preset_name, "threads": threads, "versions": versions, "sources": sources}
        run.write_config({**document, **about})
        say(f"preset {preset_name}, seed {config.training.seed}, {threads} threads")
        with native_silence(arguments.verbose):
            from chatbot.cli.train_run import TrainRun

            try:
                TrainRun(run, config, corpus, origin, threads, signals).execute()
            except Interrupted as stop:
                raise Interrupted(stop.signal_number, "stopped; to go on where it stands, run the same command again") from None
    return 0


def _is_whole(run: RunDirectory) -> bool:
    """Whether the export is as it was written; says so if it is not."""
    try:
        read_extra(run.export)
    except UserError as error:
        say(f"{error}; it is exported again from the checkpoints of the run")
        return False
    return True


def _origin(path: Path | None, output: Path) -> RunDirectory | None:
    """The run to begin from."""
    if path is None:
        return None
    origin = RunDirectory(path)
    if not origin.exists or not origin.is_finished:
        raise UserError(f"--init-from {path}: not a run directory of a finished training")
    if path.resolve() == output.resolve():
        raise UserError(f"--init-from {path}: that is where the new run shall stand; choose another --output")
    if _vocabulary_digest(origin) != read_manifest(origin.export).vocabulary_digest:
        raise UserError(f"--init-from {path}: its vocabulary.json is not the one that it was trained with")
    return origin


def _vocabulary_digest(run: RunDirectory) -> str:
    try:
        return Vocabulary.from_json(run.vocabulary.read_text(encoding="utf-8")).digest
    except (UserError, UnicodeDecodeError) as error:
        raise UserError(f"{run.vocabulary}: damaged ({error})") from error


def _text(arguments: argparse.Namespace, origin: RunDirectory | None) -> TextSettings:
    """How text is read: as given, else as the run to begin from did."""
    given: dict[str, Any] = given_settings(arguments, TextSettings)
    if origin is not None:
        before = Config.from_dict(origin.read_config()["config"]).text
        for name in ("task", "analyzer"):
            if given.setdefault(name, getattr(before, name)) != getattr(before, name):
                raise UserError(
                    f"--init-from {origin.path}: its pieces are those of {name} {getattr(before, name)}; leave out --{name}"
                )
    elif given.get("task") == "language-model":
        given.setdefault("analyzer", "character")
    return TextSettings(**given)


def _config(
    arguments: argparse.Namespace, text: TextSettings, num_pairs: int, origin: RunDirectory | None
) -> tuple[Config, str]:
    """The settings of the run and the name of the preset they start from."""
    given = given_settings(arguments, ModelSettings)
    if origin is None:
        if text.task == "language-model":
            given.setdefault("architecture", "decoder-only")
        name = arguments.preset or default_preset(num_pairs)
        model = preset(name)
        model = model.with_architecture(given.get("architecture", model.architecture))
    else:
        recorded = origin.read_config()
        name, model = recorded["preset"], Config.from_dict(recorded["config"]).model
        changed = {field for field, value in given.items() if value != getattr(model, field)}
        if changed or (arguments.preset or name) != name:
            raise UserError(
                f"--init-from {origin.path}: its weights need its sizes; leave out {', '.join(sorted(changed)) or '--preset'}"
            )
    training: dict[str, Any] = given_settings(arguments, TrainingSettings)
    return Config(text, model.replace(**given), TrainingSettings(**training)), name


def _refuse_changes(run: RunDirectory, recorded: dict[str, Any], wanted: dict[str, Any]) -> None:
    changed = differences({name: recorded.get(name) for name in wanted}, wanted)
    if changed:
        listed = ", ".join(changed[:4]) + (", ..." if len(changed) > 4 else "")
        raise UserError(
            f"{run.path}: holds a run of other settings or data ({listed}); choose another --output, "
            f"or --overwrite to set it aside, or another --output with --init-from {run.path}"
        )
