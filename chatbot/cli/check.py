"""`python -m chatbot check`: what is wrong with files, and what training would make of them."""

from __future__ import annotations

import argparse
import io
import json
import locale
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from chatbot.cli.console import EXIT_USER, fail, native_silence, say
from chatbot.cli.flags import Parser
from chatbot.cli.signals import StopSignals
from chatbot.config import TextSettings
from chatbot.dataset.corpus import FORMATS, ReadOptions
from chatbot.dataset.morphemes import cache_directory
from chatbot.dataset.table import Row
from chatbot.doctor.cleaning import clean_copy, refuse_target
from chatbot.doctor.diagnosis import Diagnosis, diagnose
from chatbot.doctor.scan import Scan, scan
from chatbot.doctor.source import Source, UnreadableFile, open_source
from chatbot.text.analyzer import ANALYZERS, make_analyzer

EXIT_FINDINGS = 1


def make_parser() -> Parser:
    """The flags of the command."""
    parser = Parser(
        prog="python -m chatbot check",
        description="Tell what is wrong with files of questions and answers, and what training would make of them. "
        "Exit code 0: nothing; 1: warnings or errors; 2: a file cannot be read.",
    )
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="CSV file, or a .gz or .zip of one; several are one corpus"
    )
    parser.add_argument("--lang", choices=("ko", "en"), help="language of the findings (default: the locale's)")
    parser.add_argument("--json", action="store_true", help="write JSON, with the findings in both languages")
    parser.add_argument("--fix", type=Path, metavar="OUT.csv", help="write one cleaned UTF-8 copy of all files")
    parser.add_argument("--overwrite", action="store_true", help="let --fix replace an existing file, never one of FILE")
    parser.add_argument("--encoding", metavar="NAME", help="encoding of the files (default: found by their bytes)")
    parser.add_argument("--question-column", metavar="NAME", help="header of the column with the questions")
    parser.add_argument("--answer-column", metavar="NAME", help="header of the column with the answers")
    parser.add_argument("--format", choices=FORMATS, default="csv", help="alternating: a question line, its answer line")
    default = TextSettings().analyzer
    parser.add_argument("--analyzer", choices=ANALYZERS, default=default, help=f"splits into words (default: {default})")
    parser.add_argument("--verbose", action="store_true", help="show what Java writes, and tracebacks")
    return parser


def main(argv: Sequence[str]) -> int:
    """Runs the command and returns its exit code."""
    arguments = make_parser().parse(argv)
    if arguments.fix is not None:
        refuse_target(arguments.fix, arguments.files, arguments.overwrite)
    with StopSignals():
        diagnosis = _diagnose(arguments)
        _write(diagnosis, arguments)
    for error in diagnosis.unreadable:
        fail(str(error))
    if diagnosis.unreadable:
        return EXIT_USER
    return EXIT_FINDINGS if diagnosis.has_findings else 0


def _diagnose(arguments: argparse.Namespace) -> Diagnosis:
    names = ("format", "encoding", "question_column", "answer_column")
    options = ReadOptions(**{name: getattr(arguments, name) for name in names})
    result, unreadable = _scan(arguments.files, options, arguments.fix)
    with native_silence(arguments.verbose):
        return diagnose(result, unreadable, lambda: make_analyzer(arguments.analyzer), cache_directory(), _texts_progress)


def _scan(paths: Sequence[Path], options: ReadOptions, target: Path | None) -> tuple[Scan, list[UnreadableFile]]:
    """Scans the files that can be read, and writes the clean copy if that is all of them."""
    remaining, unreadable = list(paths), []
    while True:
        sources: list[Source] = []
        for path in list(remaining):
            try:
                sources.append(open_source(path, options))
            except UnreadableFile as error:
                unreadable.append(error)
                remaining.remove(path)
        try:
            if target is None or unreadable:
                result = scan(sources, on_progress=_rows_progress)
                if target is not None:
                    say(f"{target}: not written, since a file cannot be read")
            else:
                result = _scan_and_copy(sources, target)
            return result, unreadable
        except UnreadableFile as error:  # it turned out in the middle of it: once more without
            unreadable.append(error)
            remaining.remove(error.path)


def _scan_and_copy(sources: Sequence[Source], target: Path) -> Scan:
    with clean_copy(target, sources) as keep:
        kept = 0

        def count(source: Source, row: Row) -> None:
            nonlocal kept
            kept += 1
            keep(source, row)

        result = scan(sources, on_kept=count, on_progress=_rows_progress)
    rows = sum(source.rows for source in sources)
    say(f"cleaned copy: {target} ({kept:,} of {rows:,} rows; the others are skipped ones and repeats)")
    return result


def _rows_progress(rows: int) -> None:
    if sys.stderr.isatty():
        print(f"\rrows: {rows:,}\r", end="", file=sys.stderr, flush=True)


def _texts_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\rmorphemes: {done:,}/{total:,}", end="\n" if done == total else "", file=sys.stderr, flush=True)


def _write(diagnosis: Diagnosis, arguments: argparse.Namespace) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that has no Hangul is no reason to fail
    if arguments.json:
        print(json.dumps(diagnosis.to_dict(), ensure_ascii=not _is_unicode(sys.stdout.encoding), indent=2))
        return
    from chatbot.cli.check_report import Report

    Report(arguments.lang or _locale_language()).print(diagnosis)


def _is_unicode(encoding: str | None) -> bool:
    return (encoding or "").lower().startswith("utf")


def _locale_language() -> str:
    """ko where messages are to be in Korean, else en."""
    named = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), None)
    return "ko" if (named or locale.getlocale()[0] or "").lower().startswith("ko") else "en"
