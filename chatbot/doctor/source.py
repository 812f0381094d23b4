"""A file under the doctor's eye: how it is read, and what is noted about its rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from chatbot.dataset.columns import Columns, RowFault, find_columns
from chatbot.dataset.corpus import ReadOptions
from chatbot.dataset.table import Encoding, Layout, find_encoding, read_rows
from chatbot.errors import UserError

SHOWN_LINES = 20
"""Line numbers that are kept of each finding."""


class UnreadableFile(UserError):
    """A file, among several, that cannot be read.

    Args:
        path: of the file.
        message: what, where, what to do.
    """

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path


@dataclass
class Tally:
    """Rows that have something in common: their number and the first lines."""

    count: int = 0
    lines: list[int] = field(default_factory=list)

    def add(self, line: int) -> None:
        """Counts a row."""
        self.count += 1
        if len(self.lines) < SHOWN_LINES:
            self.lines.append(line)


@dataclass
class Source:
    """A file and what is found in it.

    Attributes:
        path: of the file.
        encoding: and how it was found.
        columns: of its header; two without a name for alternating lines.
        is_alternating: whether questions and answers stand on lines of their own.
        layout: delimiter and line ends.
        rows: below the header, blank ones not counted.
        tallies: by fault.
    """

    path: Path
    encoding: Encoding
    columns: Columns
    is_alternating: bool = False
    layout: Layout = field(default_factory=Layout)
    rows: int = 0
    tallies: dict[StrEnum, Tally] = field(default_factory=dict)

    @property
    def skipped(self) -> int:
        """Rows that training leaves out."""
        return sum(self.tallies[fault].count for fault in RowFault if fault in self.tallies)

    def note(self, fault: StrEnum, line: int) -> None:
        """Counts a row with a fault."""
        self.tallies.setdefault(fault, Tally()).add(line)


def open_source(path: Path, options: ReadOptions) -> Source:
    """Finds encoding and columns of a file.

    Raises:
        UnreadableFile: it cannot be read, or has no column of that name.
    """
    try:
        encoding = find_encoding(path, options.encoding)
        if options.format == "alternating":
            return Source(path, encoding, Columns(["", ""], 0, 1, None), is_alternating=True)
        header = next(read_rows(path, encoding), None)
        return Source(path, encoding, find_columns(path, header, options.question_column, options.answer_column))
    except UserError as error:
        raise UnreadableFile(path, str(error)) from error
