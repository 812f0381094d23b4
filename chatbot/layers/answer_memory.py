"""The answers of the training data as places to remember, and to recall from."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="chatbot")
class AnswerMemory(keras.layers.Layer):
    """Tells which of the known answers a question wants, and recalls a vector of it.

    It is attention with one query, the question's summary, over one learnt key and value for each answer:
    weights = softmax(keys summary), recalled = weights values. In training the loss pulls the weights towards the
    right answer, and the decoder learns to write an answer out from what was recalled. Afterwards the likeliest answer
    is recalled alone: a mixture of several vectors is none that the decoder knows.

    Args:
        num_answers: N, distinct answers of the training data.

    Call arguments:
        summary: float [B, 1, D].
        training: whether to recall the mixture.

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

    def build(self, summary_shape: Any) -> None:
        """Makes a key and a value for each answer."""
        shape = (self.num_answers, summary_shape[-1])
        # Small keys: the first weights are even, and the loss starts at log(N). Values as large as an embedding.
        self.keys = self.add_weight(shape, keras.initializers.RandomNormal(stddev=0.02), name="keys")
        self.values = self.add_weight(shape, keras.initializers.RandomNormal(stddev=1.0), name="values")
        self.built = True

    def call(self, summary: Any, training: bool = False) -> tuple[Any, Any]:
        """See the class."""
        logits = ops.cast(ops.matmul(summary, ops.transpose(self.keys)), "float32")  # [B, 1, N]
        if training:
            weights = ops.cast(ops.softmax(logits, axis=-1), summary.dtype)
            return ops.matmul(weights, ops.cast(self.values, summary.dtype)), logits
        return ops.cast(ops.take(self.values, ops.argmax(logits, axis=-1), axis=0), summary.dtype), logits

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "num_answers": self.num_answers}
