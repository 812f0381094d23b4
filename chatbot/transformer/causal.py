"""Decoder only: question and answer are one sequence, read by one stack."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from chatbot.config import ModelSettings
from chatbot.layers.autoregressive_encoder import AutoregressiveEncoder
from chatbot.layers.masks import padding_mask
from chatbot.transformer.base import Predictions, Start, Transformer


@keras.saving.register_keras_serializable(package="chatbot")
class CausalTransformer(Transformer):
    """Question and answer are one sequence, read by one stack from left to right. System A.

    Places 0 to S - 1 hold the question, padded behind, the next ones the answer. Positions count a row's own pieces,
    so a row's padding and its batch mates change nothing. As a language model there is no question: S is 0.

    Args, call arguments and result: see `Transformer`.

    Source: system A; Radford et al. 2018 (https://openai.com/research/language-unsupervised).
    """

    def __init__(self, vocabulary_size: int, settings: ModelSettings | dict[str, Any], **kwargs: Any) -> None:
        super().__init__(vocabulary_size, settings, **kwargs)
        self.body = AutoregressiveEncoder(
            self.settings.num_decoder_layers, **self._stack_arguments(), dropout=self.settings.dropout, name="body"
        )

    def build(self, input_shape: Any = None) -> None:
        """Makes all weights; no shape is needed."""
        self.body.build(self._build_ends())
        self.built = True

    def forward(self, question_ids: Any, answer_ids: Any, answer_numbers: Any = None, training: bool = False) -> Predictions:
        """See `Transformer`."""
        ids = ops.concatenate([question_ids, answer_ids], axis=1)  # [B, S + T]
        vectors, weights, _ = self.body(self.answer_embedding(ids), padding_mask=padding_mask(ids), training=training)
        answer = ops.shape(question_ids)[1]  # where it starts
        return Predictions(self.logits(vectors[:, answer:]), weights[:, :, :, answer:, :answer], None)

    def start(self, question_ids: Any, length: int) -> Start:
        """See `Transformer`."""
        batch_size, answer = ops.shape(question_ids)
        real = padding_mask(question_ids)
        places = ops.concatenate([real, ops.ones((batch_size, length), dtype="bool")], axis=1)  # [B, S + length]
        cache = self.body.encoder.empty_cache(batch_size, answer + length)
        _, _, cache = self.body(self.answer_embedding(question_ids), padding_mask=places, cache=cache)
        state = {"cache": cache, "places": places, "answer": ops.convert_to_tensor(answer, "int32")}
        return Start(state, ops.zeros((batch_size,), dtype="float32"))

    def step(self, ids: Any, index: Any, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """See `Transformer`."""
        vectors, _, cache = self.body(
            self.answer_embedding(ids),
            padding_mask=state["places"],
            cache=state["cache"],
            start_index=state["answer"] + index,
        )
        return vectors, {**state, "cache": cache}
