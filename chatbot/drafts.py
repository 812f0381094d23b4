"""Known answers as drafts: what a model that recalls one of them is going to write, most of the time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from chatbot.dataset.encode import Ids, Morphemes, PairEncoder, decoder_target


class Drafts(NamedTuple):
    """Known answers in ids, one behind the other, numbered as the answer memory numbers them.

    Attributes:
        ids: int32 [sum of the lengths], the end pieces included.
        lengths: int32 [A].
    """

    ids: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(cls, targets: Sequence[Ids]) -> Drafts:
        """Those of some answers, each with its end piece; one without (the answer was cut) is never confirmed."""
        return cls(np.concatenate(targets).astype(np.int32), np.array([len(ids) for ids in targets], np.int32))

    def take(self, numbers: Any) -> Any:
        """Those with these numbers, int [B]: int32 [B, T], padded behind to the longest of them."""
        answers = tf.RaggedTensor.from_row_lengths(self.ids, self.lengths, validate=False)
        return tf.gather(answers, numbers).to_tensor()


def make_drafts(encoder: PairEncoder, answers: Morphemes, answer_numbers: np.ndarray) -> Drafts:
    """The answers of a corpus, each once.

    Args:
        answer_numbers: int [N], which of the known answers each of `answers` is, see `Corpus.answer_numbers`.
    """
    numbers, rows = np.unique(answer_numbers, return_index=True)
    known = encoder.encode([[]] * len(rows), [answers[row] for row in rows], numbers)
    return Drafts.of([decoder_target(ids, is_cut) for ids, is_cut in zip(known.answer_ids, known.is_cut, strict=True)])
