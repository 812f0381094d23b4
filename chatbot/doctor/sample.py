"""The rows of a large file that are looked at closely: a fair sample, and those that are very long."""

from __future__ import annotations

import random
from typing import NamedTuple

from chatbot.dataset.encode import LONGEST_ANSWER, LONGEST_QUESTION
from chatbot.text.pieces import LONGEST_RUN

SAMPLE_ROWS = 20_000
LONG_ROWS = 2_000
LONGEST_TEXT = max(LONGEST_QUESTION, LONGEST_ANSWER) * LONGEST_RUN
"""Characters; a piece is no longer than a run, so a text cut here is still seen to be too long."""


class SampledPair(NamedTuple):
    """A pair (normalised) and where it stands.

    Attributes:
        number: of the pair among all, from 0.
        question: its first `LONGEST_TEXT` characters.
        answer: its first `LONGEST_TEXT` characters.
        source: number of its file, from 0.
        line: of its file, from 1.
    """

    number: int
    question: str
    answer: str
    source: int
    line: int


def may_be_cut(question: str, answer: str) -> bool:
    """Whether a pair can be longer than the maximum lengths: each character a piece, and a mark before each word."""
    return len(question) >= LONGEST_QUESTION or len(answer) >= LONGEST_ANSWER


class Sample:
    """Keeps `size` of the pairs that come by, each with the same chance, and the first pairs that may be cut.

    The same pairs in the same order give the same sample.

    Args:
        size: pairs to keep; a corpus of no more is kept whole.
        longest: pairs that may be cut to keep, whether they are sampled or not.
    """

    def __init__(self, size: int = SAMPLE_ROWS, longest: int = LONG_ROWS) -> None:
        self.size = size
        self.longest = longest
        self.seen = 0
        self.seen_long = 0
        self._random = random.Random(0)
        self._kept: list[SampledPair] = []
        self._long: list[SampledPair] = []

    def add(self, question: str, answer: str, source: int, line: int) -> None:
        """Takes the next pair, normalised."""
        number, place = self.seen, self.seen
        self.seen += 1
        is_long = may_be_cut(question, answer)
        self.seen_long += is_long
        keep_long = is_long and len(self._long) < self.longest
        if number >= self.size:
            place = self._random.randrange(self.seen)
        if place >= self.size and not keep_long:
            return
        pair = SampledPair(number, question[:LONGEST_TEXT], answer[:LONGEST_TEXT], source, line)
        if place < len(self._kept):
            self._kept[place] = pair
        elif place < self.size:
            self._kept.append(pair)
        if keep_long:
            self._long.append(pair)

    @property
    def is_whole(self) -> bool:
        """Whether every pair is in the sample."""
        return self.seen <= self.size

    @property
    def pairs(self) -> list[SampledPair]:
        """The sample, in the order of the files."""
        return sorted(self._kept)

    @property
    def long_pairs(self) -> list[SampledPair]:
        """Pairs that may be cut and are not in the sample."""
        sampled = {pair.number for pair in self._kept}
        return [pair for pair in self._long if pair.number not in sampled]

    @property
    def has_all_long_pairs(self) -> bool:
        """Whether every pair that may be cut is in `pairs` or `long_pairs`."""
        return self.is_whole or self.seen_long <= self.longest
