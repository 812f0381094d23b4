"""Questions in ids -> answers in ids: the one place where model, search, task and special pieces meet."""

from __future__ import annotations

from typing import Any, NamedTuple

from keras import ops

from chatbot.decoding import greedy_search
from chatbot.text.vocabulary import END_ID, PADDING_ID, START_ID, UNKNOWN_ID
from chatbot.transformer.base import Predictions, Transformer

FORBIDDEN_IDS = (PADDING_ID, UNKNOWN_ID, START_ID)
"""What an answer can never hold; the end piece closes it."""


class Prompt(NamedTuple):
    """What a model reads before it writes.

    Attributes:
        question_ids: int [B, S], padded behind.
        first_ids: int [B], the piece that the first new one stands behind.
    """

    question_ids: Any
    first_ids: Any


def make_prompt(task: str, ids: Any) -> Prompt:
    """What the text that a user gave, int [B, S] padded behind, becomes.

    A question is read whole, and the answer begins behind the start piece. A language model has learnt lines that
    begin with the start piece: it reads that and the line but for its last piece, which the next one stands behind.
    """
    starts = ops.full((ops.shape(ids)[0], 1), START_ID, dtype="int32")
    if task == "chat":
        return Prompt(ids, starts[:, 0])
    line = ops.concatenate([starts, ids], axis=1)  # [B, 1 + S]
    last = ops.sum(ops.cast(ids != PADDING_ID, "int32"), axis=1, keepdims=True)  # [B, 1], its place
    is_last = ops.equal(ops.arange(ops.shape(line)[1])[None], last)
    return Prompt(ops.where(is_last, PADDING_ID, line), ops.take_along_axis(line, last, axis=1)[:, 0])


class Answered(NamedTuple):
    """What a model answers.

    Attributes:
        ids: int32 [B, T], the end piece included, padding behind it.
        log_probability: float32 [B], sum over the chosen pieces, the end piece included.
        confidence: float32 [B], the same with the log probability of the recalled answer, by the number of pieces.
    """

    ids: Any
    log_probability: Any
    confidence: Any


def answer(model: Transformer, task: str, ids: Any, length: int) -> Answered:
    """Answers questions (or continues lines), int [B, S] padded behind, with at most `length` pieces, end piece included."""
    prompt = make_prompt(task, ids)
    start = model.start(prompt.question_ids, length)
    found = greedy_search(
        model.step, start.state, prompt.first_ids, length, END_ID, PADDING_ID, FORBIDDEN_IDS, model.vocabulary_size
    )
    num_pieces = ops.sum(ops.cast(found.ids != PADDING_ID, "float32"), axis=1)
    return Answered(found.ids, found.log_probability, (found.log_probability + start.recall) / num_pieces)


def predict(model: Transformer, task: str, ids: Any, answer_ids: Any) -> Predictions:
    """A full pass over given answers, int [B, T] padded behind: what the model expects at each of their places."""
    prompt = make_prompt(task, ids)
    return model.forward(prompt.question_ids, ops.concatenate([prompt.first_ids[:, None], answer_ids[:, :-1]], axis=1))
