"""Settings -> model."""

from __future__ import annotations

from typing import Any

from chatbot.config import ModelSettings
from chatbot.transformer.base import Transformer
from chatbot.transformer.causal import CausalTransformer
from chatbot.transformer.seq2seq import Seq2SeqTransformer


def make_transformer(vocabulary_size: int, num_answers: int, settings: ModelSettings, **kwargs: Any) -> Transformer:
    """A model of the architecture that `settings` name, built."""
    model: Transformer
    if settings.architecture == "decoder-only":
        model = CausalTransformer(vocabulary_size, settings, **kwargs)
    else:
        model = Seq2SeqTransformer(vocabulary_size, num_answers, settings, **kwargs)
    model.build()
    return model
