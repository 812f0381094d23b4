"""All masks: boolean, True = may attend. Built here, passed to the layers, guessed by none of them."""

from __future__ import annotations

from typing import Any

from keras import ops

PADDING_ID = 0


def padding_mask(ids: Any) -> Any:
    """Where `ids` [B, L] hold a piece: bool [B, L]."""
    return ops.not_equal(ids, PADDING_ID)


def attend_to(mask: Any) -> Any:
    """Turns a padding mask of the keys [B, K] into an attention mask for every head and query: bool [B, 1, 1, K]."""
    return mask[:, None, None, :]


def causal_mask(query_length: Any, key_length: Any, start_index: Any = 0) -> Any:
    """A query may attend to its own position and those before it: bool [1, 1, T, K].

    Args:
        query_length: T, number of queries.
        key_length: K, number of keys, counted from position 0.
        start_index: position of the first query, where the queries continue a sequence.
    """
    queries = ops.arange(query_length, dtype="int32")[:, None] + ops.cast(start_index, "int32")
    keys = ops.arange(key_length, dtype="int32")[None, :]
    return ops.less_equal(keys, queries)[None, None]
