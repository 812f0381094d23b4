"""Encoder and decoder: the question is read in both directions, the answer written from left to right."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from chatbot.config import ModelSettings
from chatbot.layers.answer_memory import AnswerMemory
from chatbot.layers.decoder import Decoder
from chatbot.layers.encoder import Encoder
from chatbot.layers.masks import attend_to, causal_mask, padding_mask
from chatbot.layers.ngram_bag import NgramBag
from chatbot.layers.positional_encoding import PositionalEncoding
from chatbot.transformer.base import Predictions, Start, Transformer


class Memory(NamedTuple):
    """What the decoder looks at.

    Attributes:
        vectors: float [B, S, D], a place for each of the question's pieces; with an answer memory [B, 1 + S, D], the
            recalled answer in front.
        mask: bool [B, 1, 1, S or 1 + S], True = may attend.
        answer_logits: float32 [B, A], which of the known answers the question wants; None without an answer memory.
    """

    vectors: Any
    mask: Any
    answer_logits: Any


@keras.saving.register_keras_serializable(package="chatbot")
class Seq2SeqTransformer(Transformer):
    """An encoder reads the question, a decoder writes the answer. Systems B and C.

    Args:
        num_answers: A, distinct answers of the training data.
        The others, call arguments and result: see `Transformer`.

    Source: Vaswani et al. 2017 (https://arxiv.org/abs/1706.03762).
    """

    def __init__(self, vocabulary_size: int, num_answers: int, settings: ModelSettings | dict[str, Any], **kwargs: Any) -> None:
        super().__init__(vocabulary_size, settings, **kwargs)
        self.num_answers = num_answers
        settings, policy = self.settings, self.dtype_policy
        self.question_embedding = self.answer_embedding if settings.tie_embeddings else self._embedding("question_embedding")
        self.positional_encoding = PositionalEncoding(name="positional_encoding", dtype=policy)
        self.embedding_dropout = keras.layers.Dropout(settings.dropout, name="embedding_dropout", dtype=policy)
        self.encoder = Encoder(settings.num_encoder_layers, **self._stack_arguments(), name="encoder")
        self.decoder = Decoder(settings.num_decoder_layers, **self._stack_arguments(), name="decoder")
        if settings.answer_memory:
            self.ngram_bag = NgramBag(
                vocabulary_size,
                settings.ngram_buckets,
                settings.hidden_dim,
                settings.ngram_dropout,
                name="ngram_bag",
                dtype=policy,
            )
            self.question_dropout = keras.layers.Dropout(settings.question_dropout, name="question_dropout", dtype="float32")
            # Last, so that its weights, which belong to the data, stand behind all others in a checkpoint.
            self.answer_memory = AnswerMemory(num_answers, name="answer_memory", dtype=policy)

    def build(self, input_shape: Any = None) -> None:
        """Makes all weights; no shape is needed."""
        vectors = self._build_ends()
        if not self.settings.tie_embeddings:
            self.question_embedding.build((None, None))
        self.positional_encoding.build(vectors)
        self.encoder.build(vectors)
        self.decoder.build(vectors, vectors)
        if self.settings.answer_memory:
            self.ngram_bag.build()
            self.answer_memory.build(vectors)
        self.built = True

    def set_ngrams(self, table: np.ndarray) -> None:
        """See `Transformer`."""
        if self.settings.answer_memory:
            self.ngram_bag.set_table(table)

    def _placed(self, vectors: Any, start_index: Any = 0, training: bool = False) -> Any:
        """Embeddings [B, L, D] with their positions, of which the first is `start_index`."""
        positions = ops.arange(ops.shape(vectors)[1]) + start_index
        return self.embedding_dropout(self.positional_encoding(vectors, positions=positions), training=training)

    def encode(self, question_ids: Any, answer_numbers: Any = None, training: bool = False) -> Memory:
        """Reads questions, int [B, S], and recalls the answers with these numbers, int [B], or the likeliest ones."""
        real = padding_mask(question_ids)  # [B, S]
        vectors = self._placed(self.question_embedding(question_ids), training=training)
        encoded, _, _ = self.encoder(vectors, attention_mask=attend_to(real), training=training)
        if not self.settings.answer_memory:
            return Memory(encoded, attend_to(real), None)
        bag = self.ngram_bag(question_ids, training=training)  # [B, 1, D]
        recalled, answer_logits = self.answer_memory(bag, answer_numbers)  # [B, 1, D], [B, 1, A]
        always = ops.ones_like(real[:, :1])  # [B, 1]
        # A decoder that always saw the question would write from it in part, and mix answers up where the two disagree.
        is_shown = self.question_dropout(ops.cast(always, "float32"), training=training) > 0
        seen = ops.concatenate([always, ops.logical_and(real, is_shown)], axis=1)  # [B, 1 + S]
        return Memory(ops.concatenate([recalled, encoded], axis=1), attend_to(seen), answer_logits[:, 0])

    def decode(
        self,
        answer_ids: Any,
        memory: Any,
        memory_mask: Any,
        cache: list[dict[str, Any]] | None = None,
        start_index: Any = 0,
        training: bool = False,
    ) -> tuple[Any, Any, list[dict[str, Any]]]:
        """Reads `answer_ids` [B, T], whose first one stands at `start_index`.

        The causal mask hides padding from every real position, since padding stands behind.

        Returns:
            vectors float [B, T, D] for `logits`; weights on the memory float [B, N, H, T, S]; cache.
        """
        length = ops.shape(answer_ids)[1]
        keys = length if cache is None else ops.shape(cache[0]["self"][0])[2]
        vectors, weights, cache = self.decoder(
            self._placed(self.answer_embedding(answer_ids), start_index, training=training),
            memory=memory,
            attention_mask=causal_mask(length, keys, start_index),
            memory_mask=memory_mask,
            cache=cache,
            start_index=start_index,
            training=training,
        )
        return vectors, weights, cache

    def forward(self, question_ids: Any, answer_ids: Any, answer_numbers: Any = None, training: bool = False) -> Predictions:
        """See `Transformer`."""
        memory = self.encode(question_ids, answer_numbers, training=training)
        vectors, weights, _ = self.decode(answer_ids, memory.vectors, memory.mask, training=training)
        recalled = ops.shape(weights)[-1] - ops.shape(question_ids)[1]  # places in front of the question's
        return Predictions(self.logits(vectors), weights[..., recalled:], memory.answer_logits)

    def start(self, question_ids: Any, length: int) -> Start:
        """See `Transformer`."""
        memory = self.encode(question_ids)
        state = {"cache": self.decoder.start_cache(memory.vectors, length), "memory_mask": memory.mask}
        if memory.answer_logits is None:
            return Start(state, ops.zeros((ops.shape(question_ids)[0],), dtype="float32"))
        recalled = ops.cast(ops.argmax(memory.answer_logits, axis=-1), "int32")
        return Start(state, ops.max(ops.log_softmax(memory.answer_logits), axis=-1), recalled)

    def step(self, ids: Any, index: Any, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """See `Transformer`."""
        vectors, _, cache = self.decode(
            ids, memory=None, memory_mask=state["memory_mask"], cache=state["cache"], start_index=index
        )
        return vectors, {"cache": cache, "memory_mask": state["memory_mask"]}

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {**super().get_config(), "num_answers": self.num_answers}
