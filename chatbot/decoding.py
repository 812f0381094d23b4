"""Greedy search over any model that can take one step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from keras import ops

Step = Callable[[Any, Any, Any], tuple[Any, Any]]
"""(ids int [B], index int [], state) -> (logits float32 [B, V] for the piece behind them, next state)."""

FORBIDDEN_LOGIT = -1e9


class Decoded(NamedTuple):
    """What a search found.

    Attributes:
        ids: int32 [B, T], the end piece included, padding behind it.
        log_probability: float32 [B], sum over the chosen pieces, the end piece included.
    """

    ids: Any
    log_probability: Any


def greedy_search(
    step: Step,
    state: Any,
    first_ids: Any,
    max_length: int,
    end_id: int,
    padding_id: int,
    forbidden_ids: Sequence[int],
    vocabulary_size: int,
) -> Decoded:
    """Takes the likeliest piece again and again, until every row has ended or `max_length` pieces are there.

    Buffers have a fixed size. A row that has ended is frozen: padding follows, and its log probability stays.

    Args:
        step: the model, see `Step`.
        state: what `step` needs first; any nest of tensors whose shapes do not change.
        first_ids: int [B], the piece in front of each answer.
        max_length: T, hard cap on the pieces of an answer, the end piece included.
        end_id: piece that ends an answer.
        padding_id: what stands behind the end.
        forbidden_ids: pieces that are never chosen (padding, unknown, start).
        vocabulary_size: V.
    """
    batch_size = ops.shape(first_ids)[0]
    forbidden = ops.convert_to_tensor(
        [[FORBIDDEN_LOGIT if index in set(forbidden_ids) else 0.0 for index in range(vocabulary_size)]], "float32"
    )

    def is_open(index: Any, ids: Any, ended: Any, log_probability: Any, last: Any, state: Any) -> Any:
        return ops.logical_not(ops.all(ended))

    def advance(index: Any, ids: Any, ended: Any, log_probability: Any, last: Any, state: Any) -> tuple[Any, ...]:
        logits, state = step(last, index, state)
        logits = logits + forbidden  # [B, V]
        best = ops.cast(ops.argmax(logits, axis=-1), "int32")  # [B]
        chosen = ops.take_along_axis(ops.log_softmax(logits, axis=-1), best[:, None], axis=-1)[:, 0]  # [B]
        best = ops.where(ended, padding_id, best)
        log_probability = log_probability + ops.where(ended, 0.0, chosen)
        ids = ops.slice_update(ids, (0, index), best[:, None])
        return index + 1, ids, ops.logical_or(ended, ops.equal(best, end_id)), log_probability, best, state

    first = (
        ops.convert_to_tensor(0, "int32"),
        ops.full((batch_size, max_length), padding_id, dtype="int32"),
        ops.zeros((batch_size,), dtype="bool"),
        ops.zeros((batch_size,), dtype="float32"),
        ops.cast(first_ids, "int32"),
        state,
    )
    _, ids, _, log_probability, _, _ = ops.while_loop(is_open, advance, first, maximum_iterations=max_length)
    return Decoded(ids, log_probability)
