"""Data files on the command line: their flags, and what is said about them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chatbot.cli.console import say
from chatbot.cli.flags import Parser
from chatbot.errors import UserError

if TYPE_CHECKING:
    from chatbot.dataset.corpus import Corpus, ReadOptions

_OPTIONS = ("format", "encoding", "question_column", "answer_column")
_MOST_SKIPPED = 10


def add_read_flags(parser: Parser) -> None:
    """Adds the flags that say how files are read."""
    parser.rare("--format", choices=("csv", "alternating"), help="alternating: a question line, its answer line (default: csv)")
    parser.rare("--encoding", metavar="NAME", help="encoding of the files (default: found by their bytes)")
    parser.rare("--question-column", metavar="NAME", help="header of the column with the questions")
    parser.rare("--answer-column", metavar="NAME", help="header of the column with the answers")


def read_options(arguments: argparse.Namespace, task: str = "chat") -> ReadOptions:
    """What the flags of `add_read_flags` say; a language model reads plain lines.

    Raises:
        UserError: flags for questions and answers are given for plain lines.
    """
    from chatbot.dataset.corpus import ReadOptions

    given = {name: getattr(arguments, name) for name in _OPTIONS if getattr(arguments, name) is not None}
    if task == "language-model":
        of_pairs = sorted(given.keys() - {"encoding"})
        if of_pairs:
            flag = of_pairs[0].replace("_", "-")
            raise UserError(f"--{flag} is for questions and answers; a language model reads plain lines, so leave it out")
        given["format"] = "lines"
    return ReadOptions(**given)


def read_aloud(paths: Sequence[Path], options: ReadOptions) -> Corpus:
    """Reads files, and says their encodings, the rows that were left out, and what is there.

    Raises:
        UserError: as `read_corpus`.
    """
    from chatbot.dataset.corpus import read_corpus

    corpus = read_corpus(paths, options)
    for path, encoding in corpus.encodings.items():
        say(f"{path}: {encoding.name} ({encoding.how})")
    for skipped in corpus.skipped[:_MOST_SKIPPED]:
        say(f"{skipped.path}:{skipped.line}: skipped: {skipped.reason}")
    if len(corpus.skipped) > _MOST_SKIPPED:
        say(f"... and {len(corpus.skipped) - _MOST_SKIPPED} more rows skipped")
    unit = "lines" if options.format == "lines" else "pairs"
    say(f"{len(corpus.pairs):,} {unit}; {len(corpus.skipped):,} rows skipped, {corpus.repeats:,} exact repeats dropped")
    return corpus
