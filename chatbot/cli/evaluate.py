"""`python -m chatbot evaluate`: a model measured on questions it has not seen, beside two baselines."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatbot.artifact import find_export, read_manifest
from chatbot.cli.console import native_silence, say
from chatbot.cli.flags import Parser, add_sha256, positive
from chatbot.cli.reading import add_read_flags, read_aloud, read_options
from chatbot.cli.signals import StopSignals
from chatbot.errors import UserError
from chatbot.training.run_directory import RunDirectory

if TYPE_CHECKING:
    from chatbot.dataset.corpus import Corpus
    from chatbot.evaluation.answers import Answers


def make_parser() -> Parser:
    """The flags of the command."""
    parser = Parser(
        prog="python -m chatbot evaluate",
        description="Measure a model on questions it has not seen, beside the nearest training question's answer and the "
        "most frequent one.",
    )
    parser.add_argument("path", type=Path, help="run directory, or an export")
    parser.add_argument(
        "--data", action="append", type=Path, required=True, metavar="FILE", help="questions and answers; may be repeated"
    )
    parser.add_argument(
        "--train",
        action="append",
        type=Path,
        metavar="FILE",
        help="what the model was trained on, for the baselines and the leak check; may be repeated (default: as the run says)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--samples", type=positive, default=0, metavar="N", help="show N questions with all replies")
    parser.add_argument(
        "--fallback", action="store_true", help="show how many questions are answered, and how many rightly, by confidence"
    )
    add_sha256(parser)
    parser.add_argument("--verbose", action="store_true", help="show what TensorFlow and Java write, and tracebacks")
    add_read_flags(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    """Runs the command and returns its exit code."""
    arguments = make_parser().parse(argv)
    with StopSignals("stopped; nothing was measured"):
        report = _evaluate(arguments)
    if arguments.json:
        print(json.dumps(report, indent=2), flush=True)
    else:
        from chatbot.cli.evaluate_report import print_tables

        print_tables(report)
    return 0


def _evaluate(arguments: argparse.Namespace) -> dict[str, Any]:
    export = find_export(arguments.path)
    manifest = read_manifest(export, arguments.sha256)
    if manifest.text.task != "chat":
        raise UserError(f"{arguments.path}: a language model has no answers to compare; history.jsonl of its run has its loss")
    test = read_aloud(arguments.data, read_options(arguments))
    training = _training_pairs(arguments, export)
    leaked = 0
    if training is not None:
        test, leaked = _without_leaks(test, training)

    from chatbot.evaluation.report import MOST_KINDS, QuestionSet, make_report

    kinds = [str(kind) for kind in test.pairs["label"]]
    if len(set(kinds)) > MOST_KINDS:
        say(f"figures are not split by kind: {len(set(kinds)):,} different ones are more than {MOST_KINDS}")
    known = None if training is None else frozenset(training.answers)
    questions = QuestionSet(test.questions, test.answers, kinds, known)
    baselines = {} if training is None else _baselines(training, test.questions)
    with native_silence(arguments.verbose):
        systems = {"model": _ask_model(export, arguments.sha256, test), **baselines}
    report = make_report(questions, systems, arguments.samples)
    if report["answers_without_perplexity"]:
        say(f"perplexity is without {report['answers_without_perplexity']:,} answers that the model's pieces cannot write")
    if arguments.fallback:
        report["fallback"] = _coverage(systems["model"], test, manifest.threshold)
    about = {"path": str(arguments.path), "data": [str(path) for path in arguments.data], "leaked": leaked}
    return {**about, **report}


def _training_pairs(arguments: argparse.Namespace, export: Path) -> Corpus | None:
    """What the model was trained on: as given, else as its run directory says; None where neither tells."""
    if arguments.train:
        missing = [path for path in arguments.train if not path.is_file()]
        if missing:
            raise UserError(f"{missing[0]}: no such file; check the path given with --train")
        return read_aloud(arguments.train, read_options(arguments))

    from chatbot.dataset.sources import read_sources

    run = RunDirectory(export.parent)
    try:
        if run.export != export or not run.exists:
            raise UserError("an export does not say what it was trained on")
        training = read_sources(run.read_config())
    except UserError as reason:
        say(f"without baselines and leak check: {reason}; give the training data with --train FILE")
        return None
    say(f"trained on {', '.join(map(str, training.encodings))}: {len(training.pairs):,} pairs")
    return training


def _without_leaks(test: Corpus, training: Corpus) -> tuple[Corpus, int]:
    """The questions that are not in the training data, and how many are and were left out."""
    from chatbot.evaluation.leaks import without_leaks

    unseen = without_leaks(test, training)
    leaked = len(test.pairs) - len(unseen.pairs)
    if not len(unseen.pairs):
        raise UserError(
            f"{', '.join(map(str, test.encodings))}: all {leaked:,} questions stand in the training data, so they would "
            "measure memory only; give others with --data"
        )
    say(f"leak check: {leaked:,} questions stand in the training data and are left out; {len(unseen.pairs):,} are asked")
    return unseen, leaked


def _baselines(training: Corpus, questions: Sequence[str]) -> dict[str, Answers]:
    from chatbot.evaluation.baselines import constant_answers, retrieval_answers

    baselines = {}
    try:
        baselines["retrieval"] = retrieval_answers(training.questions, training.answers, questions)
    except UserError as reason:
        say(f"without the retrieval baseline: {reason}")
    return {**baselines, "constant": constant_answers(training.answers, len(questions))}


def _coverage(model: Answers, test: Corpus, threshold: float | None) -> list[dict[str, Any]]:
    from chatbot.evaluation.coverage import coverage_rows

    is_right = [reply == answer for reply, answer in zip(model.replies, test.answers, strict=True)]
    return coverage_rows(model.confidences or [], is_right, threshold)


def _ask_model(export: Path, sha256: str | None, test: Corpus) -> Answers:
    from chatbot.evaluation.answers import model_answers
    from chatbot.responder import Responder

    def on_progress(done: int, total: int) -> None:
        if sys.stderr.isatty():
            print(f"\ranswered: {done:,}/{total:,}", end="\n" if done == total else "", file=sys.stderr, flush=True)

    return model_answers(Responder.load(export, sha256=sha256), test.questions, test.answers, on_progress)
