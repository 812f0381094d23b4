from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from chatbot.config import ModelSettings
from chatbot.decoding import GreedySearch
from chatbot.transformer.base import Transformer
from chatbot.transformer.make import make_transformer

V, S, T = 40, 7, 6
LENGTH = 12


PLAIN = ModelSettings(hidden_dim=16, num_heads=4, intermediate_dim=32, answer_memory=False)
SEPARATE = {"tie_embeddings": False, "scale_embeddings": False}
MODELS = {
    "C: post-norm, separate tables": PLAIN.replace(norm="post", head_dim=16, **SEPARATE),
    "B: pre-norm, no biases": PLAIN.replace(use_bias=False, zero_padding=True, tie_embeddings=False),
    "A: decoder only, post-norm, shared": PLAIN.with_architecture("decoder-only").replace(
        norm="post", output_projection=False, share_norm=True, **SEPARATE
    ),
    "decoder only, pre-norm": PLAIN.with_architecture("decoder-only"),
    "pre-norm, answer memory": PLAIN.replace(answer_memory=True),
}


def make_model(settings: ModelSettings) -> Transformer:
    tf.keras.utils.set_random_seed(0)
    model = make_transformer(V, 16, settings)
    noise = 0.6 if settings.architecture == "decoder-only" else 0.3
    for index, variable in enumerate(model.trainable_variables):  # random, so that biases and scales count
        variable.assign(variable + np.random.default_rng(index).normal(0, noise, variable.shape))
    if settings.answer_memory:  # as after training: different questions recall different answers, and these weigh
        model.answer_memory.keys.assign(20 * model.answer_memory.keys)
        model.answer_memory.values.assign(5 * model.answer_memory.values)
    return model


@pytest.fixture(scope="module", params=MODELS.values(), ids=MODELS.keys())
def model(request: pytest.FixtureRequest) -> Transformer:
    return make_model(request.param)


def questions(batch: int, length: int = S, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(4, V, (batch, length)).astype("int32")


IDS = tf.TensorSpec([None, None], tf.int32)


@functools.cache
def compiled(model: Transformer) -> tuple[Any, Any]:
    """The full pass and the search, as they are trained and exported: in a graph, of open lengths."""

    def search(question_ids: tf.Tensor) -> tf.Tensor:
        first_ids = tf.fill([tf.shape(question_ids)[0]], 2)
        return GreedySearch(3, 0, (0, 1, 2)).search(model, model.start(question_ids, LENGTH).state, first_ids, LENGTH).ids

    full_pass = tf.function(lambda q, a: model({"question_ids": q, "answer_ids": a}), input_signature=[IDS, IDS])
    return full_pass, tf.function(search, input_signature=[IDS])


def logits(model: Transformer, question_ids: np.ndarray, answer_ids: np.ndarray) -> np.ndarray:
    return compiled(model)[0](question_ids, answer_ids).numpy()


def test_causality_by_perturbation(model: Transformer) -> None:
    question_ids, answer_ids = questions(3), questions(3, T, seed=1)
    before = logits(model, question_ids, answer_ids)
    for position in range(T):
        changed = answer_ids.copy()
        changed[:, position] = (changed[:, position] - 4 + 1) % (V - 4) + 4
        after = logits(model, question_ids, changed)
        np.testing.assert_array_equal(after[:, :position], before[:, :position])
        assert np.all(np.abs(after[:, position:] - before[:, position:]).max(axis=(0, 2)) > 1e-4), "and later ones do see it"


def test_the_whole_question_is_read(model: Transformer) -> None:
    question_ids, answer_ids = questions(1), questions(1, T, seed=1)
    before = logits(model, question_ids, answer_ids)
    for position in range(S):
        changed = question_ids.copy()
        changed[:, position] = (changed[:, position] - 4 + 1) % (V - 4) + 4
        assert np.all(np.abs(logits(model, changed, answer_ids) - before).max(axis=(0, 2)) > 1e-4)


def test_order_of_the_question_matters(model: Transformer) -> None:
    question_ids, answer_ids = questions(1), questions(1, T, seed=1)
    assert np.abs(logits(model, question_ids[:, ::-1], answer_ids) - logits(model, question_ids, answer_ids)).max() > 1e-3


def test_padding_changes_nothing(model: Transformer) -> None:
    question_ids, answer_ids = questions(3), questions(3, T, seed=1)
    before = logits(model, question_ids, answer_ids)
    wide_question, wide_answer = np.pad(question_ids, ((0, 0), (0, 9))), np.pad(answer_ids, ((0, 0), (0, 5)))
    np.testing.assert_allclose(logits(model, wide_question, wide_answer)[:, :T], before, atol=1e-5)


def test_batch_mates_change_nothing(model: Transformer) -> None:
    question_ids, answer_ids = questions(4), questions(4, T, seed=1)
    question_ids[1:, 3:] = 0
    together = logits(model, question_ids, answer_ids)
    for row in range(4):
        alone = logits(model, question_ids[row : row + 1], answer_ids[row : row + 1])
        np.testing.assert_allclose(together[row], alone[0], atol=1e-5)


def test_a_row_of_padding_stays_finite(model: Transformer) -> None:
    question_ids, answer_ids = questions(2), questions(2, T, seed=1)
    question_ids[0], answer_ids[0] = 0, 0
    assert np.all(np.isfinite(logits(model, question_ids, answer_ids)))


@pytest.mark.parametrize("lengths", [[1] * T, [4, T - 4], [1, 2, T - 3], [T]])
def test_stepping_equals_the_full_pass(model: Transformer, lengths: list[int]) -> None:
    question_ids, answer_ids = questions(3), questions(3, T, seed=1)
    question_ids[0, 4:] = 0
    full = logits(model, question_ids, answer_ids)
    state, index = model.start(question_ids, T + 4).state, 0
    for length in lengths:
        vectors, state = model.step(tf.constant(answer_ids[:, index : index + length]), index, state)
        np.testing.assert_allclose(model.logits(vectors), full[:, index : index + length], atol=1e-5)
        index += length


def naive_greedy(model: Transformer, question_ids: np.ndarray, length: int = LENGTH) -> np.ndarray:
    """The tutorials' way: the whole prefix again for each piece."""
    ids = np.full((len(question_ids), 1), 2, "int32")
    for _ in range(length):
        scores = logits(model, question_ids, ids)[:, -1]
        scores[:, :3] = -np.inf
        best = scores.argmax(-1)
        ended = np.any(ids[:, 1:] == 3, axis=1) | (ids[:, -1] == 0)
        ids = np.concatenate([ids, np.where(ended, 0, best)[:, None].astype("int32")], axis=1)
    return ids[:, 1:]


def cached_greedy(model: Transformer, question_ids: np.ndarray) -> np.ndarray:
    return compiled(model)[1](question_ids).numpy()


def test_cached_greedy_equals_naive_greedy(model: Transformer) -> None:
    question_ids = questions(16)
    question_ids[:5, 2:] = 0
    found = cached_greedy(model, question_ids)
    np.testing.assert_array_equal(found, naive_greedy(model, question_ids))
    assert len(np.unique(found, axis=0)) >= 5, "the model must answer differently for this to mean anything"


def test_greedy_rows_do_not_depend_on_batch_mates(model: Transformer) -> None:
    question_ids = questions(8)
    together = cached_greedy(model, question_ids)
    for row in range(8):
        np.testing.assert_array_equal(cached_greedy(model, question_ids[row : row + 1])[0], together[row])


def test_half_of_the_questions_are_hidden_from_the_decoder_in_training_and_none_in_use() -> None:
    plain = {"dropout": 0.0, "attention_dropout": 0.0, "ngram_dropout": 0.0, "question_dropout": 0.5}
    model = make_model(MODELS["pre-norm, answer memory"].replace(**plain))
    batch, numbers = 64, np.zeros(64, "int32")
    answer_ids = np.repeat(questions(1, T, seed=1), batch, axis=0)

    def distinct(training: bool) -> int:
        logits = model.forward(questions(batch), answer_ids, numbers, training=training).logits.numpy()
        return len(np.unique(logits.round(4).reshape(batch, -1), axis=0))

    assert distinct(training=False) == batch, "each has its own question"
    assert batch / 4 < distinct(training=True) < batch * 3 / 4, "those without a question are all alike"


def test_the_right_answer_is_recalled_in_training_whatever_the_question_says() -> None:
    model = make_model(MODELS["pre-norm, answer memory"])
    memory = model.encode(questions(4), np.array([3, 1, 0, 15]))
    values = model.answer_memory.values.numpy() * model.answer_memory.value_scale
    np.testing.assert_allclose(memory.vectors[:, 0], values[[3, 1, 0, 15]], rtol=1e-6)
    likeliest = model.encode(questions(4))
    chosen = np.argmax(likeliest.answer_logits, axis=-1)
    np.testing.assert_allclose(likeliest.vectors[:, 0], values[chosen], rtol=1e-6)
    np.testing.assert_array_equal(memory.answer_logits, likeliest.answer_logits)
