"""Drafts make an answer faster and change nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from chatbot.answering import answer
from chatbot.artifact import SAVED_MODEL
from chatbot.config import TextSettings
from chatbot.dataset.encode import decoder_target, make_pair_encoder
from chatbot.drafts import Drafts, make_drafts
from chatbot.text.normalize import WORD_START
from chatbot.text.vocabulary import END_ID
from chatbot.transformer.base import Transformer
from tests.conftest import Trained
from tests.test_transformer import LENGTH, MODELS, V, make_model, questions

ASKED = 16
NUM_ANSWERS = 16


@pytest.fixture(scope="module")
def model() -> Transformer:
    """One whose answers end, some early and some late: the later the place, the likelier is the end."""
    model = make_model(MODELS["pre-norm, answer memory"])
    take_step, logits = model.step, model.logits

    def step(ids: Any, index: Any, state: Any) -> Any:
        vectors, state = take_step(ids, index, state)
        places = tf.cast(index + tf.range(tf.shape(ids)[1]), tf.float32)
        return tf.concat([vectors, (places + tf.zeros_like(ids, tf.float32))[..., None]], axis=-1), state

    def logits_of(vectors: Any) -> Any:
        return logits(vectors[..., :-1]) + 1.5 * vectors[..., -1:] * tf.one_hot(END_ID, V)

    model.step, model.logits = step, logits_of
    return model


def drafts_of(model: Transformer, question_ids: np.ndarray, found: np.ndarray) -> list[np.ndarray]:
    """For each known answer what the model wrote to the first question that recalls it; of the others just an end."""
    recalled = model.start(question_ids, LENGTH).recalled.numpy()
    drafts = [np.array([END_ID], "int32")] * NUM_ANSWERS
    for number, ids in reversed(list(zip(recalled, found, strict=True))):
        drafts[number] = np.trim_zeros(ids, "b")
    return drafts


def assert_same(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_allclose(found.log_probability, expected.log_probability, atol=1e-4)
    np.testing.assert_allclose(found.confidence, expected.confidence, atol=1e-4)


def test_right_wrong_cut_and_longer_drafts_give_what_the_search_finds(model: Transformer) -> None:
    question_ids = questions(ASKED)
    question_ids[:5, 2:] = 0
    expected = answer(model, "chat", question_ids, LENGTH)
    right = drafts_of(model, question_ids, expected.ids.numpy())
    assert len({len(ids) for ids in right if ids[-1] == END_ID}) > 4, (
        "answers must be of many lengths for this to mean anything"
    )
    generator = np.random.default_rng(0)
    mixed = [
        (ids, ids[:-1], ids[: len(ids) // 2 + 1], np.append(ids[:-1], [7, END_ID]), generator.permutation(ids))[number % 5]
        for number, ids in enumerate(right)
    ]
    compiled = tf.function(lambda ids, drafts: answer(model, "chat", ids, LENGTH, drafts))
    for drafts in (right, mixed, right[1:] + right[:1]):
        assert_same(answer(model, "chat", question_ids, LENGTH, Drafts.of(drafts)), expected)
        assert_same(compiled(tf.constant(question_ids), Drafts.of(drafts)), expected)
        for row in range(ASKED):
            alone = answer(model, "chat", question_ids[row : row + 1], LENGTH, Drafts.of(drafts))
            np.testing.assert_array_equal(alone.ids[0], expected.ids[row])


def test_drafts_longer_than_the_model_may_write_are_searched(model: Transformer) -> None:
    question_ids = questions(ASKED)
    right = Drafts.of(drafts_of(model, question_ids, answer(model, "chat", question_ids, LENGTH).ids.numpy()))
    for length in (1, int(np.median(right.lengths)), int(max(right.lengths)) - 1):
        assert_same(answer(model, "chat", question_ids, length, right), answer(model, "chat", question_ids, length))


def test_the_drafts_of_a_corpus_are_what_is_taught_by_the_numbers_of_its_answers() -> None:
    texts = ["네", "아니요", "네", "모르겠어요 정말로", "아니요", "그럼요"]
    morphemes = [[WORD_START + word[0], *word[1:]] for word in texts]
    numbers = np.array([0, 1, 0, 2, 1, 3], "int32")
    encoder = make_pair_encoder(TextSettings(vocabulary_size=200, max_answer_length=6), morphemes, morphemes)
    pairs = encoder.encode(morphemes, morphemes, numbers)
    assert pairs.is_cut.tolist() == [False, False, False, True, False, False]
    drafts = make_drafts(encoder, morphemes, numbers)
    assert len(drafts.lengths) == 4
    for ids, target in zip(drafts.take(numbers).numpy(), zip(pairs.answer_ids, pairs.is_cut, strict=True), strict=True):
        np.testing.assert_array_equal(np.trim_zeros(ids, "b"), np.trim_zeros(decoder_target(*target), "b"))


def test_train_py_gives_its_export_the_drafts(twenty: Trained) -> None:
    """Without them it would answer the same, only later."""
    saved = saved_model_pb2.SavedModel.FromString((twenty.export / SAVED_MODEL).read_bytes())
    (meta_graph,) = saved.meta_graphs
    assert "RaggedGather" in {node.op for function in meta_graph.graph_def.library.function for node in function.node_def}


def test_confirmed_drafts_take_one_step_and_others_one_a_piece(model: Transformer, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[tuple[int, ...]] = []
    take_step = model.step

    def counted(ids: Any, index: Any, state: Any) -> Any:
        steps.append(tuple(ids.shape))
        return take_step(ids, index, state)

    monkeypatch.setattr(model, "step", counted)
    question_ids = questions(1)
    plain = answer(model, "chat", question_ids, LENGTH)
    written = len(np.trim_zeros(plain.ids.numpy()[0], "b"))
    assert steps == [(1, 1)] * written

    steps.clear()
    right = drafts_of(model, question_ids, plain.ids.numpy())
    answer(model, "chat", question_ids, LENGTH, Drafts.of(right))
    assert steps == [(1, written)]

    steps.clear()
    answer(model, "chat", question_ids, LENGTH, Drafts.of([np.append(7, ids) for ids in right]))
    assert steps == [(1, written + 1)] + [(1, 1)] * written
