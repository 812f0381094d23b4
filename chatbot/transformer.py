"""The whole model: embeddings, encoder and decoder, with one code path for training and stepping."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
from keras import ops

from chatbot.config import ModelSettings
from chatbot.layers.answer_memory import AnswerMemory
from chatbot.layers.decoder import Decoder
from chatbot.layers.encoder import Encoder
from chatbot.layers.masks import attend_to, causal_mask, padding_mask
from chatbot.layers.positional_encoding import PositionalEncoding
from chatbot.layers.summary import Summary
from chatbot.layers.token_embedding import TokenEmbedding


class Memory(NamedTuple):
    """What the decoder looks at.

    Attributes:
        vectors: float [B, S, D], a place for each of the question's pieces; with an answer memory [B, 1 + S, D], the
            recalled answer in front.
        mask: bool [B, 1, 1, S or 1 + S], True = may attend.
        answer_logits: float32 [B, N], which of the known answers the question wants; None without an answer memory.
    """

    vectors: Any
    mask: Any
    answer_logits: Any


@keras.saving.register_keras_serializable(package="chatbot")
class Seq2SeqTransformer(keras.Model):
    """An encoder reads the question, a decoder writes the answer, one table embeds both and gives the logits.

    Args:
        vocabulary_size: V.
        num_answers: N, distinct answers of the training data.
        settings: sizes and architecture, as a `ModelSettings` or its `to_dict`.

    Call arguments:
        inputs: {"question_ids": int [B, S], "answer_ids": int [B, T]}, padded behind with 0; `answer_ids` begin
            with the start piece: position t may see `answer_ids[:, :t + 1]`, and predicts the piece behind them.
        training: whether to drop values.

    Returns:
        logits float32 [B, T, V].

    Source: Vaswani et al. 2017 (https://arxiv.org/abs/1706.03762).
    """

    def __init__(self, vocabulary_size: int, num_answers: int, settings: ModelSettings | dict[str, Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.settings = settings if isinstance(settings, ModelSettings) else ModelSettings.from_dict(settings)
        self.vocabulary_size = vocabulary_size
        self.num_answers = num_answers
        policy = self.dtype_policy
        sizes: dict[str, Any] = {
            "num_heads": self.settings.num_heads,
            "head_dim": self.settings.head_dim or self.settings.hidden_dim // self.settings.num_heads,
            "intermediate_dim": self.settings.intermediate_dim,
            "norm": self.settings.norm,
            "dropout": self.settings.dropout,
            "attention_dropout": self.settings.attention_dropout,
        }
        self.token_embedding = TokenEmbedding(vocabulary_size, self.settings.hidden_dim, name="token_embedding", dtype=policy)
        self.positional_encoding = PositionalEncoding(name="positional_encoding", dtype=policy)
        self.embedding_dropout = keras.layers.Dropout(self.settings.dropout, name="embedding_dropout", dtype=policy)
        self.encoder = Encoder(self.settings.num_encoder_layers, **sizes, name="encoder", dtype=policy)
        self.decoder = Decoder(self.settings.num_decoder_layers, **sizes, name="decoder", dtype=policy)
        if self.settings.answer_memory:
            self.summary = Summary(self.settings.dropout, name="summary", dtype=policy)
            # Last, so that its weights, which belong to the data, stand behind all others in a checkpoint.
            self.answer_memory = AnswerMemory(num_answers, name="answer_memory", dtype=policy)

    def build(self, input_shape: Any = None) -> None:
        """Makes all weights; no shape is needed."""
        vectors = (None, None, self.settings.hidden_dim)
        self.token_embedding.build((None, None))
        self.positional_encoding.build(vectors)
        self.encoder.build(vectors)
        self.decoder.build(vectors, vectors)
        if self.settings.answer_memory:
            self.summary.build(vectors, vectors)
            self.answer_memory.build(vectors)
        self.built = True

    def _embed(self, ids: Any, start_index: Any = 0, training: bool = False) -> Any:
        """[B, L] -> [B, L, D]"""
        vectors = self.positional_encoding(self.token_embedding(ids), start_index=start_index)
        return self.embedding_dropout(vectors, training=training)

    def encode(self, question_ids: Any, training: bool = False) -> Memory:
        """Reads questions, int [B, S]."""
        real = padding_mask(question_ids)  # [B, S]
        embedded = self._embed(question_ids, training=training)
        encoded = self.encoder(embedded, attention_mask=attend_to(real), training=training)
        if not self.settings.answer_memory:
            return Memory(encoded, attend_to(real), None)
        summary = self.summary(embedded, encoded, real, training=training)
        recalled, answer_logits = self.answer_memory(summary, training=training)  # [B, 1, D], [B, 1, N]
        everything = ops.concatenate([ops.ones_like(real[:, :1]), real], axis=1)
        return Memory(ops.concatenate([recalled, encoded], axis=1), attend_to(everything), answer_logits[:, 0])

    def decode(
        self,
        answer_ids: Any,
        memory: Any,
        memory_mask: Any,
        cache: list[dict[str, Any]] | None = None,
        start_index: Any = 0,
        training: bool = False,
    ) -> tuple[Any, Any, list[dict[str, Any]]]:
        """Predicts the piece behind each of `answer_ids` [B, T], whose first one stands at `start_index`.

        The causal mask hides padding from every real position, since padding stands behind.

        Returns:
            logits float32 [B, T, V]; weights on the memory float [B, N, H, T, S]; cache.
        """
        length = ops.shape(answer_ids)[1]
        keys = length if cache is None else ops.shape(cache[0]["self"][0])[2]
        vectors, weights, cache = self.decoder(
            self._embed(answer_ids, start_index=start_index, training=training),
            memory=memory,
            attention_mask=causal_mask(length, keys, start_index),
            memory_mask=memory_mask,
            cache=cache,
            start_index=start_index,
            training=training,
        )
        return self.token_embedding(vectors, reverse=True), weights, cache

    def call(self, inputs: dict[str, Any], training: bool = False) -> Any:
        """See the class."""
        memory = self.encode(inputs["question_ids"], training=training)
        logits, _, _ = self.decode(inputs["answer_ids"], memory.vectors, memory.mask, training=training)
        return logits

    def start(self, question_ids: Any, length: int) -> dict[str, Any]:
        """The state of `step` before the first answer piece, with room for `length` pieces."""
        memory = self.encode(question_ids)
        return {"cache": self.decoder.start_cache(memory.vectors, length), "memory_mask": memory.mask}

    def step(self, ids: Any, index: Any, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Predicts the piece behind `ids` [B], which stand at position `index` of the answers.

        Returns:
            logits float32 [B, V]; the next state.
        """
        logits, _, cache = self.decode(
            ids[:, None], memory=None, memory_mask=state["memory_mask"], cache=state["cache"], start_index=index
        )
        return logits[:, 0], {"cache": cache, "memory_mask": state["memory_mask"]}

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "num_answers": self.num_answers,
            "settings": self.settings.to_dict(),
        }
