"""One vector for a whole question."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

_EPSILON = 1e-6


@keras.saving.register_keras_serializable(package="chatbot")
class Summary(keras.layers.Layer):
    """Sums a question up in one vector: its pieces as they were embedded, and as the encoder understood them.

    LayerNorm(W [mean of the embeddings; mean of the encoder's output] + b), means over real pieces. The mean of
    the embeddings is a bag of pieces, from which a few examples already tell one question from another.

    Args:
        dropout: share of the vector dropped in training.

    Call arguments:
        embedded: float [B, S, D], before the encoder.
        encoded: float [B, S, D], behind it.
        padding_mask: bool [B, S], True = a real piece.
        training: whether to drop values.

    Returns:
        float [B, 1, D]. A question without a piece gets the vector of zero means.
    """

    def __init__(self, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dropout = keras.layers.Dropout(dropout, name="dropout", dtype=self.dtype_policy)
        self.normalization = keras.layers.LayerNormalization(epsilon=_EPSILON, name="normalization", dtype=self.dtype_policy)

    def build(self, embedded_shape: Any, encoded_shape: Any = None, padding_mask_shape: Any = None) -> None:
        """Makes the projection."""
        width = embedded_shape[-1]
        self.projection = keras.layers.Dense(width, name="projection", dtype=self.dtype_policy)
        self.projection.build((None, 2 * width))
        self.normalization.build((None, width))
        self.built = True

    def call(self, embedded: Any, encoded: Any, padding_mask: Any, training: bool = False) -> Any:
        """See the class."""
        weights = ops.cast(padding_mask, embedded.dtype)[..., None]  # [B, S, 1]
        count = ops.maximum(ops.sum(weights, axis=1), 1)  # [B, 1]
        means = [ops.sum(vectors * weights, axis=1) / count for vectors in (embedded, encoded)]
        vector = self.normalization(self.projection(ops.concatenate(means, axis=-1)))
        return self.dropout(vector, training=training)[:, None]

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "dropout": self.dropout.rate}
