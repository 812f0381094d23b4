"""A stack that reads one sequence from left to right: the whole of a decoder-only model between its two ends."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from chatbot.layers.encoder import Cache, Encoder
from chatbot.layers.masks import attend_to, causal_mask
from chatbot.layers.positional_encoding import PositionalEncoding


@keras.saving.register_keras_serializable(package="chatbot")
class AutoregressiveEncoder(keras.layers.Layer):
    """Positions, dropout, and an `Encoder` whose mask is causal. Vectors in, vectors out: it needs no vocabulary.

    A vector's position counts the real vectors of its own row, wherever they stand: padding between two parts of a
    sequence changes nothing.

    Args:
        num_layers: N.
        block: arguments of each layer, see `Block`.
        final_norm: see `Stack`.
        dropout: share of the values dropped in training before the first layer.
        causal: False makes it a plain encoder, which reads in both directions.

    Call arguments:
        inputs: float [B, L, D].
        padding_mask: bool [B, K] or [1, K], True = a real vector; None: all are. Without `cache`, K is L.
        cache: an entry a layer, see `Encoder`, for K places; `padding_mask` says which of them are or will be real.
        start_index: place of the first vector of `inputs` in the cache.
        training: whether to drop values.

    Returns:
        output float [B, L, D]; weights float [B, N, H, L, K]; cache.

    Raises:
        ValueError: a cache where the mask is not causal, since what is cached would still have to see what comes.

    Source: system A, an encoder with a causal mask; the same as the decoder of Liu et al. 2018, section 4.2.3
    (https://arxiv.org/abs/1801.10198).
    """

    def __init__(
        self,
        num_layers: int,
        block: dict[str, Any],
        final_norm: bool = False,
        dropout: float = 0.0,
        causal: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        policy = self.dtype_policy
        self.causal = causal
        self.positional_encoding = PositionalEncoding(name="positional_encoding", dtype=policy)
        self.dropout = keras.layers.Dropout(dropout, name="dropout", dtype=policy)
        self.encoder = Encoder(num_layers, block, final_norm, name="encoder", dtype=policy)

    def build(self, inputs_shape: Any) -> None:
        """Builds the layers."""
        self.positional_encoding.build(inputs_shape)
        self.encoder.build(inputs_shape)
        self.built = True

    def call(
        self,
        inputs: Any,
        padding_mask: Any = None,
        cache: list[Cache] | None = None,
        start_index: Any = 0,
        training: bool = False,
    ) -> tuple[Any, Any, list[Cache]]:
        """See the class."""
        if cache is not None and not self.causal:
            raise ValueError("AutoregressiveEncoder(causal=False) takes no cache; received one")
        length = ops.shape(inputs)[1]
        places = length if cache is None else ops.shape(cache[0][0])[2]  # K
        real = ops.ones((1, places), dtype="bool") if padding_mask is None else padding_mask
        positions = ops.cumsum(ops.cast(real, "int32"), axis=1) - 1  # [B, K]
        own = ops.take(positions, ops.arange(length) + start_index, axis=1)  # [B, L]
        mask = attend_to(real)
        if self.causal:
            mask = ops.logical_and(mask, causal_mask(length, places, start_index))
        vectors = self.dropout(self.positional_encoding(inputs, positions=own), training=training)
        output, weights, cache = self.encoder(
            vectors, attention_mask=mask, cache=cache, start_index=start_index, training=training
        )
        return output, weights, cache

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        stack = {name: self.encoder.get_config()[name] for name in ("num_layers", "block", "final_norm")}
        return {**super().get_config(), **stack, "dropout": self.dropout.rate, "causal": self.causal}
