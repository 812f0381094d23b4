"""Vectors of pieces made of the vectors of their letters."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="chatbot")
class NgramEmbedding(keras.layers.Layer):
    """Sums the vectors of a piece's hashed n-grams, so that pieces with letters in common begin alike.

    Which n-grams a piece has is a weight that is not trained: set it with `set_table` before the first use.

    Args:
        vocabulary_size: V.
        num_buckets: rows that n-grams are hashed into.
        ngrams_per_piece: K, columns of the table.
        hidden_dim: D.

    Call arguments:
        ids: int [B, L].

    Returns:
        float [B, L, D]: the sum over a piece's n-grams, divided by the square root of their number.

    Source: Bojanowski et al. 2016 (https://arxiv.org/abs/1607.04606).
    """

    def __init__(self, vocabulary_size: int, num_buckets: int, ngrams_per_piece: int, hidden_dim: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.settings = {
            "vocabulary_size": vocabulary_size,
            "num_buckets": num_buckets,
            "ngrams_per_piece": ngrams_per_piece,
            "hidden_dim": hidden_dim,
        }
        for name, value in self.settings.items():
            if value < 1:
                raise ValueError(f"NgramEmbedding: {name} must be at least 1; received {value}")

    def build(self, ids_shape: Any = None) -> None:
        """Makes the vectors and the place of the table."""
        size = self.settings
        self.vectors = self.add_weight(
            (size["num_buckets"] + 1, size["hidden_dim"]), keras.initializers.RandomNormal(stddev=1.0), name="vectors"
        )
        self.table = self.add_weight(
            (size["vocabulary_size"], size["ngrams_per_piece"]), "zeros", dtype="int32", trainable=False, name="table"
        )
        self.built = True

    def set_table(self, table: Any) -> None:
        """Sets the n-grams of each piece: int [V, K], 0 = none."""
        self.table.assign(table)

    def call(self, ids: Any) -> Any:
        """See the class."""
        buckets = ops.take(self.table, ids, axis=0)  # [B, L, K]
        real = ops.cast(ops.not_equal(buckets, 0), self.compute_dtype)[..., None]
        total = ops.sum(ops.take(self.vectors, buckets, axis=0) * real, axis=2)  # [B, L, D]
        return total / ops.sqrt(ops.maximum(ops.sum(real, axis=2), 1))

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), **self.settings}
