"""Known answers as drafts: what a model that recalls one of them is going to write, most of the time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf


class Drafts(NamedTuple):
    """Known answers in ids, one behind the other, numbered as the answer memory numbers them.

    Attributes:
        ids: int32 [sum of the lengths], the end pieces included.
        lengths: int32 [A].
    """

    ids: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(cls, answers: Sequence[np.ndarray]) -> Drafts:
        """Those of some answers, each with its end piece; without one (the answer was cut) it is never confirmed."""
        return cls(np.concatenate(answers).astype(np.int32), np.array([len(ids) for ids in answers], np.int32))

    def take(self, numbers: Any) -> Any:
        """Those with these numbers, int [B]: int32 [B, T], padded behind to the longest of them."""
        answers = tf.RaggedTensor.from_row_lengths(self.ids, self.lengths, validate=False)
        return tf.gather(answers, numbers).to_tensor()
