"""Greedy search on scripted logits: it knows no model."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from chatbot.decoding import Decoded, greedy_search

PADDING, UNKNOWN, START, END, A, B_, C = range(7)
V = 7


def search(script: list[list[int]], max_length: int, second_best: int | None = None) -> tuple[Decoded, list[Any]]:
    """Row r of `script` holds the pieces that the model wants in row r, one a step."""
    seen: list[Any] = []
    wanted = tf.constant(script, tf.int32)  # [B, steps]

    def step(ids: Any, index: Any, state: Any) -> tuple[Any, Any]:
        seen.append(ids.numpy().tolist())
        logits = 5.0 * tf.one_hot(wanted[:, tf.minimum(index, wanted.shape[1] - 1)], V)
        if second_best is not None:
            logits += 3.0 * tf.one_hot(second_best, V)
        return logits, state + 1

    first_ids = tf.fill([len(script)], START)
    return greedy_search(step, tf.constant(0), first_ids, max_length, END, PADDING, (PADDING, UNKNOWN, START), V), seen


def test_each_step_reads_the_piece_before() -> None:
    found, seen = search([[A, B_, END]], 5)
    assert found.ids.numpy().tolist() == [[A, B_, END, PADDING, PADDING]]
    assert seen == [[START], [A], [B_]], "and it stops when the row has ended"


def test_ended_rows_are_frozen_while_others_go_on() -> None:
    found, seen = search([[A, END, C, C], [A, B_, C, END]], 6)
    assert found.ids.numpy().tolist() == [[A, END, 0, 0, 0, 0], [A, B_, C, END, 0, 0]]
    assert len(seen) == 4
    alone, _ = search([[A, END]], 6)
    np.testing.assert_allclose(found.log_probability[0], alone.log_probability[0], atol=1e-6)


def test_log_probability_sums_the_chosen_pieces_and_the_end() -> None:
    found, _ = search([[A, END]], 6)
    allowed = V - 3
    each = 5.0 - np.log(np.exp(5.0) + allowed - 1)
    np.testing.assert_allclose(found.log_probability, [2 * each], atol=1e-5)


def test_the_length_is_capped() -> None:
    found, seen = search([[A] * 50], 4)
    assert found.ids.numpy().tolist() == [[A] * 4]
    assert len(seen) == 4


def test_padding_unknown_and_start_are_never_chosen() -> None:
    for forbidden in (PADDING, UNKNOWN, START):
        found, _ = search([[forbidden] * 3], 3, second_best=C)
        assert found.ids.numpy().tolist() == [[C, C, C]]


def test_eager_and_traced_agree() -> None:
    table = tf.random.stateless_normal((V, V), (1, 2)) * 3

    def step(ids: Any, index: Any, state: Any) -> tuple[Any, Any]:
        return tf.gather(table, ids) + 0.1 * tf.cast(index, tf.float32), state

    def run() -> Decoded:
        return greedy_search(step, tf.constant(0), tf.fill([3], START), 9, END, PADDING, (PADDING, UNKNOWN, START), V)

    eager, traced = run(), tf.function(run)()
    np.testing.assert_array_equal(eager.ids, traced.ids)
    np.testing.assert_allclose(eager.log_probability, traced.log_probability, rtol=1e-5)
