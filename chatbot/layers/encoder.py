"""The encoder: layers that read a sequence in both directions."""

from __future__ import annotations

from typing import Any

import keras

from chatbot.layers.block import Block, Stack


@keras.saving.register_keras_serializable(package="chatbot")
class EncoderLayer(Block):
    """Self-attention, then feed-forward, each with a residual sum.

    Args: see `Block`.

    Call arguments:
        inputs: float [B, S, D].
        attention_mask: bool, broadcast to [B, H, S, S], True = may attend.
        training: whether to drop values.

    Returns:
        float [B, S, D].

    Source: Vaswani et al. 2017, section 3.1 (https://arxiv.org/abs/1706.03762).
    """

    def build(self, inputs_shape: Any) -> None:
        """Builds the sublayers."""
        for layer in (self.self_attention, self.self_attention_residual, self.feed_forward, self.feed_forward_residual):
            layer.build(inputs_shape)
        self.built = True

    def call(self, inputs: Any, attention_mask: Any = None, training: bool = False) -> Any:
        """See the class."""
        residual = self.self_attention_residual
        update, _, _ = self.self_attention(residual.sublayer_input(inputs), attention_mask=attention_mask, training=training)
        x = residual(inputs, update, training=training)

        residual = self.feed_forward_residual
        return residual(x, self.feed_forward(residual.sublayer_input(x)), training=training)


@keras.saving.register_keras_serializable(package="chatbot")
class Encoder(Stack):
    """A stack of `EncoderLayer`s. Args: see `Stack`; call arguments and result: as `EncoderLayer`."""

    block = EncoderLayer

    def build(self, inputs_shape: Any) -> None:
        """Builds the layers."""
        self._build_layers(inputs_shape)

    def call(self, inputs: Any, attention_mask: Any = None, training: bool = False) -> Any:
        """See the class."""
        x = inputs
        for layer in self.layers:
            x = layer(x, attention_mask=attention_mask, training=training)
        return self.final_normalization(x)
