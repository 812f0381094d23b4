"""What both models share: the two ends, and what training, search and export need of a model."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import keras
import numpy as np

from chatbot.config import ModelSettings
from chatbot.layers.token_embedding import TokenEmbedding


class Predictions(NamedTuple):
    """What a full pass over questions and given answers tells.

    Attributes:
        logits: float32 [B, T, V], of the piece behind each piece of the answers.
        weights: float [B, N, H, T, S], how much each piece of the answers attended to the question's pieces.
        answer_logits: float32 [B, A], which of the known answers the question wants; None without an answer memory.
    """

    logits: Any
    weights: Any
    answer_logits: Any


class Start(NamedTuple):
    """What a model brings to the first step of an answer.

    Attributes:
        state: of `step`; with an answer memory every tensor in it has a row for each question.
        recall: float32 [B], log probability of the answer that was recalled; 0 without an answer memory.
        recalled: int32 [B], its number; None without an answer memory.
    """

    state: dict[str, Any]
    recall: Any
    recalled: Any = None


class Transformer(keras.Model):
    """Base of both models: what they share, and what training, search and export need of them.

    Args:
        vocabulary_size: V.
        settings: sizes and architecture, as a `ModelSettings` or its `to_dict`.

    Call arguments:
        inputs: {"question_ids": int [B, S], "answer_ids": int [B, T]}, padded behind with 0; `answer_ids` begin
            with the start piece: position t may see `answer_ids[:, :t + 1]`, and predicts the piece behind them.
        training: whether to drop values.

    Returns:
        logits float32 [B, T, V].
    """

    def __init__(self, vocabulary_size: int, settings: ModelSettings | dict[str, Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.settings = settings if isinstance(settings, ModelSettings) else ModelSettings.from_dict(settings)
        self.vocabulary_size = vocabulary_size
        self.answer_embedding = self._embedding("token_embedding" if self.settings.tie_embeddings else "answer_embedding")
        if not self.settings.tie_embeddings:
            self.output_projection = keras.layers.Dense(
                vocabulary_size, use_bias=self.settings.use_bias, name="output_projection", dtype="float32"
            )

    def _embedding(self, name: str) -> TokenEmbedding:
        return TokenEmbedding(
            self.vocabulary_size,
            self.settings.hidden_dim,
            scale=self.settings.scale_embeddings,
            zero_padding=self.settings.zero_padding,
            name=name,
            dtype=self.dtype_policy,
        )

    def _stack_arguments(self) -> dict[str, Any]:
        """What `Stack` takes besides the number of layers."""
        settings = self.settings
        block = {
            "num_heads": settings.num_heads,
            "head_dim": settings.width_of_head,
            "intermediate_dim": settings.intermediate_dim,
            "norm": settings.norm,
            "dropout": settings.dropout,
            "attention_dropout": settings.attention_dropout,
            "feed_forward_dropout": settings.feed_forward_dropout,
            "use_bias": settings.use_bias,
            "output_projection": settings.output_projection,
            "share_norm": settings.share_norm,
            "epsilon": settings.epsilon,
        }
        return {"block": block, "final_norm": settings.has_final_norm, "dtype": self.dtype_policy}

    def _build_ends(self) -> Any:
        """Makes the weights of embedding and output; returns the shape of the vectors between them."""
        vectors = (None, None, self.settings.hidden_dim)
        self.answer_embedding.build((None, None))
        if not self.settings.tie_embeddings:
            self.output_projection.build(vectors)
        return vectors

    def logits(self, vectors: Any) -> Any:
        """Of the pieces behind: vectors [..., D], of a step or a full pass -> float32 [..., V]."""
        if self.settings.tie_embeddings:
            return self.answer_embedding(vectors, reverse=True)
        return self.output_projection(vectors)

    def set_ngrams(self, table: np.ndarray) -> None:
        """Takes the n-grams of the vocabulary's pieces, see `NgramBag`; only an answer memory is asked with them."""

    @abstractmethod
    def forward(self, question_ids: Any, answer_ids: Any, answer_numbers: Any = None, training: bool = False) -> Predictions:
        """A full pass; arguments as those of the call.

        Args:
            answer_numbers: int [B], which of the known answers they are, for an answer memory in training; None: not known.
        """

    @abstractmethod
    def start(self, question_ids: Any, length: int) -> Start:
        """Reads questions, int [B, S], before the first answer piece; `step` then has room for `length` pieces."""

    @abstractmethod
    def step(self, ids: Any, index: Any, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Reads `ids` [B, L], of which the first stands at position `index` of the answers.

        Returns:
            vectors float [B, L, D], from which `logits` predicts the piece behind each; the next state.
        """

    def call(self, inputs: dict[str, Any], training: bool = False) -> Any:
        """See the class."""
        return self.forward(inputs["question_ids"], inputs["answer_ids"], training=training).logits

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "vocabulary_size": self.vocabulary_size, "settings": self.settings.to_dict()}
