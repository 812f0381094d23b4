"""Bytes of a CSV file -> rows with line numbers: compression, encoding, delimiter, quotes."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from chatbot.errors import UserError
from chatbot.text.normalize import has_visible

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_DELIMITERS = (",", ";", "\t")
_BLOCK = 1 << 20
_LONGEST_CELL = 1 << 24
_MOST_LINES = 200
"""A row over more lines than this comes from a quote that is never closed."""
_LONE_ENDS = {"\n": "LF", "\r": "CR"}


@dataclass(frozen=True)
class Encoding:
    """The encoding of a file and how it was found."""

    name: str
    how: str


@dataclass(frozen=True)
class Row:
    """The cells of a row and the line of the file it starts on, counted from 1."""

    line: int
    cells: list[str]


@dataclass
class Layout:
    """What reading a file shows of its form; `read_rows` fills it as it goes.

    Attributes:
        delimiter: between cells.
        line_ends: rows by how they end: CRLF, LF or CR; line breaks inside cells do not count, nor a last line without one.
        blank_rows: rows without anything in them, the header's aside, that were passed over.
    """

    delimiter: str = ","
    line_ends: Counter[str] = field(default_factory=Counter)
    blank_rows: int = 0


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file, or what a .gz or a .zip of one file holds.

    Raises:
        UserError: there is no such file, it may not be read, or the archive is damaged or holds several files.
    """
    try:
        with path.open("rb") as file:
            yield io.BytesIO(_unpack(path, file)) if path.suffix.lower() in (".gz", ".zip") else file
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; check the path") from None
    except IsADirectoryError:
        raise UserError(f"{path}: is a directory; give a CSV file") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error}); check its permissions") from error


def _unpack(path: Path, file: IO[bytes]) -> bytes:
    try:
        if path.suffix.lower() == ".gz":
            with gzip.open(file) as packed:
                return packed.read()
        with zipfile.ZipFile(file) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            if len(names) == 1:
                return archive.read(names[0])
    except Exception as error:  # the libraries raise a dozen types for archives that are torn, encrypted or of no known kind
        raise UserError(f"{path}: the archive is damaged ({error}); pack it again, without a password") from error
    raise UserError(f"{path}: the archive must hold one file, it holds {len(names)}")


def find_encoding(path: Path, given: str | None = None) -> Encoding:
    """Finds the encoding of a file: as given, else by its byte order mark, else UTF-8, else CP949 (Korean Excel).

    The whole file is decoded once, so that a bad byte is named here and not in the middle of a training.

    Raises:
        UserError: the file is not in that encoding; the message names the first bad byte.
    """
    if given is not None:
        try:
            io.TextIOWrapper(io.BytesIO(), encoding=given)
            codecs.getincrementaldecoder(given)
        except (LookupError, UnicodeError):  # codecs that turn bytes into bytes are no text encodings
            raise UserError(f"--encoding {given}: no such encoding; for example utf-8 or cp949") from None
        bad = _first_bad_byte(path, given)
        if bad is not None:
            raise UserError(f"{path}: not {given}: byte {bad} cannot be decoded; give another --encoding")
        return Encoding(given, "given")
    with open_bytes(path) as file:
        head = file.read(4)
    for mark, name in _BOMS:
        if head.startswith(mark):
            bad = _first_bad_byte(path, name)
            if bad is not None:
                raise UserError(f"{path}: starts with the mark of {name}, but byte {bad} is not; name its --encoding")
            return Encoding(name, "byte order mark")
    bad_utf8 = _first_bad_byte(path, "utf-8")
    if bad_utf8 is None:
        return Encoding("utf-8", "valid UTF-8")
    bad_cp949 = _first_bad_byte(path, "cp949")
    if bad_cp949 is None:
        return Encoding("cp949", f"not UTF-8 (byte {bad_utf8}), valid CP949")
    raise UserError(f"{path}: neither UTF-8 (byte {bad_utf8}) nor CP949 (byte {bad_cp949}) can be decoded; name its --encoding")


def _first_bad_byte(path: Path, encoding: str) -> int | None:
    """The offset of the first byte that does not decode, None if all do."""
    decoder = codecs.getincrementaldecoder(encoding)()
    offset = 0
    with open_bytes(path) as file:
        while True:
            block = file.read(_BLOCK)
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                return offset - pending + error.start
            except UnicodeError:  # UTF-16 without its mark
                return offset
            if not block:
                return None
            offset += len(block)


@contextmanager
def open_text(path: Path, encoding: Encoding) -> Iterator[io.TextIOWrapper]:
    """Opens a file as text, line ends untouched."""
    with open_bytes(path) as file:
        yield io.TextIOWrapper(file, encoding=encoding.name, newline="")


def find_delimiter(header: str) -> str:
    """The delimiter that splits the header line into the most cells; a comma if none does."""
    return max(_DELIMITERS, key=lambda delimiter: (len(next(csv.reader([header], delimiter=delimiter), [])), delimiter == ","))


def read_rows(path: Path, encoding: Encoding, layout: Layout | None = None) -> Iterator[Row]:
    """Yields the rows of a CSV file, the header first; blank lines are left out.

    Args:
        path: of the file.
        encoding: as `find_encoding` found it.
        layout: is filled with what the reading shows.

    Raises:
        UserError: a quote is never closed, or a cell is larger than 16 MiB.
    """
    csv.field_size_limit(_LONGEST_CELL)
    layout = Layout() if layout is None else layout
    with open_text(path, encoding) as file:
        header = file.readline()
        while header and not header.strip():
            header = file.readline()
        try:
            layout.delimiter = find_delimiter(header.lstrip("\ufeff"))
        except csv.Error as error:
            raise UserError(f"{path}: its header is not readable as CSV ({error})") from error
    with open_text(path, encoding) as file:
        lines = _Lines(file)
        reader = csv.reader(lines, delimiter=layout.delimiter)
        last = 0
        while True:
            try:
                cells = next(reader, None)
            except csv.Error as error:
                raise UserError(f"{path}:{last + 1}: not readable as CSV ({error}); is a quote never closed?") from error
            if cells is None:
                return
            line, last = last + 1, reader.line_num
            if last - line >= _MOST_LINES:
                raise UserError(
                    f"{path}:{line}: a row of {last - line + 1} lines; is a quote never closed? Close it or double it"
                )
            if lines.end:
                layout.line_ends[lines.end] += 1
            if any(cell.strip() for cell in cells):
                yield Row(line, cells)
            else:
                layout.blank_rows += 1


class _Lines:
    """The lines of a file, without a byte order mark that an encoding given by name leaves in front.

    Attributes:
        end: of the line read last: CRLF, LF, CR, or "" where the file ends without one.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._is_first = True
        self.end = ""

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        if self._is_first:
            self._is_first = False
            line = line.removeprefix("\ufeff")
        self.end = "CRLF" if line.endswith("\r\n") else _LONE_ENDS.get(line[-1:], "")
        return line


def read_lines(path: Path, encoding: Encoding) -> Iterator[tuple[str, int]]:
    """Yields the lines of a plain text file that show something, each with its number."""
    with open_text(path, encoding) as file:
        for number, line in enumerate(_Lines(file), 1):
            if has_visible(line):
                yield line, number


def read_alternating(path: Path, encoding: Encoding, layout: Layout | None = None) -> Iterator[tuple[str, str, int]]:
    """Yields question, answer and the question's line from a file with questions on odd and answers on even lines.

    Raises:
        UserError: blank lines at the end aside, the number of lines is odd.
    """
    with open_text(path, encoding) as file:
        ending = _Lines(file)
        lines = []
        for line in ending:
            lines.append(line.rstrip("\r\n"))
            if layout is not None and ending.end:
                layout.line_ends[ending.end] += 1
    while lines and not has_visible(lines[-1]):
        lines.pop()
    if len(lines) % 2:
        raise UserError(f"{path}: {len(lines)} lines; questions on odd and answers on even lines make an even number")
    for index in range(0, len(lines), 2):
        yield lines[index], lines[index + 1], index + 1
