"""Greedy search on scripted logits: it knows no model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from chatbot import decoding
from chatbot.decoding import Decoded, GreedySearch

PADDING, UNKNOWN, START, END, A, B_, C = range(7)
V = 7
GREEDY = GreedySearch(END, PADDING, (PADDING, UNKNOWN, START))


class Writing:
    """A model whose vectors are its logits."""

    def __init__(self, step: Callable[[Any, Any, Any], tuple[Any, Any]]) -> None:
        self.step = step

    def logits(self, vectors: Any) -> Any:
        return vectors


def search(script: list[list[int]], max_length: int, second_best: int | None = None) -> tuple[Decoded, list[Any]]:
    """Row r of `script` holds the pieces that the model wants in row r, one a step."""
    seen: list[Any] = []
    wanted = tf.constant(script, tf.int32)  # [B, steps]

    def step(ids: Any, index: Any, state: Any) -> tuple[Any, Any]:
        seen.append(ids[:, 0].numpy().tolist())
        logits = 5.0 * tf.one_hot(wanted[:, tf.minimum(index, wanted.shape[1] - 1)], V)
        if second_best is not None:
            logits += 3.0 * tf.one_hot(second_best, V)
        return logits[:, None], state + 1

    return GREEDY.search(Writing(step), tf.constant(0), tf.fill([len(script)], START), max_length), seen


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
    def run() -> Decoded:
        return GREEDY.search(Writing(by_place), tf.constant(0), tf.fill([3], START), 9)

    eager, traced = run(), tf.function(run)()
    np.testing.assert_array_equal(eager.ids, traced.ids)
    np.testing.assert_allclose(eager.log_probability, traced.log_probability, rtol=1e-5)


def by_place(ids: Any, index: Any, state: Any) -> tuple[Any, Any]:
    """Logits that depend on the piece before and on the place, in one step or in many."""
    logits = tf.random.stateless_normal((20, V, V), (1, 2)) * 3
    places = index + tf.range(tf.shape(ids)[1])
    return tf.gather_nd(logits, tf.stack([tf.broadcast_to(places, tf.shape(ids)), ids], axis=-1)), state


def test_a_draft_is_confirmed_if_and_only_if_the_search_finds_it() -> None:
    firsts = [A, B_, C]
    found = GREEDY.search(Writing(by_place), tf.constant(0), tf.constant(firsts), 20)
    answers = [np.trim_zeros(row, "b").tolist() for row in found.ids.numpy()]
    assert [len(answer) > 1 and answer[-1] == END for answer in answers] == [True] * 3
    tried = 0
    for first, answer, log_probability in zip(firsts, answers, found.log_probability.numpy(), strict=True):
        others = [[*answer[:place], other, *answer[place + 1 :]] for place in range(len(answer)) for other in range(1, V)]
        others += [answer[:place] for place in range(1, len(answer))] + [[*answer[:-1], A, END]]
        for draft in [answer, *others]:
            padded = tf.constant([draft + [PADDING] * (len(answer) + 2 - len(draft))])
            (ids, score), is_confirmed = GREEDY.confirm(Writing(by_place), tf.constant(0), tf.constant([first]), padded)
            assert bool(is_confirmed[0]) == (draft == answer), (first, answer, draft)
            if draft == answer:
                np.testing.assert_array_equal(ids, padded)
                np.testing.assert_allclose(score, [log_probability], rtol=1e-5)
            tried += 1
    assert tried > 40


@pytest.mark.parametrize(("wanted", "is_one"), [(UNKNOWN, False), (START, False), (A, True)])
def test_a_draft_that_no_search_could_write_is_never_confirmed(wanted: int, is_one: bool) -> None:
    def step(ids: Any, index: Any, state: Any) -> tuple[Any, Any]:
        return 9.0 * tf.one_hot([[wanted, END]], V), state

    _, is_confirmed = GREEDY.confirm(Writing(step), tf.constant(0), tf.constant([START]), tf.constant([[wanted, END]]))
    assert bool(is_confirmed[0]) == is_one


@pytest.mark.parametrize("rows", [0, 1, 3, 40])
def test_many_places_are_judged_in_parts_and_alike(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    firsts = tf.constant(np.random.default_rng(0).choice([A, B_, C], rows), tf.int32)
    found = GREEDY.search(Writing(by_place), tf.constant(0), firsts, 20)
    drafts = found.ids.numpy()
    drafts[3::4, 0] = np.where(drafts[3::4, 0] == A, B_, A)
    drafts = tf.constant(drafts)
    whole = GREEDY.confirm(Writing(by_place), tf.constant(0), firsts, drafts)
    monkeypatch.setattr(decoding, "_PLACES_AT_ONCE", 7)
    parts = GREEDY.confirm(Writing(by_place), tf.constant(0), firsts, drafts)
    np.testing.assert_array_equal(parts[1], whole[1])
    assert parts[1].numpy().tolist() == [row % 4 != 3 for row in range(rows)]
    np.testing.assert_allclose(parts[0].log_probability, whole[0].log_probability, rtol=1e-5)
