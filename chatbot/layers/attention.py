"""Attention: the weightless core, and the layer with projections and heads around it."""

from __future__ import annotations

import math
from typing import Any

import keras
from keras import ops

MASKED_SCORE = -1e9
"""Score of what may not be attended to. Finite, so that a fully masked row gives finite weights; float32 only."""


@keras.saving.register_keras_serializable(package="chatbot")
class ScaledDotProductAttention(keras.layers.Layer):
    """softmax(query key^T / sqrt(d)) value, without weights of its own.

    Args:
        dropout: share of the attention weights dropped in training.

    Call arguments:
        query: float [B, H, T, d].
        key: float [B, H, K, d].
        value: float [B, H, K, d].
        attention_mask: bool, broadcast to [B, H, T, K], True = may attend; None: everything may.
        training: whether to drop weights.

    Returns:
        context float [B, H, T, d]; weights float [B, H, T, K], each row summing to 1 (before dropout). The softmax
        is float32 whatever the layer computes in. A row that may attend to nothing gets equal weights.

    Source: Vaswani et al. 2017, section 3.2.1 (https://arxiv.org/abs/1706.03762).
    """

    def __init__(self, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dropout = keras.layers.Dropout(dropout, name="dropout", dtype=self.dtype_policy)

    def build(self, query_shape: Any, key_shape: Any = None, value_shape: Any = None) -> None:
        """There are no weights."""
        self.built = True

    def call(self, query: Any, key: Any, value: Any, attention_mask: Any = None, training: bool = False) -> tuple[Any, Any]:
        """See the class."""
        scores = ops.matmul(query, ops.swapaxes(key, -1, -2)) / math.sqrt(query.shape[-1])  # [B, H, T, K]
        scores = ops.cast(scores, "float32")
        if attention_mask is not None:
            scores = ops.where(attention_mask, scores, MASKED_SCORE)
        weights = ops.cast(ops.softmax(scores, axis=-1), query.dtype)
        context = ops.matmul(self.dropout(weights, training=training), value)  # [B, H, T, d]
        return context, weights

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "dropout": self.dropout.rate}


@keras.saving.register_keras_serializable(package="chatbot")
class MultiHeadAttention(keras.layers.Layer):
    """Attention in `num_heads` subspaces, to the sequence itself or to a memory.

    Projections are fused: one matrix makes query, key and value of self-attention, one makes key and value of a
    memory. Splitting the width into heads is the same map as one attention with its own projections a head.

    Args:
        num_heads: H.
        head_dim: d, the width of a head; H * d need not be D where there is an output projection.
        cross_attention: whether keys and values come from `memory`.
        use_bias: whether the projections add one; not in the paper and system B, in A and C.
        output_projection: whether the joined heads go through a last matrix; not in system A, whose heads are the output.
        dropout: share of the attention weights dropped in training.

    Call arguments:
        query: float [B, T, D].
        memory: float [B, S, M]; with `cross_attention` only, and there optional where `cache` is given.
        attention_mask: bool, broadcast to [B, H, T, K], True = may attend.
        cache: (key, value), each [B, H, K, d]. Self-attention writes the new keys and values at `start_index` and
            attends to the whole cache, whose unused places the mask must hide. Cross-attention reads it in place
            of `memory`.
        start_index: position of the first query in the cache.
        training: whether to drop weights.

    Returns:
        output float [B, T, D]; weights float [B, H, T, K]; cache: (key, value) as attended to.

    Raises:
        ValueError: a number is not positive; `memory` is given or missing against `cross_attention`; or the heads do
            not add up to D and there is no output projection.

    Source: Vaswani et al. 2017, section 3.2.2 (https://arxiv.org/abs/1706.03762).
    """

    def __init__(
        self,
        num_heads: int,
        head_dim: int,
        cross_attention: bool = False,
        use_bias: bool = True,
        output_projection: bool = True,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        for name, value in (("num_heads", num_heads), ("head_dim", head_dim)):
            if value < 1:
                raise ValueError(f"MultiHeadAttention: {name} must be at least 1; received {value}")
        self.num_heads = num_heads
        self.head_dim = head_dim
        self.cross_attention = cross_attention
        self.use_bias = use_bias
        self.has_output_projection = output_projection
        self.attention = ScaledDotProductAttention(dropout, name="attention", dtype=self.dtype_policy)

    def build(self, query_shape: Any, memory_shape: Any = None) -> None:
        """Makes the projections; a memory of unknown width has the query's."""
        memory_shape = memory_shape or query_shape
        if self.cross_attention:
            self.query_projection = self._projection(1, query_shape, "query")
            self.memory_projection = self._projection(2, memory_shape, "key_value")
        else:
            self.self_projection = self._projection(3, query_shape, "query_key_value")
        width, inner = query_shape[-1], self.num_heads * self.head_dim
        if self.has_output_projection:
            self.output_projection = keras.layers.Dense(width, use_bias=self.use_bias, name="output", dtype=self.dtype_policy)
        elif inner != width:
            raise ValueError(
                f"MultiHeadAttention(output_projection=False): {self.num_heads} heads of {self.head_dim} must add up to "
                f"the width; received {width}"
            )
        else:
            self.output_projection = keras.layers.Identity(name="output", dtype=self.dtype_policy)
        self.output_projection.build((*query_shape[:-1], inner))
        self.built = True

    def _projection(self, parts: int, input_shape: Any, name: str) -> keras.layers.Dense:
        inner = self.num_heads * self.head_dim
        width = input_shape[-1]
        # Glorot's limit for each [width, inner] part, not for the fused matrix, which would start them smaller.
        scale = (width + parts * inner) / (width + inner)
        initializer = keras.initializers.VarianceScaling(scale, mode="fan_avg", distribution="uniform")
        dense = keras.layers.Dense(
            parts * inner, use_bias=self.use_bias, kernel_initializer=initializer, name=name, dtype=self.dtype_policy
        )
        dense.build(input_shape)
        return dense

    def _split(self, projected: Any, parts: int) -> list[Any]:
        """[B, L, parts * H * d] -> `parts` tensors [B, H, L, d]."""
        length = ops.shape(projected)[1]
        split = ops.reshape(projected, (-1, length, parts, self.num_heads, self.head_dim))  # [B, L, parts, H, d]
        return list(ops.unstack(ops.transpose(split, (2, 0, 3, 1, 4)), parts, axis=0))  # parts * [B, H, L, d]

    def call(
        self,
        query: Any,
        memory: Any = None,
        attention_mask: Any = None,
        cache: tuple[Any, Any] | None = None,
        start_index: Any = 0,
        training: bool = False,
    ) -> tuple[Any, Any, tuple[Any, Any]]:
        """See the class."""
        if self.cross_attention:
            heads, key, value = self._attend_to_memory(query, memory, cache)
        else:
            if memory is not None:
                raise ValueError("MultiHeadAttention(cross_attention=False) takes no memory; received one")
            heads, key, value = self._split(self.self_projection(query), 3)
            if cache is not None:
                place = (0, 0, start_index, 0)
                key, value = ops.slice_update(cache[0], place, key), ops.slice_update(cache[1], place, value)
        context, weights = self.attention(heads, key, value, attention_mask, training=training)
        length = ops.shape(query)[1]
        joined = ops.reshape(ops.transpose(context, (0, 2, 1, 3)), (-1, length, self.num_heads * self.head_dim))  # [B, T, H*d]
        return self.output_projection(joined), weights, (key, value)

    def _attend_to_memory(self, query: Any, memory: Any, cache: tuple[Any, Any] | None) -> list[Any]:
        """The query's heads with key and value, each [B, H, L, d]; the memory is projected once, then cached."""
        if (memory is None) == (cache is None):
            raise ValueError(
                "MultiHeadAttention(cross_attention=True) needs either memory or cache; "
                f"received {'both' if cache is not None else 'neither'}"
            )
        heads = self._split(self.query_projection(query), 1)
        return [*heads, *(cache if cache is not None else self.project_memory(memory))]

    def project_memory(self, memory: Any) -> tuple[Any, Any]:
        """The cache of cross-attention to `memory` [B, S, M]: (key, value), each [B, H, S, d]."""
        key, value = self._split(self.memory_projection(memory), 2)
        return key, value

    def empty_cache(self, batch_size: Any, length: int) -> tuple[Any, Any]:
        """A cache of self-attention for `length` positions: (key, value), each zeros [B, H, length, d]."""
        zeros = ops.zeros((batch_size, self.num_heads, length, self.head_dim), dtype=self.compute_dtype)
        return zeros, zeros

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "head_dim": self.head_dim,
            "cross_attention": self.cross_attention,
            "use_bias": self.use_bias,
            "output_projection": self.has_output_projection,
            "dropout": self.attention.dropout.rate,
        }
