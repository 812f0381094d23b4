"""A clean copy of files: UTF-8, every cell normalised, without rows that training skips and without repeats."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from chatbot.dataset.columns import Columns
from chatbot.dataset.table import Row
from chatbot.doctor.scan import OnKept
from chatbot.doctor.source import Source
from chatbot.errors import UserError
from chatbot.storage import replace_file
from chatbot.text.normalize import normalize


def refuse_target(target: Path, inputs: Sequence[Path], overwrite: bool) -> None:
    """Makes sure that a copy may be written.

    Raises:
        UserError: `target` is one of the inputs, by whatever name, or a directory; or it exists and is not to be overwritten.
    """
    for path in inputs:
        if target.resolve() == path.resolve() or (target.exists() and path.exists() and target.samefile(path)):
            raise UserError(f"--fix {target}: is one of the files to check; originals stay as they are, name another file")
    if target.is_dir():
        raise UserError(f"--fix {target}: is a directory; name a file in it")
    if target.exists() and not overwrite:
        raise UserError(f"--fix {target}: exists; name another file, or add --overwrite")


@contextmanager
def clean_copy(target: Path, sources: Sequence[Source]) -> Iterator[OnKept]:
    """Gives a function that takes the rows to keep; the file is there when the block has ended well, or not at all.

    All columns are kept where the files have the same header; else question, answer and label, as `Q,A,label`.
    """
    headers = {tuple(source.columns.names) for source in sources}
    same = len(headers) == 1 and not any(source.is_alternating for source in sources)
    header = list(headers.pop()) if same else ["Q", "A", "label"]
    if not same and all(source.columns.label is None for source in sources):
        header.pop()
    with replace_file(target) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header)

        def keep(source: Source, row: Row) -> None:
            cells = row.cells if same else _three_cells(source.columns, row)
            cells = [normalize(cell) for cell in cells[: len(header)]]
            writer.writerow(cells + [""] * (len(header) - len(cells)))

        yield keep
        text.detach()


def _three_cells(columns: Columns, row: Row) -> list[str]:
    return [columns.question_of(row), columns.answer_of(row), columns.label_of(row)]
