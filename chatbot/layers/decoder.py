"""The decoder: layers that write a sequence from left to right while looking at a memory."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from chatbot.layers.block import Block, Stack


@keras.saving.register_keras_serializable(package="chatbot")
class DecoderLayer(Block):
    """Self-attention, attention to the memory, then feed-forward, each with a residual sum.

    Args: see `Block`.

    Call arguments:
        inputs: float [B, T, D].
        memory: float [B, S, D]; None where `cache` holds its keys and values.
        attention_mask: of the self-attention, bool, broadcast to [B, H, T, K], True = may attend.
        memory_mask: of the attention to the memory, bool, broadcast to [B, H, T, S].
        cache: {"self": (key, value), "memory": (key, value)}, see `MultiHeadAttention`; None in a full pass.
        start_index: position of the first vector of `inputs` in the cache.
        training: whether to drop values.

    Returns:
        output float [B, T, D]; weights on the memory float [B, H, T, S]; cache as above.

    Source: Vaswani et al. 2017, section 3.1 (https://arxiv.org/abs/1706.03762).
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cross_attention = self._attention("cross_attention", cross_attention=True)
        self.cross_attention_residual = self._further_residual("cross_attention_residual")

    def build(self, inputs_shape: Any, memory_shape: Any = None) -> None:
        """Builds the sublayers."""
        self.self_attention.build(inputs_shape)
        self.cross_attention.build(inputs_shape, memory_shape)
        self.feed_forward.build(inputs_shape)
        residuals = (self.self_attention_residual, self.cross_attention_residual, self.feed_forward_residual)
        for residual in dict.fromkeys(residuals):
            residual.build(inputs_shape)
        self.built = True

    def call(
        self,
        inputs: Any,
        memory: Any = None,
        attention_mask: Any = None,
        memory_mask: Any = None,
        cache: dict[str, Any] | None = None,
        start_index: Any = 0,
        training: bool = False,
    ) -> tuple[Any, Any, dict[str, Any]]:
        """See the class."""
        cache = cache or {"self": None, "memory": None}
        residual = self.self_attention_residual
        update, _, self_cache = self.self_attention(
            residual.sublayer_input(inputs),
            attention_mask=attention_mask,
            cache=cache["self"],
            start_index=start_index,
            training=training,
        )
        x = residual(inputs, update, training=training)

        residual = self.cross_attention_residual
        update, weights, memory_cache = self.cross_attention(
            residual.sublayer_input(x), memory=memory, attention_mask=memory_mask, cache=cache["memory"], training=training
        )
        x = residual(x, update, training=training)

        residual = self.feed_forward_residual
        x = residual(x, self.feed_forward(residual.sublayer_input(x), training=training), training=training)
        return x, weights, {"self": self_cache, "memory": memory_cache}

    def start_cache(self, memory: Any, length: int) -> dict[str, Any]:
        """A cache with room for `length` positions that holds the keys and values of `memory` [B, S, D] already."""
        return {
            "self": self.self_attention.empty_cache(ops.shape(memory)[0], length),
            "memory": self.cross_attention.project_memory(memory),
        }


@keras.saving.register_keras_serializable(package="chatbot")
class Decoder(Stack):
    """A stack of `DecoderLayer`s.

    Args: see `Stack`.

    Call arguments: as `DecoderLayer`; `cache` is a list with an entry a layer.

    Returns:
        output float [B, T, D]; weights on the memory float [B, N, H, T, S]; cache, a list with an entry a layer.
    """

    block = DecoderLayer

    def build(self, inputs_shape: Any, memory_shape: Any = None) -> None:
        """Builds the layers."""
        self._build_layers(inputs_shape, memory_shape)

    def call(
        self,
        inputs: Any,
        memory: Any = None,
        attention_mask: Any = None,
        memory_mask: Any = None,
        cache: list[dict[str, Any]] | None = None,
        start_index: Any = 0,
        training: bool = False,
    ) -> tuple[Any, Any, list[dict[str, Any]]]:
        """See the class."""
        return self._run(
            inputs,
            cache,
            memory=memory,
            attention_mask=attention_mask,
            memory_mask=memory_mask,
            start_index=start_index,
            training=training,
        )

    def start_cache(self, memory: Any, length: int) -> list[dict[str, Any]]:
        """An entry a layer, see `DecoderLayer.start_cache`."""
        return [layer.start_cache(memory, length) for layer in self.layers]
