"""The position-wise feed-forward network."""

from __future__ import annotations

from typing import Any

import keras


@keras.saving.register_keras_serializable(package="chatbot")
class FeedForward(keras.layers.Layer):
    """max(0, x W1 + b1) W2 + b2, the same at every position.

    Args:
        intermediate_dim: width between the two matrices.
        dropout: share of the values between them dropped in training; as tensor2tensor (`relu_dropout`) and system B
            do, not the paper, A or C.

    Call arguments:
        inputs: float [B, L, D].
        training: whether to drop values.

    Returns:
        float [B, L, D].

    Raises:
        ValueError: `intermediate_dim` is not positive.

    Source: Vaswani et al. 2017, section 3.3 (https://arxiv.org/abs/1706.03762).
    """

    def __init__(self, intermediate_dim: int, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if intermediate_dim < 1:
            raise ValueError(f"FeedForward: intermediate_dim must be at least 1; received {intermediate_dim}")
        self.intermediate_dim = intermediate_dim
        self.dropout = keras.layers.Dropout(dropout, name="dropout", dtype=self.dtype_policy)

    def build(self, input_shape: Any) -> None:
        """Makes both matrices."""
        self.expand = keras.layers.Dense(self.intermediate_dim, activation="relu", name="expand", dtype=self.dtype_policy)
        self.expand.build(input_shape)
        self.contract = keras.layers.Dense(input_shape[-1], name="contract", dtype=self.dtype_policy)
        self.contract.build((*input_shape[:-1], self.intermediate_dim))
        self.built = True

    def call(self, inputs: Any, training: bool = False) -> Any:
        """See the class."""
        return self.contract(self.dropout(self.expand(inputs), training=training))

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "intermediate_dim": self.intermediate_dim, "dropout": self.dropout.rate}
