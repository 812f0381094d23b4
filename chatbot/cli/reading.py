"""Data files on the command line: their flags, and what is said about them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chatbot.cli.console import say
from chatbot.cli.flags import Parser

if TYPE_CHECKING:
    from chatbot.dataset.corpus import Corpus, ReadOptions

_OPTIONS = ("format", "encoding", "question_column", "answer_column")
_MOST_SKIPPED = 10


def add_read_flags(parser: Parser) -> None:
    """Adds the flags that say how files are read."""
    parser.rare("--format", choices=("csv", "alternating"), default="csv", help="alternating: a question line, its answer line")
    parser.rare("--encoding", metavar="NAME", help="encoding of the files (default: found by their bytes)")
    parser.rare("--question-column", metavar="NAME", help="header of the column with the questions")
    parser.rare("--answer-column", metavar="NAME", help="header of the column with the answers")


def read_options(arguments: argparse.Namespace) -> ReadOptions:
    """What the flags of `add_read_flags` say."""
    from chatbot.dataset.corpus import ReadOptions

    return ReadOptions(**{name: getattr(arguments, name) for name in _OPTIONS})


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
    say(f"{len(corpus.pairs):,} pairs; {len(corpus.skipped):,} rows skipped, {corpus.repeats:,} exact repeats dropped")
    return corpus
