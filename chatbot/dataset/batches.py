"""Batches of similar lengths, in an order that (seed, epoch) decide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from chatbot.dataset.encode import EncodedPairs, decoder_input, decoder_target, pad

_POOL = 256
"""Batches that are sorted by length together. Of ten thousand pairs in batches of 64, 32 leave 30 % padding, 256 leave 12 %."""


class Batch(NamedTuple):
    """Arrays of a step, padded behind with 0.

    Attributes:
        question_ids: int32 [B, S].
        answer_ids: int32 [B, T], beginning with the start piece.
        target_ids: int32 [B, T], the piece behind each of `answer_ids`; 0 = nothing to learn.
        answer_numbers: int32 [B], which of the distinct answers it is.
    """

    question_ids: np.ndarray
    answer_ids: np.ndarray
    target_ids: np.ndarray
    answer_numbers: np.ndarray


class Batches:
    """Cuts encoded pairs into batches.

    Args:
        pairs: the data.
        batch_size: pairs in a batch; the last one of a pass may hold fewer.
        passes: how often an epoch goes over the data.
        seed: decides the order together with the epoch's number.
    """

    def __init__(self, pairs: EncodedPairs, batch_size: int, passes: int = 1, seed: int = 0) -> None:
        self.pairs = pairs
        self.batch_size = batch_size
        self.passes = passes
        self.seed = seed
        rows = zip(pairs.question_ids, pairs.answer_ids, strict=True)
        self._lengths = np.array([[len(answer), len(question)] for question, answer in rows])

    def __len__(self) -> int:
        """Batches in an epoch."""
        return self.passes * -(-len(self.pairs) // self.batch_size)

    def order(self, epoch: int) -> list[np.ndarray]:
        """The row numbers of each batch of an epoch; every row occurs once a pass."""
        generator = np.random.default_rng((self.seed, epoch))
        batches: list[np.ndarray] = []
        for _ in range(self.passes):
            of_pass: list[np.ndarray] = []
            shuffled = generator.permutation(len(self.pairs))
            for start in range(0, len(shuffled), _POOL * self.batch_size):
                pool = shuffled[start : start + _POOL * self.batch_size]
                answer, question = self._lengths[pool].T
                pool = pool[np.lexsort((question, answer))]
                of_pass += [pool[first : first + self.batch_size] for first in range(0, len(pool), self.batch_size)]
            batches += [of_pass[index] for index in generator.permutation(len(of_pass))]
        return batches

    def batch(self, rows: np.ndarray) -> Batch:
        """The arrays of some rows."""
        pairs = self.pairs
        return Batch(
            pad([pairs.question_ids[row] for row in rows]),
            pad([decoder_input(pairs.answer_ids[row]) for row in rows]),
            pad([decoder_target(pairs.answer_ids[row], bool(pairs.is_cut[row])) for row in rows]),
            pairs.answer_numbers[rows],
        )

    def epoch(self, epoch: int, skip: int = 0) -> Iterator[Batch]:
        """The batches of an epoch, without the first `skip`."""
        for rows in self.order(epoch)[skip:]:
            yield self.batch(rows)
