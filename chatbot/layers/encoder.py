"""The encoder: layers that attend to one sequence, in both directions or, by the mask alone, backwards only."""

from __future__ import annotations

from typing import Any

import keras

from chatbot.layers.block import Block, Stack

Cache = tuple[Any, Any]
"""Keys and values of a self-attention, see `MultiHeadAttention`."""


@keras.saving.register_keras_serializable(package="chatbot")
class EncoderLayer(Block):
    """Self-attention, then feed-forward, each with a residual sum.

    Args: see `Block`.

    Call arguments:
        inputs: float [B, L, D].
        attention_mask: bool, broadcast to [B, H, L, K], True = may attend.
        cache: keys and values of K places, see `MultiHeadAttention`; None: K is L.
        start_index: place of the first vector of `inputs` in the cache.
        training: whether to drop values.

    Returns:
        output float [B, L, D]; weights float [B, H, L, K]; cache as above.

    Source: Vaswani et al. 2017, section 3.1 (https://arxiv.org/abs/1706.03762).
    """

    def build(self, inputs_shape: Any) -> None:
        """Builds the sublayers."""
        self.self_attention.build(inputs_shape)
        self.feed_forward.build(inputs_shape)
        for residual in dict.fromkeys((self.self_attention_residual, self.feed_forward_residual)):
            residual.build(inputs_shape)
        self.built = True

    def call(
        self,
        inputs: Any,
        attention_mask: Any = None,
        cache: Cache | None = None,
        start_index: Any = 0,
        training: bool = False,
    ) -> tuple[Any, Any, Cache]:
        """See the class."""
        residual = self.self_attention_residual
        update, weights, cache = self.self_attention(
            residual.sublayer_input(inputs),
            attention_mask=attention_mask,
            cache=cache,
            start_index=start_index,
            training=training,
        )
        x = residual(inputs, update, training=training)

        residual = self.feed_forward_residual
        x = residual(x, self.feed_forward(residual.sublayer_input(x), training=training), training=training)
        return x, weights, cache


@keras.saving.register_keras_serializable(package="chatbot")
class Encoder(Stack):
    """A stack of `EncoderLayer`s.

    Args: see `Stack`.

    Call arguments: as `EncoderLayer`, `cache` with an entry a layer.

    Returns:
        output float [B, L, D]; weights float [B, N, H, L, K]; cache.
    """

    block = EncoderLayer

    def build(self, inputs_shape: Any) -> None:
        """Builds the layers."""
        self._build_layers(inputs_shape)

    def call(
        self,
        inputs: Any,
        attention_mask: Any = None,
        cache: list[Cache] | None = None,
        start_index: Any = 0,
        training: bool = False,
    ) -> tuple[Any, Any, list[Cache]]:
        """See the class."""
        return self._run(inputs, cache, attention_mask=attention_mask, start_index=start_index, training=training)

    def empty_cache(self, batch_size: Any, length: int) -> list[Cache]:
        """An entry a layer with room for `length` places."""
        return [layer.self_attention.empty_cache(batch_size, length) for layer in self.layers]
