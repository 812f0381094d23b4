"""One pass over files of any size: what the doctor finds by looking at each row once, in little memory.

Of a row that is not in the sample nothing stays but a few numbers: fingerprints of its texts, its file and its line.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

import numpy as np

from chatbot.dataset.columns import RowFault
from chatbot.dataset.table import Row, read_alternating, read_rows
from chatbot.doctor.faults import cell_faults
from chatbot.doctor.sample import Sample
from chatbot.doctor.source import Source, UnreadableFile
from chatbot.errors import UserError
from chatbot.text.normalize import has_visible, normalize, question_key

_KEPT_SHARE = 1000
"""The text of an answer is kept once it stands on one in so many rows: every frequent one is, in bounded memory."""
_LONGEST_SHOWN_ANSWER = 200
_MOST_ANSWERS = 20
"""No more than 19 answers can each be on more than 5 % of the pairs."""


class Repeat(StrEnum):
    """A pair that stands there before."""

    EXACT = "exact_repeats"
    NEAR = "near_repeats"


class Pairs:
    """The distinct pairs, as numbers: fingerprints of question key, answer key and answer; file and line."""

    def __init__(self) -> None:
        self._columns = {name: array(kind) for name, kind in zip(_PAIR_COLUMNS, "QQQII", strict=True)}

    def add(self, *numbers: int) -> None:
        """Takes the numbers of a pair, in the order of the columns."""
        for column, number in zip(self._columns.values(), numbers, strict=True):
            column.append(number)

    def column(self, name: str) -> np.ndarray:
        """A column, [N]: `question_key`, `answer_key`, `answer` (uint64), `source`, `line` (uint32)."""
        column = self._columns[name]
        return np.array(column, dtype=column.typecode)

    def __len__(self) -> int:
        return len(self._columns["line"])


_PAIR_COLUMNS = ("question_key", "answer_key", "answer", "source", "line")

OnKept = Callable[[Source, Row], None]
"""Called with each row of a clean copy: pairs that are no repeats of any kind."""


class Scan:
    """What one pass over the sources shows; `sources` hold what belongs to one file.

    Attributes:
        sources: the files.
        pairs: the distinct pairs.
        sample: some of them with their texts.
        question_lengths: characters of a question -> number of pairs.
        answer_lengths: characters of an answer -> number of pairs.
        frequent_answers: the 20 answers on the most pairs: fingerprint, pairs, first 200 characters; ties by text.
        distinct_answers: their number.
    """

    def __init__(self, sources: Sequence[Source], sample: Sample) -> None:
        self.sources = list(sources)
        self.pairs = Pairs()
        self.sample = sample
        self.question_lengths: Counter[int] = Counter()
        self.answer_lengths: Counter[int] = Counter()
        self.frequent_answers: list[tuple[int, int, str]] = []
        self.distinct_answers = 0
        self._answer_counts: Counter[int] = Counter()
        self._answer_texts: dict[int, str] = {}
        self._seen: set[int] = set()
        self._seen_nearly: set[int] = set()

    def add(self, number: int, row: Row, question: str, answer: str) -> bool:
        """Takes a pair, normalised, of the source with this number; says whether it stands in a clean copy."""
        source = self.sources[number]
        answer_print = _fingerprint(answer)
        pair = hash((_fingerprint(question), answer_print))
        if pair in self._seen:
            source.note(Repeat.EXACT, row.line)
            return False
        self._seen.add(pair)
        keys = (_fingerprint(question_key(question)), _fingerprint(question_key(answer)))
        self.pairs.add(*keys, answer_print, number, row.line)
        self.sample.add(question, answer, number, row.line)
        self.question_lengths[len(question)] += 1
        self.answer_lengths[len(answer)] += 1
        self._answer_counts[answer_print] += 1
        if self._answer_counts[answer_print] * _KEPT_SHARE >= len(self.pairs):
            self._answer_texts[answer_print] = answer[:_LONGEST_SHOWN_ANSWER]
        if hash(keys) in self._seen_nearly:
            source.note(Repeat.NEAR, row.line)
            return False
        self._seen_nearly.add(hash(keys))
        return True

    def finish(self) -> None:
        """Sums up the answers, and lets go of what only more pairs would need: a fifth of a gigabyte for a million."""
        known = [(key, self._answer_counts[key], text) for key, text in self._answer_texts.items()]
        self.frequent_answers = sorted(known, key=lambda entry: (-entry[1], entry[2]))[:_MOST_ANSWERS]
        self.distinct_answers = len(self._answer_counts)
        for container in (self._answer_counts, self._answer_texts, self._seen, self._seen_nearly):
            container.clear()


def _fingerprint(text: str) -> int:
    """64 bits that stand for a text; that any two of a million agree by chance has odds of one to millions."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def scan(
    sources: Sequence[Source],
    sample: Sample | None = None,
    on_kept: OnKept = lambda source, row: None,
    on_progress: Callable[[int], None] = lambda rows: None,
) -> Scan:
    """Reads every row of the sources once.

    Args:
        sources: of `open_source`; they are filled.
        sample: keeps the texts of some pairs; None: 20,000 of them.
        on_kept: gets the rows that a clean copy consists of.
        on_progress: called now and then with the rows read.

    Raises:
        UnreadableFile: a file cannot be read to its end.
    """
    result, done = Scan(sources, Sample() if sample is None else sample), 0
    for number, source in enumerate(sources):
        try:
            for row in _rows(source):
                source.rows += 1
                done += 1
                if done % 10_000 == 0:
                    on_progress(done)
                fault = _look_at(source, row)
                if fault is not None:
                    source.note(fault, row.line)
                elif result.add(number, row, *_normal_texts(source, row)):
                    on_kept(source, row)
        except UserError as error:
            raise UnreadableFile(source.path, str(error)) from error
    result.finish()
    return result


def _rows(source: Source) -> Iterator[Row]:
    """The rows below the header."""
    if source.is_alternating:
        for question, answer, line in read_alternating(source.path, source.encoding, source.layout):
            yield Row(line, [question, answer])
        return
    rows = read_rows(source.path, source.encoding, source.layout)
    next(rows, None)
    yield from rows


def _normal_texts(source: Source, row: Row) -> tuple[str, str]:
    return normalize(source.columns.question_of(row)), normalize(source.columns.answer_of(row))


def _look_at(source: Source, row: Row) -> RowFault | None:
    """Returns why training leaves a row out, if it does; else notes what is wrong with its texts."""
    fault = source.columns.fault(row)
    if fault is not None:
        return fault
    question, answer = source.columns.question_of(row), source.columns.answer_of(row)
    if not has_visible(question):
        return RowFault.BLANK_QUESTION
    if not has_visible(answer):
        return RowFault.BLANK_ANSWER
    for cell_fault in dict.fromkeys((*cell_faults(question), *cell_faults(answer))):
        source.note(cell_fault, row.line)
    return None
