"""Files -> question and answer pairs, with every row that was left out named by line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from chatbot.dataset.columns import Columns, RowFault, find_columns
from chatbot.dataset.table import Encoding, Row, find_encoding, read_alternating, read_lines, read_rows
from chatbot.errors import UserError
from chatbot.text.normalize import has_visible, normalize, question_key

FORMATS = ("csv", "alternating")
"""Of questions and answers. There is a third one, "lines": plain text, each line an answer to nothing."""


@dataclass(frozen=True)
class ReadOptions:
    """How files are read. None stands for what the file itself shows."""

    format: str = "csv"
    encoding: str | None = None
    question_column: str | None = None
    answer_column: str | None = None


@dataclass(frozen=True)
class Skipped:
    """A row that was left out."""

    path: Path
    line: int
    reason: str


@dataclass(frozen=True)
class Corpus:
    """What was read.

    Attributes:
        pairs: a row a pair: question, answer (normalised), label ("" where there is none), path, line.
        skipped: rows left out, in order.
        repeats: pairs that stood there before, word for word, and were dropped.
        encodings: of each file, in order.
    """

    pairs: pd.DataFrame
    skipped: list[Skipped]
    repeats: int
    encodings: dict[Path, Encoding]

    @property
    def questions(self) -> list[str]:
        """The questions, in order."""
        return [str(question) for question in self.pairs["question"]]

    @property
    def answers(self) -> list[str]:
        """The answers, in order."""
        return [str(answer) for answer in self.pairs["answer"]]

    @property
    def answer_numbers(self) -> np.ndarray:
        """Which of the distinct answers each pair has, numbered as they first appear: int32 [N]."""
        numbers, _ = pd.factorize(self.pairs["answer"])
        return np.asarray(numbers, dtype=np.int32)

    def take(self, rows: np.ndarray) -> Corpus:
        """The part with these rows."""
        return Corpus(self.pairs.iloc[rows].reset_index(drop=True), [], 0, self.encodings)

    def digest(self) -> str:
        """SHA-256 over all pairs in order."""
        hasher = hashlib.sha256()
        for question, answer in zip(self.questions, self.answers, strict=True):
            hasher.update(f"{question}\n{answer}\n".encode())
        return hasher.hexdigest()


def read_corpus(paths: Sequence[Path], options: ReadOptions = ReadOptions()) -> Corpus:
    """Reads the pairs of one file or several, in order.

    Raises:
        UserError: a file cannot be read, its columns are not recognised, or no pair is left.
    """
    skipped: list[Skipped] = []
    encodings: dict[Path, Encoding] = {}
    columns: dict[str, list[object]] = {name: [] for name in ("question", "answer", "label", "path", "line")}
    for path in paths:
        encodings[path] = find_encoding(path, options.encoding)
        rows = _READERS[options.format](path, encodings[path], options, skipped)
        for pair in _clean(path, rows, skipped, has_questions=options.format != "lines"):
            for name, value in zip(columns, pair, strict=True):
                columns[name].append(value)
    frame = pd.DataFrame(columns)
    kept = frame.drop_duplicates(["question", "answer"], ignore_index=True)
    if kept.empty:
        reason = f"; the first row left out: line {skipped[0].line}: {skipped[0].reason}" if skipped else ""
        wanted = "line of text" if options.format == "lines" else "question and answer pair"
        raise UserError(f"{', '.join(map(str, paths))}: no {wanted} in it{reason}")
    return Corpus(kept, skipped, len(frame) - len(kept), encodings)


_Pair = tuple[str, str, str, Path, int]


def _clean(
    path: Path, rows: Iterable[tuple[str, str, str, int]], skipped: list[Skipped], has_questions: bool
) -> Iterator[_Pair]:
    """Normalises both cells and leaves out pairs that show nothing on one side."""
    for question, answer, label, line in rows:
        if has_questions and not has_visible(question):
            skipped.append(Skipped(path, line, "the question is blank"))
        elif not has_visible(answer):
            skipped.append(Skipped(path, line, "the answer is blank"))
        else:
            yield normalize(question), normalize(answer), normalize(label), path, line


def _read_csv(
    path: Path, encoding: Encoding, options: ReadOptions, skipped: list[Skipped]
) -> Iterator[tuple[str, str, str, int]]:
    rows = read_rows(path, encoding)
    columns = find_columns(path, next(rows, None), options.question_column, options.answer_column)
    for row in rows:
        fault = columns.fault(row)
        if fault is not None:
            skipped.append(Skipped(path, row.line, _reason(fault, row, columns)))
            continue
        yield columns.question_of(row), columns.answer_of(row), columns.label_of(row), row.line


def _reason(fault: RowFault, row: Row, columns: Columns) -> str:
    reason = f"{len(row.cells)} cells where the header has {len(columns.names)}"
    return reason + (": put a cell with a comma in quotes" if fault == RowFault.TOO_MANY_CELLS else "")


def _read_alternating(
    path: Path, encoding: Encoding, options: ReadOptions, skipped: list[Skipped]
) -> Iterator[tuple[str, str, str, int]]:
    for question, answer, line in read_alternating(path, encoding):
        yield question, answer, "", line


def _read_lines(
    path: Path, encoding: Encoding, options: ReadOptions, skipped: list[Skipped]
) -> Iterator[tuple[str, str, str, int]]:
    for text, line in read_lines(path, encoding):
        yield "", text, "", line


_READERS = {"csv": _read_csv, "alternating": _read_alternating, "lines": _read_lines}


def split_by_question(corpus: Corpus, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Splits the rows of a corpus so that no question (or line, where there are none) stands on both sides, however spelled.

    Args:
        share: of the distinct questions, that go to validation.
        seed: decides which.

    Returns:
        row numbers for training and for validation, ascending.
    """
    texts = (question or answer for question, answer in zip(corpus.questions, corpus.answers, strict=True))
    return split_keys(np.array([question_key(text) for text in texts], dtype=object), share, seed)


def split_keys(keys: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Splits rows by the keys of their questions, [N]: what `split_by_question` does, for those who hold the keys."""
    groups, group_of_row = np.unique(keys, return_inverse=True)
    held_out = np.random.default_rng(seed).permutation(len(groups))[: round(share * len(groups))]
    in_validation = np.isin(group_of_row, held_out)
    return np.flatnonzero(~in_validation), np.flatnonzero(in_validation)
