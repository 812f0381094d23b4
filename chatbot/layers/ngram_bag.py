"""A question as the bag of its letter groups, pieces and neighbouring pieces."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras import ops

from chatbot.layers.masks import PADDING_ID

NGRAMS_PER_PIECE = 22
"""Places in the table: all n-grams of a piece of eight characters; hardly any piece has more."""

_MULTIPLIER = 40_503
"""Knuth's for 16 bits. From id 53,021 on the product leaves int32 and wraps around, the same on every machine."""


@keras.saving.register_keras_serializable(package="chatbot")
class NgramBag(keras.layers.Layer):
    """sum of the vectors of a question's n-grams / root of their number.

    The n-grams of a piece stand in a table that belongs to the vocabulary; two neighbouring pieces are hashed here.
    All share `num_buckets` vectors. A word that was never seen thus has the parts that were, and order counts between
    neighbours: with a few examples an answer, this tells questions apart better than what attention can learn.

    Args:
        vocabulary_size: V.
        num_buckets: vectors.
        hidden_dim: D.
        dropout: share of the n-grams dropped in training, each for itself.

    Call arguments:
        inputs: int [B, S], padded with 0.
        training: whether to drop n-grams.

    Returns:
        float [B, 1, D]; zeros where a question has no n-gram.

    Raises:
        ValueError: `num_buckets` is not positive.

    Source: Joulin et al. 2016 (https://arxiv.org/abs/1607.01759), Bojanowski et al. 2016
    (https://arxiv.org/abs/1607.04606).
    """

    def __init__(self, vocabulary_size: int, num_buckets: int, hidden_dim: int, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if num_buckets < 1:
            raise ValueError(f"NgramBag: num_buckets must be at least 1; received {num_buckets}")
        self.vocabulary_size = vocabulary_size
        self.num_buckets = num_buckets
        self.hidden_dim = hidden_dim
        self.dropout = keras.layers.Dropout(dropout, name="dropout", dtype="float32")

    def build(self, input_shape: Any = None) -> None:
        """Makes the vectors, and the table, which is filled by `set_table`."""
        initializer = keras.initializers.RandomNormal(stddev=0.1)
        self.vectors = self.add_weight((self.num_buckets, self.hidden_dim), initializer, name="vectors")
        no_ngram = keras.initializers.Constant(-1)
        shape = (self.vocabulary_size, NGRAMS_PER_PIECE)
        self.table = self.add_weight(shape, no_ngram, dtype="int32", trainable=False, autocast=False, name="table")
        self.built = True

    def set_table(self, table: np.ndarray) -> None:
        """Takes the buckets of each piece's n-grams, int [V, NGRAMS_PER_PIECE], -1 = none."""
        self.table.assign(table)

    def call(self, inputs: Any, training: bool = False) -> Any:
        """See the class."""
        length = ops.shape(inputs)[1] * NGRAMS_PER_PIECE
        own = ops.reshape(ops.take(self.table, inputs, axis=0), (-1, length))  # [B, S * NGRAMS_PER_PIECE]
        before, behind = inputs[:, :-1], inputs[:, 1:]
        pair = ops.mod(before * _MULTIPLIER + behind, self.num_buckets)
        pair = ops.where(ops.equal(behind, PADDING_ID), -1, pair)  # [B, S - 1]
        buckets = ops.concatenate([own, pair], axis=1)
        real = ops.cast(buckets >= 0, "float32")
        count = ops.maximum(ops.sum(real, axis=1, keepdims=True), 1)
        weights = self.dropout(real, training=training) / ops.sqrt(count)  # [B, F]
        vectors = ops.take(self.vectors, ops.maximum(buckets, 0), axis=0)  # [B, F, D]
        return ops.matmul(ops.cast(weights, vectors.dtype)[:, None], vectors)  # [B, 1, D]

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "num_buckets": self.num_buckets,
            "hidden_dim": self.hidden_dim,
            "dropout": self.dropout.rate,
        }
