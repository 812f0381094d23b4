"""Files -> question and answer pairs, with every row that was left out named by line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from chatbot.dataset.table import Encoding, Row, find_encoding, open_text, read_rows
from chatbot.errors import UserError
from chatbot.text.normalize import has_visible, normalize, question_key

FORMATS = ("csv", "alternating")
QUESTION_COLUMNS = ("q", "question", "질문", "문의", "물음")
ANSWER_COLUMNS = ("a", "answer", "답변", "답", "대답", "응답")
LABEL_COLUMNS = ("kind", "label")
"""What results are split by; the first that a file has."""


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
        read = _read_csv if options.format == "csv" else _read_alternating
        for pair in _clean(path, read(path, encodings[path], options, skipped), skipped):
            for name, value in zip(columns, pair, strict=True):
                columns[name].append(value)
    frame = pd.DataFrame(columns)
    kept = frame.drop_duplicates(["question", "answer"], ignore_index=True)
    if kept.empty:
        reason = f"; the first row left out: line {skipped[0].line}: {skipped[0].reason}" if skipped else ""
        raise UserError(f"{', '.join(map(str, paths))}: no question and answer pair in it{reason}")
    return Corpus(kept, skipped, len(frame) - len(kept), encodings)


_Pair = tuple[str, str, str, Path, int]


def _clean(path: Path, rows: Iterable[tuple[str, str, str, int]], skipped: list[Skipped]) -> Iterator[_Pair]:
    """Normalises both cells and leaves out pairs that show nothing on one side."""
    for question, answer, label, line in rows:
        if not has_visible(question):
            skipped.append(Skipped(path, line, "the question is blank"))
        elif not has_visible(answer):
            skipped.append(Skipped(path, line, "the answer is blank"))
        else:
            yield normalize(question), normalize(answer), normalize(label), path, line


def _read_csv(
    path: Path, encoding: Encoding, options: ReadOptions, skipped: list[Skipped]
) -> Iterator[tuple[str, str, str, int]]:
    rows = read_rows(path, encoding)
    header = next(rows, None)
    if header is None:
        raise UserError(f"{path}: the file is empty; it needs a header line such as Q,A and rows below")
    names = [normalize(cell) for cell in header.cells]
    question = _find_column(path, names, options.question_column, QUESTION_COLUMNS, "question")
    answer = _find_column(path, names, options.answer_column, ANSWER_COLUMNS, "answer")
    folded = [name.casefold() for name in names]
    label = next((folded.index(name) for name in LABEL_COLUMNS if name in folded), None)
    for row in rows:
        reason = _shape_fault(row, len(names), max(question, answer))
        if reason:
            skipped.append(Skipped(path, row.line, reason))
            continue
        has_label = label is not None and label < len(row.cells)
        yield row.cells[question], row.cells[answer], row.cells[label] if has_label and label is not None else "", row.line


def _shape_fault(row: Row, width: int, last_needed: int) -> str | None:
    """Why the cells of a row cannot be told apart, None if they can. Nothing is ever shifted."""
    if any(cell.strip() for cell in row.cells[width:]):
        return f"{len(row.cells)} cells where the header has {width}: put a cell with a comma in quotes"
    if len(row.cells) <= last_needed:
        return f"{len(row.cells)} cells where the header has {width}"
    return None


def _find_column(path: Path, names: list[str], given: str | None, usual: tuple[str, ...], what: str) -> int:
    wanted = (normalize(given).casefold(),) if given is not None else usual
    found = next((index for name in wanted for index, cell in enumerate(names) if cell.casefold() == name), None)
    if found is None:
        columns = ", ".join(repr(name) for name in names[:20]) + (", ..." if len(names) > 20 else "")
        raise UserError(f"{path}: no {what} column among {columns}; name it with --{what}-column")
    return found


def _read_alternating(
    path: Path, encoding: Encoding, options: ReadOptions, skipped: list[Skipped]
) -> Iterator[tuple[str, str, str, int]]:
    """Odd lines are questions, even lines answers."""
    with open_text(path, encoding) as file:
        lines = [line.rstrip("\r\n") for line in file]
    while lines and not has_visible(lines[-1]):
        lines.pop()
    if len(lines) % 2:
        raise UserError(f"{path}: {len(lines)} lines; questions on odd and answers on even lines make an even number")
    for index in range(0, len(lines), 2):
        yield lines[index], lines[index + 1], "", index + 1


def split_by_question(corpus: Corpus, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Splits the rows of a corpus so that no question stands on both sides, however it is spelled.

    Args:
        share: of the distinct questions, that go to validation.
        seed: decides which.

    Returns:
        row numbers for training and for validation, ascending.
    """
    keys = np.array([question_key(question) for question in corpus.questions], dtype=object)
    groups, group_of_row = np.unique(keys, return_inverse=True)
    held_out = np.random.default_rng(seed).permutation(len(groups))[: round(share * len(groups))]
    in_validation = np.isin(group_of_row, held_out)
    return np.flatnonzero(~in_validation), np.flatnonzero(in_validation)
