"""Greedy search over any model that can take a step, piece by piece or along a draft."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import tensorflow as tf
from keras import ops


class Writer(Protocol):
    """As much of a model as a search needs."""

    def step(self, ids: Any, index: Any, state: Any) -> tuple[Any, Any]:
        """(ids int [B, L], position of the first int [], state) -> (vectors [B, L, D], next state)."""
        ...

    def logits(self, vectors: Any) -> Any:
        """Vectors [..., D] -> float32 [..., V], of the pieces behind."""
        ...


FORBIDDEN_LOGIT = -1e9
_PLACES_AT_ONCE = 1_024
"""Of drafts: logits are V to a place, 32 MB for these at 8,000 pieces, and there may be thousands of places."""


class Decoded(NamedTuple):
    """What a search found.

    Attributes:
        ids: int32 [B, T], the end piece included, padding behind it.
        log_probability: float32 [B], sum over the chosen pieces, the end piece included.
    """

    ids: Any
    log_probability: Any


@dataclass(frozen=True)
class GreedySearch:
    """The likeliest piece, again and again.

    Attributes:
        end_id: piece that ends an answer.
        padding_id: what stands behind the end.
        forbidden_ids: pieces that are never chosen (padding, unknown, start).
    """

    end_id: int
    padding_id: int
    forbidden_ids: tuple[int, ...]

    def search(self, writer: Writer, state: Any, first_ids: Any, max_length: int) -> Decoded:
        """Takes a step for each piece, until every row has ended or `max_length` pieces are there.

        Buffers have a fixed size. A row that has ended is frozen: padding follows, and its log probability stays.

        Args:
            writer: the model.
            state: what its `step` needs first; any nest of tensors whose shapes do not change.
            first_ids: int [B], the piece in front of each answer.
            max_length: T, hard cap on the pieces of an answer, the end piece included.
        """
        batch_size = ops.shape(first_ids)[0]

        def is_open(index: Any, ids: Any, ended: Any, log_probability: Any, last: Any, state: Any) -> Any:
            return ops.logical_not(ops.all(ended))

        def advance(index: Any, ids: Any, ended: Any, log_probability: Any, last: Any, state: Any) -> tuple[Any, ...]:
            vectors, state = writer.step(last[:, None], index, state)
            best, chosen = self._choose(writer.logits(vectors[:, 0]))
            best = ops.where(ended, self.padding_id, best)
            log_probability = log_probability + ops.where(ended, 0.0, chosen)
            ids = ops.slice_update(ids, (0, index), best[:, None])
            ended = ops.logical_or(ended, ops.equal(best, self.end_id))
            return index + 1, ids, ended, log_probability, best, state

        start = (
            ops.convert_to_tensor(0, "int32"),
            ops.full((batch_size, max_length), self.padding_id, dtype="int32"),
            ops.zeros((batch_size,), dtype="bool"),
            ops.zeros((batch_size,), dtype="float32"),
            ops.cast(first_ids, "int32"),
            state,
        )
        _, ids, _, log_probability, _, _ = ops.while_loop(is_open, advance, start, maximum_iterations=max_length)
        return Decoded(ids, log_probability)

    def confirm(self, writer: Writer, state: Any, first_ids: Any, draft_ids: Any) -> tuple[Decoded, Any]:
        """Reads guesses of whole answers in one step, and tells which of them `search` would have found.

        The piece that the model wants at a place is the one of the search as long as all before it are, so a draft that it
        wants at every place is what the search writes.

        Args:
            draft_ids: int [B, T], padded behind; one without an end piece is never confirmed.
            The others: see `search`.

        Returns:
            the drafts, with a log probability that holds where they are confirmed; is_confirmed bool [B].

        Source: after Stern et al. 2018, blockwise parallel decoding (https://arxiv.org/abs/1811.03115).
        """
        read_ids = ops.concatenate([first_ids[:, None], draft_ids[:, :-1]], axis=1)
        vectors, _ = writer.step(read_ids, 0, state)
        places = tf.where(draft_ids != self.padding_id)  # [P, 2], all but the padding: logits are most of the work
        best, chosen = self._choose_in_parts(writer, tf.gather_nd(vectors, places))  # [P]
        batch_size = tf.shape(draft_ids, tf.int64)[0]
        is_refused = ops.cast(best != tf.gather_nd(draft_ids, places), "int32")
        num_refused = tf.math.unsorted_segment_sum(is_refused, places[:, 0], batch_size)  # [B]
        log_probability = tf.math.unsorted_segment_sum(chosen, places[:, 0], batch_size)
        has_end = ops.any(ops.equal(draft_ids, self.end_id), axis=1)
        return Decoded(draft_ids, log_probability), ops.logical_and(ops.equal(num_refused, 0), has_end)

    def _choose_in_parts(self, writer: Writer, vectors: Any) -> tuple[Any, Any]:
        """`_choose` for vectors [P, D] of any number, in parts that fit into memory."""
        num_places = tf.shape(vectors)[0]

        def choose_more(start: Any, best: Any, chosen: Any) -> tuple[Any, Any, Any]:
            more = self._choose(writer.logits(vectors[start : start + _PLACES_AT_ONCE]))
            return start + _PLACES_AT_ONCE, tf.concat([best, more[0]], 0), tf.concat([chosen, more[1]], 0)

        growing = tf.TensorShape([None])
        _, best, chosen = tf.while_loop(
            lambda start, best, chosen: start < num_places,
            choose_more,
            (0, tf.zeros([0], tf.int32), tf.zeros([0])),
            shape_invariants=(tf.TensorShape([]), growing, growing),
        )
        return best, chosen

    def _choose(self, logits: Any) -> tuple[Any, Any]:
        """[..., V] -> the likeliest allowed piece, int32 [...], and its log probability among those allowed."""
        forbidden = np.zeros(logits.shape[-1], dtype=np.float32)
        forbidden[list(self.forbidden_ids)] = FORBIDDEN_LOGIT
        logits = logits + forbidden
        best = tf.argmax(logits, axis=-1, output_type="int32")  # that of Keras goes over the logits four times
        return best, ops.log(ops.max(ops.softmax(logits, axis=-1), axis=-1))
