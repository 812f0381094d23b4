"""Questions in ids -> answers in ids: the one place where model, search and special pieces meet."""

from __future__ import annotations

from typing import Any

from keras import ops

from chatbot.decoding import Decoded, greedy_search
from chatbot.text.vocabulary import END_ID, PADDING_ID, START_ID, UNKNOWN_ID
from chatbot.transformer import Seq2SeqTransformer

FORBIDDEN_IDS = (PADDING_ID, UNKNOWN_ID, START_ID)
"""What an answer can never hold; the end piece closes it."""


def answer(model: Seq2SeqTransformer, question_ids: Any, length: int) -> Decoded:
    """Answers questions int [B, S], padded behind, with at most `length` pieces, the end piece included."""
    return greedy_search(
        model.step,
        model.start(question_ids, length),
        ops.shape(question_ids)[0],
        length,
        START_ID,
        END_ID,
        PADDING_ID,
        FORBIDDEN_IDS,
        model.vocabulary_size,
    )
