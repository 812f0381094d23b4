"""Greedy replies of a model in training, through compiled steps of one fixed shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from chatbot.answering import answer
from chatbot.dataset.encode import Ids, pad
from chatbot.drafts import Drafts
from chatbot.text.pieces import rejoin
from chatbot.text.vocabulary import Vocabulary
from chatbot.transformer.base import Transformer

_BATCH = 128


class Said(NamedTuple):
    """A reply as text, and how sure the model is of it, see `answering.Answered`."""

    text: str
    confidence: float


class Replier:
    """Answers encoded questions, or continues lines, with the weights that the model has at that moment.

    Args: see `export.Serving`.
    """

    def __init__(
        self, model: Transformer, task: str, vocabulary: Vocabulary, max_answer_length: int, drafts: Drafts | None
    ) -> None:
        self.vocabulary = vocabulary
        length = max_answer_length + 1  # the end piece

        @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
        def decode(question_ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            found = answer(model, task, question_ids, length, drafts)
            return found.ids, found.confidence

        self._decode = decode

    def replies(self, question_ids: Sequence[Ids], before_batch: Callable[[], None] = lambda: None) -> list[Said]:
        """The reply to each question; `before_batch` may raise to leave early."""
        said: list[Said] = []
        for start in range(0, len(question_ids), _BATCH):
            before_batch()
            ids, confidences = self._decode(tf.constant(pad(question_ids[start : start + _BATCH])))
            texts = [rejoin(map(self.vocabulary.surface, np.trim_zeros(row, "b"))) for row in ids.numpy()]
            said += map(Said, texts, confidences.numpy().tolist())
        return said
