"""Questions in ids -> answers in ids: the one place where model, search, task and special pieces meet."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf
from keras import ops

from chatbot.decoding import Decoded, GreedySearch, Writer
from chatbot.drafts import Drafts
from chatbot.text.vocabulary import END_ID, PADDING_ID, START_ID, UNKNOWN_ID
from chatbot.transformer.base import Predictions, Start, Transformer

FORBIDDEN_IDS = (PADDING_ID, UNKNOWN_ID, START_ID)
"""What an answer can never hold; the end piece closes it."""

SEARCH = GreedySearch(END_ID, PADDING_ID, FORBIDDEN_IDS)


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


def answer(model: Transformer, task: str, ids: Any, length: int, drafts: Drafts | None = None) -> Answered:
    """Answers questions (or continues lines), int [B, S] padded behind, with at most `length` pieces, end piece included.

    Args:
        drafts: the known answers of a model with an answer memory, which most often writes the one that it recalls; None
            of any other. They make it faster, and change nothing else.
    """
    prompt = make_prompt(task, ids)
    start = model.start(prompt.question_ids, length)
    if drafts is None:
        found = SEARCH.search(model, start.state, prompt.first_ids, length)
    else:
        found = search_along(drafts, model, start, prompt.first_ids, length)
    num_pieces = ops.sum(ops.cast(found.ids != PADDING_ID, "float32"), axis=1)
    return Answered(found.ids, found.log_probability, (found.log_probability + start.recall) / num_pieces)


def search_along(drafts: Drafts, writer: Writer, start: Start, first_ids: Any, length: int) -> Decoded:
    """What the greedy search finds: the recalled answers where they are it, read in one step; only the rest is searched.

    Args:
        start: of a model with an answer memory.
        The others: see `GreedySearch.search`.
    """
    draft_ids = drafts.take(start.recalled)[:, :length]  # what is longer than the model may write has no end then
    confirmed, is_confirmed = SEARCH.confirm(writer, start.state, first_ids, draft_ids)
    rest = tf.where(tf.logical_not(is_confirmed))  # [R, 1]
    state = tf.nest.map_structure(lambda rows: tf.gather_nd(rows, rest), start.state)
    searched = SEARCH.search(writer, state, tf.gather_nd(first_ids, rest), length)
    ids = tf.pad(confirmed.ids, [[0, 0], [0, length - tf.shape(draft_ids)[1]]], constant_values=PADDING_ID)
    return Decoded(
        tf.tensor_scatter_nd_update(ids, rest, searched.ids),
        tf.tensor_scatter_nd_update(confirmed.log_probability, rest, searched.log_probability),
    )


def predict(model: Transformer, task: str, ids: Any, answer_ids: Any) -> Predictions:
    """A full pass over given answers, int [B, T] padded behind: what the model expects at each of their places."""
    prompt = make_prompt(task, ids)
    return model.forward(prompt.question_ids, ops.concatenate([prompt.first_ids[:, None], answer_ids[:, :-1]], axis=1))
