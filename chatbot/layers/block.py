"""What encoder and decoder share: the parts of a block, and stacks of blocks."""

from __future__ import annotations

from typing import Any, ClassVar

import keras
from keras import ops

from chatbot.layers.attention import MultiHeadAttention
from chatbot.layers.feed_forward import FeedForward
from chatbot.layers.residual import Residual


class Block(keras.layers.Layer):
    """Base of `EncoderLayer` and `DecoderLayer`: self-attention and feed-forward, each with a residual sum.

    Args:
        num_heads: H, attention heads.
        head_dim: d, width of a head.
        intermediate_dim: width inside the feed-forward part.
        norm: "post" or "pre", see `Residual`.
        dropout: share of each sublayer's output dropped in training.
        attention_dropout: share of the attention weights dropped in training.
        feed_forward_dropout: share of the values inside the feed-forward part dropped in training.
        use_bias: of the projections, see `MultiHeadAttention`.
        output_projection: see `MultiHeadAttention`.
        share_norm: one `Residual`, and so one normalisation, for all sublayers of the block, as system A has it; else
            each has its own, as in the paper.
        epsilon: of the normalisation, see `Residual`.
    """

    def __init__(
        self,
        num_heads: int,
        head_dim: int,
        intermediate_dim: int,
        norm: str = "post",
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        feed_forward_dropout: float = 0.0,
        use_bias: bool = True,
        output_projection: bool = True,
        share_norm: bool = False,
        epsilon: float = 1e-6,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.settings: dict[str, Any] = {
            "num_heads": num_heads,
            "head_dim": head_dim,
            "intermediate_dim": intermediate_dim,
            "norm": norm,
            "dropout": dropout,
            "attention_dropout": attention_dropout,
            "feed_forward_dropout": feed_forward_dropout,
            "use_bias": use_bias,
            "output_projection": output_projection,
            "share_norm": share_norm,
            "epsilon": epsilon,
        }
        self.self_attention = self._attention("self_attention")
        self.self_attention_residual = self._residual("self_attention_residual")
        self.feed_forward = FeedForward(intermediate_dim, feed_forward_dropout, name="feed_forward", dtype=self.dtype_policy)
        self.feed_forward_residual = self._further_residual("feed_forward_residual")

    def _attention(self, name: str, cross_attention: bool = False) -> MultiHeadAttention:
        return MultiHeadAttention(
            self.settings["num_heads"],
            self.settings["head_dim"],
            cross_attention=cross_attention,
            use_bias=self.settings["use_bias"],
            output_projection=self.settings["output_projection"],
            dropout=self.settings["attention_dropout"],
            name=name,
            dtype=self.dtype_policy,
        )

    def _residual(self, name: str) -> Residual:
        return Residual(
            self.settings["norm"], self.settings["dropout"], self.settings["epsilon"], name=name, dtype=self.dtype_policy
        )

    def _further_residual(self, name: str) -> Residual:
        """That of a later sublayer: its own, or the first one once more."""
        return self.self_attention_residual if self.settings["share_norm"] else self._residual(name)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), **self.settings}


class Stack(keras.layers.Layer):
    """Base of `Encoder` and `Decoder`: blocks of one kind, one behind the other.

    Args:
        num_layers: N.
        block: the arguments of each block, see `Block`.
        final_norm: whether a normalisation follows the last block. Pre-norm wants one, since its residual sum itself is
            never normalised (system B); post-norm has just done it.

    Raises:
        ValueError: `num_layers` is not positive.
    """

    block: ClassVar[type[Block]]

    def __init__(self, num_layers: int, block: dict[str, Any], final_norm: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if num_layers < 1:
            raise ValueError(f"{type(self).__name__}: num_layers must be at least 1; received {num_layers}")
        policy = self.dtype_policy
        self.layers = [self.block(**block, name=f"layer_{index}", dtype=policy) for index in range(num_layers)]
        self.has_final_norm = final_norm
        self.final_normalization = (
            keras.layers.LayerNormalization(
                epsilon=self.layers[0].settings["epsilon"], name="final_normalization", dtype=policy
            )
            if final_norm
            else keras.layers.Identity(name="final_normalization", dtype=policy)
        )

    def _run(self, x: Any, cache: list[Any] | None, **arguments: Any) -> tuple[Any, Any, list[Any]]:
        """x through all layers; their weights [B, N, H, L, K] and their caches."""
        all_weights, new_cache = [], []
        for index, layer in enumerate(self.layers):
            x, weights, layer_cache = layer(x, cache=cache[index] if cache else None, **arguments)
            all_weights.append(weights)
            new_cache.append(layer_cache)
        return self.final_normalization(x), ops.stack(all_weights, axis=1), new_cache

    def _build_layers(self, *shapes: Any) -> None:
        for layer in self.layers:
            layer.build(*shapes)
        self.final_normalization.build(shapes[0])
        self.built = True

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {
            **super().get_config(),
            "num_layers": len(self.layers),
            "block": self.layers[0].settings,
            "final_norm": self.has_final_norm,
        }
