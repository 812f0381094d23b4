"""The header of a CSV file: which column holds what, and which rows do not fit it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from chatbot.dataset.table import Row
from chatbot.errors import UserError
from chatbot.text.normalize import normalize

QUESTION_COLUMNS = ("q", "question", "질문", "문의", "물음")
ANSWER_COLUMNS = ("a", "answer", "답변", "답", "대답", "응답")
LABEL_COLUMNS = ("kind", "label")
"""What results are split by; the first that a file has."""


class RowFault(StrEnum):
    """Why a row is left out."""

    TOO_MANY_CELLS = "too_many_cells"
    TOO_FEW_CELLS = "too_few_cells"
    BLANK_QUESTION = "blank_question"
    BLANK_ANSWER = "blank_answer"


@dataclass(frozen=True)
class Columns:
    """The columns of a file.

    Attributes:
        names: of all columns, normalised, in order.
        question: index of the column with the questions.
        answer: index of the column with the answers.
        label: index of the column with topics or the like, None where there is none.
    """

    names: list[str]
    question: int
    answer: int
    label: int | None

    def fault(self, row: Row) -> RowFault | None:
        """Why the cells of a row cannot be told apart, None if they can. Nothing is ever shifted."""
        if any(cell.strip() for cell in row.cells[len(self.names) :]):
            return RowFault.TOO_MANY_CELLS
        if len(row.cells) <= max(self.question, self.answer):
            return RowFault.TOO_FEW_CELLS
        return None

    def question_of(self, row: Row) -> str:
        """The question in a row without fault, as it is written."""
        return row.cells[self.question]

    def answer_of(self, row: Row) -> str:
        """The answer in a row without fault, as it is written."""
        return row.cells[self.answer]

    def label_of(self, row: Row) -> str:
        """The label in a row, "" where there is none."""
        return row.cells[self.label] if self.label is not None and self.label < len(row.cells) else ""


def find_columns(path: Path, header: Row | None, question_column: str | None, answer_column: str | None) -> Columns:
    """Finds the columns by their usual names, or by the names given.

    Args:
        path: named in messages.
        header: the first row, None where the file has none.
        question_column: name of the column with the questions, None: one of the usual ones.
        answer_column: name of the column with the answers, None: one of the usual ones.

    Raises:
        UserError: there is no header, or a column is not in it; the message lists those that are.
    """
    if header is None:
        raise UserError(f"{path}: the file is empty; it needs a header line such as Q,A and rows below")
    names = [normalize(cell) for cell in header.cells]
    question = _find_column(path, names, question_column, QUESTION_COLUMNS, "question")
    answer = _find_column(path, names, answer_column, ANSWER_COLUMNS, "answer")
    folded = [name.casefold() for name in names]
    label = next((folded.index(name) for name in LABEL_COLUMNS if name in folded), None)
    return Columns(names, question, answer, label)


def _find_column(path: Path, names: list[str], given: str | None, usual: tuple[str, ...], what: str) -> int:
    wanted = (normalize(given).casefold(),) if given is not None else usual
    found = next((index for name in wanted for index, cell in enumerate(names) if cell.casefold() == name), None)
    if found is None:
        shown = [repr(name if len(name) <= 40 else f"{name[:40]}...") for name in names[:20]]
        columns = ", ".join([*shown, *(["..."] if len(names) > 20 else [])])
        raise UserError(f"{path}: no {what} column among {columns}; name it with --{what}-column")
    return found
