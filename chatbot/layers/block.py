"""What encoder and decoder share: the sizes of a layer, and stacks of layers."""

from __future__ import annotations

from typing import Any, ClassVar

import keras

from chatbot.layers.attention import MultiHeadAttention
from chatbot.layers.feed_forward import FeedForward
from chatbot.layers.residual import EPSILON, Residual


class Block(keras.layers.Layer):
    """Base of `EncoderLayer` and `DecoderLayer`: self-attention and feed-forward, each with a residual sum.

    Args:
        num_heads: H, attention heads.
        head_dim: d, width of a head.
        intermediate_dim: width inside the feed-forward part.
        norm: "post" or "pre", see `Residual`.
        dropout: share of each sublayer's output dropped in training.
        attention_dropout: share of the attention weights dropped in training.
    """

    def __init__(
        self,
        num_heads: int,
        head_dim: int,
        intermediate_dim: int,
        norm: str = "post",
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
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
        }
        self.self_attention = self._attention("self_attention")
        self.self_attention_residual = self._residual("self_attention_residual")
        self.feed_forward = FeedForward(intermediate_dim, name="feed_forward", dtype=self.dtype_policy)
        self.feed_forward_residual = self._residual("feed_forward_residual")

    def _attention(self, name: str, cross_attention: bool = False) -> MultiHeadAttention:
        return MultiHeadAttention(
            self.settings["num_heads"],
            self.settings["head_dim"],
            cross_attention=cross_attention,
            dropout=self.settings["attention_dropout"],
            name=name,
            dtype=self.dtype_policy,
        )

    def _residual(self, name: str) -> Residual:
        return Residual(self.settings["norm"], self.settings["dropout"], name=name, dtype=self.dtype_policy)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), **self.settings}


class Stack(keras.layers.Layer):
    """Base of `Encoder` and `Decoder`: layers of one kind, one behind the other.

    With pre-norm a final normalisation follows, since the residual sum itself is never normalised.

    Args:
        num_layers: N.
        The others: see `Block`.

    Raises:
        ValueError: `num_layers` is not positive.
    """

    block: ClassVar[type[Block]]

    def __init__(
        self,
        num_layers: int,
        num_heads: int,
        head_dim: int,
        intermediate_dim: int,
        norm: str = "post",
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if num_layers < 1:
            raise ValueError(f"{type(self).__name__}: num_layers must be at least 1; received {num_layers}")
        policy = self.dtype_policy
        sizes = (num_heads, head_dim, intermediate_dim, norm, dropout, attention_dropout)
        self.layers = [self.block(*sizes, name=f"layer_{index}", dtype=policy) for index in range(num_layers)]
        self.final_normalization = (
            keras.layers.LayerNormalization(epsilon=EPSILON, name="final_normalization", dtype=policy)
            if norm == "pre"
            else keras.layers.Identity(name="final_normalization", dtype=policy)
        )

    def _build_layers(self, *shapes: Any) -> None:
        for layer in self.layers:
            layer.build(*shapes)
        self.final_normalization.build(shapes[0])
        self.built = True

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "num_layers": len(self.layers), **self.layers[0].settings}
