"""Ids to vectors, and vectors to logits, through one table."""

from __future__ import annotations

import math
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from chatbot.layers.masks import PADDING_ID


@keras.saving.register_keras_serializable(package="chatbot")
class TokenEmbedding(keras.layers.Layer):
    """A vector for each id; and, in reverse, a logit for each id through the same table.

    Vectors have unit variance at first: the table is initialised normal with standard deviation D^-0.5 and its rows
    are scaled by sqrt(D), so that the first logits are small; or with standard deviation 1 and not scaled.

    Args:
        vocabulary_size: V.
        hidden_dim: D.
        scale: whether vectors are multiplied by sqrt(D), as in the paper (section 3.4) and system B; A and C do not.
        zero_padding: whether the padding id becomes a vector of zeros, as in system B.

    Call arguments:
        inputs: int [B, L]; in reverse float [..., D].
        reverse: whether to turn vectors into logits.

    Returns:
        float [B, L, D]; in reverse float32 [..., V].

    Raises:
        ValueError: a size is not positive.

    Source: Press and Wolf 2016 (https://arxiv.org/abs/1608.05859); Vaswani et al. 2017, section 3.4.
    """

    def __init__(
        self, vocabulary_size: int, hidden_dim: int, scale: bool = True, zero_padding: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        for name, value in (("vocabulary_size", vocabulary_size), ("hidden_dim", hidden_dim)):
            if value < 1:
                raise ValueError(f"TokenEmbedding: {name} must be at least 1; received {value}")
        self.vocabulary_size = vocabulary_size
        self.hidden_dim = hidden_dim
        self.scale = scale
        self.zero_padding = zero_padding
        self.table = keras.layers.Embedding(
            vocabulary_size,
            hidden_dim,
            embeddings_initializer=keras.initializers.RandomNormal(stddev=hidden_dim**-0.5 if scale else 1.0),
            name="table",
            dtype=self.dtype_policy,
        )

    def build(self, input_shape: Any) -> None:
        """Makes the table."""
        self.table.build()
        self.built = True

    def call(self, inputs: Any, reverse: bool = False) -> Any:
        """See the class."""
        if reverse:
            vectors = ops.reshape(ops.cast(inputs, "float32"), (-1, self.hidden_dim))  # [B * L, D]
            # Keras has no product with a transpose: it would copy the whole table, in each step of an answer.
            logits = tf.matmul(vectors, ops.cast(self.table.embeddings, "float32"), transpose_b=True)
            return ops.reshape(logits, (*ops.shape(inputs)[:-1], self.vocabulary_size))
        vectors = self.table(inputs)
        if self.scale:
            vectors = vectors * ops.cast(math.sqrt(self.hidden_dim), self.compute_dtype)
        if self.zero_padding:
            vectors = vectors * ops.cast(ops.not_equal(inputs, PADDING_ID), self.compute_dtype)[..., None]
        return vectors

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "hidden_dim": self.hidden_dim,
            "scale": self.scale,
            "zero_padding": self.zero_padding,
        }
