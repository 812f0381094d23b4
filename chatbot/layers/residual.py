"""The residual sum with dropout and normalisation: the one place where post-norm and pre-norm differ."""

from __future__ import annotations

from typing import Any

import keras


@keras.saving.register_keras_serializable(package="chatbot")
class Residual(keras.layers.Layer):
    """Adds what a sublayer made of x to x.

    A block with a sublayer f and a residual r is written `r(x, f(r.sublayer_input(x)))`, which is

        post: LayerNorm(x + Dropout(f(x)))      Vaswani et al. 2017 (https://arxiv.org/abs/1706.03762)
        pre:  x + Dropout(f(LayerNorm(x)))      Xiong et al. 2020 (https://arxiv.org/abs/2002.04745)

    Args:
        norm: "post" or "pre".
        dropout: share of the sublayer's output dropped in training.
        epsilon: added to the variance before its root is divided by; 1e-6 in tensor2tensor and system B, 1e-5 in
            PyTorch and system A, 1e-3 in Keras and system C.

    Call arguments:
        inputs: x, float [B, L, D].
        update: the sublayer's output, float [B, L, D].
        training: whether to drop values.

    Returns:
        float [B, L, D].

    Raises:
        ValueError: `norm` is neither.
    """

    def __init__(self, norm: str = "post", dropout: float = 0.0, epsilon: float = 1e-6, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if norm not in ("post", "pre"):
            raise ValueError(f"Residual: norm must be 'post' or 'pre'; received {norm!r}")
        self.norm = norm
        self.normalization = keras.layers.LayerNormalization(epsilon=epsilon, name="normalization", dtype=self.dtype_policy)
        self.dropout = keras.layers.Dropout(dropout, name="dropout", dtype=self.dtype_policy)

    def build(self, inputs_shape: Any, update_shape: Any = None) -> None:
        """Makes the normalisation's scale and bias."""
        self.normalization.build(inputs_shape)
        self.built = True

    def sublayer_input(self, inputs: Any) -> Any:
        """What the sublayer reads: x normalised (pre) or as it is (post); float [B, L, D]."""
        return self.normalization(inputs) if self.norm == "pre" else inputs

    def call(self, inputs: Any, update: Any, training: bool = False) -> Any:
        """See the class."""
        total = inputs + self.dropout(update, training=training)
        return self.normalization(total) if self.norm == "post" else total

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "norm": self.norm, "dropout": self.dropout.rate, "epsilon": self.normalization.epsilon}
