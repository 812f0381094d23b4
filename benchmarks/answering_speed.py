"""Answering: the decode of an export beside CTranslate2's with the same weights, one question and 256 at a time.

Questions of 6 pieces, exactly 8 pieces out: the weights are random, and the end piece can never be chosen. Ours is the
search that an export runs, without the tables that turn strings to ids and back; "full prefix" is what tutorials write, a
pass over the whole answer for each next piece. Before anything is timed, all must find the same ids.

"Ours along drafts" is what a model with an answer memory does, which no peer has: the same sizes and the memory of 5,000
answers besides, the last of its 8 pieces the end, and of 50 questions one whose answer is not the recalled one.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.turns import Contender, Figures
from benchmarks.workload import SETTINGS, VOCABULARY_SIZE

QUESTION, ANSWER = 6, 8
START_ID, END_ID, FIRST_ID = 2, 3, 5
Answer = Callable[[np.ndarray], np.ndarray]
"""question_ids [B, 6] -> answer ids [B, 8]"""


def make_model(num_answers: int = 0) -> Any:
    """Random weights, the same in every process; with answers, an answer memory of them."""
    import keras

    from chatbot.transformer.make import make_transformer

    keras.utils.set_random_seed(0)
    model = make_transformer(VOCABULARY_SIZE, num_answers or 1, SETTINGS.replace(answer_memory=num_answers > 0))
    for variable in model.trainable_variables:  # as they come, they say the same piece again and again
        variable.assign_add(keras.random.normal(variable.shape, stddev=0.1))
    return model


def questions(batch: int) -> np.ndarray:
    """The same in every process."""
    return np.random.default_rng(0).integers(FIRST_ID, VOCABULARY_SIZE, (batch, QUESTION)).astype(np.int32)


def timed(answer: Answer, batch: int, answers: int) -> Callable[[], Figures]:
    """A turn of some answers, one after the other."""
    asked = questions(batch)
    signature = float(np.sum(answer(asked) * np.arange(1, ANSWER + 1)))
    answer(asked)

    def turn() -> Figures:
        seconds = []
        for _ in range(answers):
            began = time.perf_counter()
            answer(asked)
            seconds.append(time.perf_counter() - began)
        median, late = np.percentile(seconds, (50, 95))
        if batch == 1:
            return {"p50 ms": median * 1e3, "p95 ms": late * 1e3, "ids": signature}
        return {"pieces/s": batch * ANSWER / median, "ids": signature}

    return turn


def _search(compiled: bool) -> Answer:
    import tensorflow as tf

    from chatbot.answering import FORBIDDEN_IDS
    from chatbot.decoding import GreedySearch

    model = make_model()
    endless = GreedySearch(-1, 0, (*FORBIDDEN_IDS, END_ID))

    def answer(question_ids: Any) -> Any:
        state = model.start(question_ids, ANSWER).state
        return endless.search(model, state, tf.fill([tf.shape(question_ids)[0]], START_ID), ANSWER).ids

    shape = [1, QUESTION] if compiled else [None, None]
    traced = tf.function(answer, input_signature=[tf.TensorSpec(shape, tf.int32)], jit_compile=compiled or None)
    return lambda question_ids: np.asarray(traced(tf.constant(question_ids)))


def ours(batch: int, answers: int) -> Callable[[], Figures]:
    """The search of an export; for one question on one thread, as chat.py runs it."""
    _set_threads(batch)
    return timed(_search(False), batch, answers)


def _set_threads(batch: int) -> None:
    if batch == 1:
        os.environ.update(TF_NUM_INTRAOP_THREADS="1", TF_NUM_INTEROP_THREADS="1")


class _Recalling(NamedTuple):
    """A model that recalls answer n to the n-th question, and ends each answer with its last piece."""

    model: Any

    def start(self, question_ids: Any, length: int) -> Any:
        import tensorflow as tf

        return self.model.start(question_ids, length)._replace(recalled=tf.range(tf.shape(question_ids)[0]))

    def step(self, ids: Any, index: Any, state: Any) -> Any:
        import tensorflow as tf

        vectors, state = self.model.step(ids, index, state)
        is_last = tf.equal(index + tf.range(tf.shape(ids)[1]), ANSWER - 1)
        lift = tf.where(is_last, 1e6, -1e6) + tf.zeros_like(ids, tf.float32)  # [B, L]
        return tf.concat([vectors, lift[..., None]], axis=-1), state

    def logits(self, vectors: Any) -> Any:
        import tensorflow as tf

        return self.model.logits(vectors[..., :-1]) + vectors[..., -1:] * tf.one_hot(END_ID, VOCABULARY_SIZE)


def ours_along_drafts(batch: int, answers: int) -> Callable[[], Figures]:
    """The search of an export whose model has an answer memory."""
    _set_threads(batch)
    import tensorflow as tf

    from chatbot.answering import answer
    from chatbot.drafts import Drafts

    model: Any = _Recalling(make_model(num_answers=5_000))
    found = answer(model, "chat", tf.constant(questions(batch)), ANSWER).ids.numpy()
    drafts = Drafts.of([np.roll(ids, int(row % 50 == 49)) for row, ids in enumerate(found)])
    traced = tf.function(
        lambda ids: answer(model, "chat", ids, ANSWER, drafts).ids, input_signature=[tf.TensorSpec([None, None], tf.int32)]
    )
    np.testing.assert_array_equal(traced(tf.constant(questions(batch))), found)
    return timed(lambda question_ids: np.asarray(traced(tf.constant(question_ids))), batch, answers)


def ours_compiled(batch: int, answers: int) -> Callable[[], Figures]:
    """The same search through XLA, of this one shape."""
    return timed(_search(True), batch, answers)


def full_prefix(batch: int, answers: int) -> Callable[[], Figures]:
    """As tutorials do it: call the model on all that is written so far, take the last place, again."""
    import tensorflow as tf

    model = make_model()

    def answer(question_ids: np.ndarray) -> np.ndarray:
        ids = tf.fill([len(question_ids), 1], START_ID)
        for _ in range(ANSWER):
            logits = model({"question_ids": tf.constant(question_ids), "answer_ids": ids})[:, -1, FIRST_ID - 1 :]
            best = tf.argmax(logits, axis=-1, output_type=tf.int32)[:, None] + FIRST_ID - 1
            ids = tf.concat([ids, best], axis=1)
        return np.asarray(ids[:, 1:])

    return timed(answer, batch, answers)


def ctranslate2(batch: int, answers: int, compute_type: str) -> Callable[[], Figures]:
    """CTranslate2 with our weights."""
    import ctranslate2 as peer

    directory = tempfile.mkdtemp()
    to_peer(make_model(), directory)
    translator = peer.Translator(directory, compute_type=compute_type, inter_threads=1)

    def answer(question_ids: np.ndarray) -> np.ndarray:
        found = translator.translate_batch(
            [[str(number) for number in row] for row in question_ids.tolist()],
            beam_size=1,
            max_decoding_length=ANSWER,
            min_decoding_length=ANSWER,
            suppress_sequences=[[str(number)] for number in range(FIRST_ID - 1)],
        )
        return np.array([[int(piece) for piece in each.hypotheses[0]] for each in found])

    return timed(answer, batch, answers)


def to_peer(model: Any, directory: str) -> None:
    """Writes the weights as a CTranslate2 model."""
    from ctranslate2.specs import TransformerSpec

    spec = TransformerSpec.from_config((SETTINGS.num_encoder_layers, SETTINGS.num_decoder_layers), SETTINGS.num_heads)
    spec.config.layer_norm_epsilon = SETTINGS.epsilon
    spec.config.add_source_eos = spec.config.add_source_bos = False
    spec.config.decoder_start_token = str(START_ID)
    spec.config.unk_token, spec.config.eos_token, spec.config.bos_token = "1", "3", str(START_ID)
    tokens = [str(number) for number in range(VOCABULARY_SIZE)]
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)

    table = model.answer_embedding.table.embeddings.numpy()
    spec.encoder.embeddings[0].weight = spec.decoder.embeddings.weight = spec.decoder.projection.weight = table
    places = model.positional_encoding(np.zeros((1, 64, SETTINGS.hidden_dim), np.float32)).numpy()[0]
    spec.encoder.position_encodings.encodings = spec.decoder.position_encodings.encodings = places
    copy_norm(spec.encoder.layer_norm, model.encoder.final_normalization)
    copy_norm(spec.decoder.layer_norm, model.decoder.final_normalization)
    layers = [*model.encoder.layers, *model.decoder.layers]
    for theirs, layer in zip([*spec.encoder.layer, *spec.decoder.layer], layers, strict=True):
        copy_attention(theirs.self_attention, layer.self_attention, layer.self_attention_residual)
        if hasattr(theirs, "attention"):
            copy_attention(theirs.attention, layer.cross_attention, layer.cross_attention_residual)
        copy_norm(theirs.ffn.layer_norm, layer.feed_forward_residual.normalization)
        copy_dense(theirs.ffn.linear_0, layer.feed_forward.expand)
        copy_dense(theirs.ffn.linear_1, layer.feed_forward.contract)
    spec.validate()
    spec.save(directory)


def copy_norm(theirs: Any, ours: Any) -> None:
    theirs.gamma, theirs.beta = ours.gamma.numpy(), ours.beta.numpy()


def copy_dense(theirs: Any, ours: Any) -> None:
    """They multiply by the transpose: [out, in]."""
    theirs.weight, theirs.bias = np.ascontiguousarray(ours.kernel.numpy().T), ours.bias.numpy()


def copy_attention(theirs: Any, ours: Any, residual: Any) -> None:
    """Both fuse the projections in the order query, key, value."""
    copy_norm(theirs.layer_norm, residual.normalization)
    projections = [ours.query_projection, ours.memory_projection] if ours.cross_attention else [ours.self_projection]
    for linear, dense in zip(theirs.linear, [*projections, ours.output_projection], strict=True):
        copy_dense(linear, dense)


def contenders(batch: int, answers: int) -> dict[str, tuple[Contender, dict[str, Any]]]:
    sizes = {"batch": batch, "answers": answers}
    peers: dict[str, tuple[Contender, dict[str, Any]]] = {
        "ours": (ours, sizes),
        "ours along drafts": (ours_along_drafts, sizes),
        "ctranslate2, float32": (ctranslate2, {**sizes, "compute_type": "float32"}),
        "ctranslate2, int8": (ctranslate2, {**sizes, "compute_type": "int8"}),
    }
    if batch == 1:
        peers["ours through XLA"] = (ours_compiled, sizes)
        peers["full prefix"] = (full_prefix, {**sizes, "answers": 5})
    return peers
