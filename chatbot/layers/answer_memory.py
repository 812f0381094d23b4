"""The answers of the training data as places to remember, and to recall from."""

from __future__ import annotations

import math
from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="chatbot")
class AnswerMemory(keras.layers.Layer):
    """Tells which of the known answers a question wants, and recalls a vector of it.

    It is attention with one query, the question as one vector, over one learnt key and value for each answer:
    weights = softmax(keys question), recalled = weights values. In training the loss pulls the weights towards the
    right answer, while the right answer's value is recalled whatever they say, so that the decoder learns from the first
    step on to write an answer out from its value. Afterwards the likeliest answer is recalled alone: a mixture of
    several values is none that the decoder knows.

    Args:
        num_answers: N, distinct answers of the training data.

    Call arguments:
        question: float [B, 1, D].
        answer_numbers: int [B], which answers to recall; None: the likeliest.

    Returns:
        recalled float [B, 1, D]; logits float32 [B, 1, N].

    Raises:
        ValueError: `num_answers` is not positive.

    Source: after Sukhbaatar et al. 2015, end-to-end memory networks (https://arxiv.org/abs/1503.08895).
    """

    def __init__(self, num_answers: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if num_answers < 1:
            raise ValueError(f"AnswerMemory: num_answers must be at least 1; received {num_answers}")
        self.num_answers = num_answers

    def build(self, question_shape: Any) -> None:
        """Makes a key and a value for each answer."""
        shape = (self.num_answers, question_shape[-1])
        # Small keys: the first weights are even, and the loss starts at log(N).
        self.keys = self.add_weight(shape, keras.initializers.RandomNormal(stddev=0.02), name="keys")
        # Values become as large as an embedding, and by a factor, as in `TokenEmbedding`: a step of the optimizer, which is
        # as large for small weights as for large ones, then moves them far enough in the few steps that each one gets.
        self.value_scale = math.sqrt(question_shape[-1])
        initializer = keras.initializers.RandomNormal(stddev=1 / self.value_scale)
        self.values = self.add_weight(shape, initializer, name="values")
        self.built = True

    def call(self, question: Any, answer_numbers: Any = None) -> tuple[Any, Any]:
        """See the class."""
        logits = ops.cast(ops.matmul(question, ops.transpose(self.keys)), "float32")  # [B, 1, N]
        numbers = ops.argmax(logits, axis=-1) if answer_numbers is None else answer_numbers[:, None]  # [B, 1]
        recalled = ops.take(self.values, numbers, axis=0) * self.value_scale  # [B, 1, D]
        return ops.cast(recalled, question.dtype), logits

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "num_answers": self.num_answers}
