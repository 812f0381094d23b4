"""Training: real pieces a second, beside KerasHub's and PyTorch's layers at the same sizes on the same pairs.

Padded: every question and answer has 40 places, as tutorials do it. Sorted: all pairs by the length of question and answer
together, cut into batches that are padded to their own longest and shuffled. Ours is the step that train.py takes, on the
batches that train.py makes. All minimise the same cross-entropy of the same pieces with dropout 0.1; ours also smooths
labels, clips the gradient and decays weights.

The limit counts what no implementation can leave out, every matrix once forward and twice backward, at the rate of a
1024-cubed float32 product timed in the same turn.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np

from benchmarks.turns import Contender, Figures
from benchmarks.workload import BATCH, SETTINGS, Workload, read_pairs
from chatbot.dataset.batches import Batches

PADDED_LENGTH = 40
LEARNING_RATE = 1e-3
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]
"""question_ids, answer_ids, target_ids"""


def our_batches(workload: Workload) -> Iterator[Arrays]:
    """What train.py makes, without end."""
    batches = Batches(workload.pairs, BATCH)
    for epoch in count():
        for batch in batches.epoch(epoch):
            yield batch.question_ids, batch.answer_ids, batch.target_ids


def their_batches(workload: Workload, is_padded: bool) -> Iterator[Arrays]:
    """Batches without end: sorted by length, or all of one length."""
    batches = Batches(workload.pairs, BATCH)
    pairs, random = workload.pairs, np.random.default_rng(0)
    lengths = [len(question) + len(answer) for question, answer in zip(pairs.question_ids, pairs.answer_ids, strict=True)]
    while True:
        order = random.permutation(len(pairs)) if is_padded else np.argsort(lengths, kind="stable")
        for start in random.permutation(len(pairs) // BATCH) * BATCH:
            batch = batches.batch(order[start : start + BATCH])
            arrays = (batch.question_ids, batch.answer_ids, batch.target_ids)
            yield tuple(map(pad_to_full_length, arrays)) if is_padded else arrays


def pad_to_full_length(ids: np.ndarray) -> np.ndarray:
    """[B, L] -> [B, 40]"""
    return np.pad(ids, ((0, 0), (0, max(0, PADDED_LENGTH - ids.shape[1]))))[:, :PADDED_LENGTH]


def count_pieces(batch: Arrays) -> int:
    """Pieces of the questions, and targets of the answers."""
    return int(np.count_nonzero(batch[0]) + np.count_nonzero(batch[2]))


def timed(step: Callable[[Arrays], Any], source: Iterator[Arrays], steps: int) -> Callable[[], Figures]:
    """A turn of some steps."""

    for _ in range(steps * 3):  # kernels are made for each new shape, and then kept
        step(next(source))

    def turn() -> Figures:
        taken = [next(source) for _ in range(steps)]
        began = time.perf_counter()
        for batch in taken:
            step(batch)
        seconds = time.perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {"pieces/s": sum(map(count_pieces, taken)) / seconds, "peak MB": peak}

    return turn


def ours(steps: int) -> Callable[[], Figures]:
    """The step of train.py."""
    import keras
    import tensorflow as tf

    from chatbot.config import TrainingSettings
    from chatbot.training.optimizer import make_optimizer
    from chatbot.training.plan import make_plan
    from chatbot.training.step import make_train_step
    from chatbot.transformer.make import make_transformer

    workload, settings = read_pairs(), TrainingSettings()
    keras.utils.set_random_seed(0)
    model = make_transformer(workload.vocabulary_size, 1, SETTINGS)
    optimizer = make_optimizer(settings, make_plan(settings, len(workload.pairs)))
    optimizer.build(model.trainable_variables)
    step = make_train_step(model, optimizer, settings)
    numbers = tf.zeros((BATCH,), tf.int32)
    return timed(lambda batch: float(step(*map(tf.constant, batch), numbers).loss), our_batches(workload), steps)


def keras_hub(steps: int, is_padded: bool) -> Callable[[], Figures]:
    """KerasHub's layers, trained by Keras."""
    import keras
    import keras_hub
    import tensorflow as tf

    workload = read_pairs()
    width, size = SETTINGS.hidden_dim, workload.vocabulary_size
    block = {"intermediate_dim": SETTINGS.intermediate_dim, "num_heads": SETTINGS.num_heads, "dropout": SETTINGS.dropout}
    question, answer = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")
    x = keras_hub.layers.TokenAndPositionEmbedding(size, 256, width)(question)
    for _ in range(SETTINGS.num_encoder_layers):
        x = keras_hub.layers.TransformerEncoder(**block)(x, padding_mask=question != 0)
    y = keras_hub.layers.TokenAndPositionEmbedding(size, 256, width)(answer)
    for _ in range(SETTINGS.num_decoder_layers):
        masks = {"decoder_padding_mask": answer != 0, "encoder_padding_mask": question != 0}
        y = keras_hub.layers.TransformerDecoder(**block)(y, x, **masks)
    model = keras.Model([question, answer], keras.layers.Dense(size)(y))
    model.compile(
        keras.optimizers.Adam(LEARNING_RATE), keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0)
    )

    def step(batch: Arrays) -> Any:
        return model.train_on_batch([tf.constant(batch[0]), tf.constant(batch[1])], tf.constant(batch[2]))

    return timed(step, their_batches(workload, is_padded), steps)


def torch_transformer(steps: int, is_padded: bool) -> Callable[[], Figures]:
    """`torch.nn.Transformer` between an embedding and an output layer."""
    import torch

    torch.manual_seed(0)
    workload = read_pairs()
    width, size = SETTINGS.hidden_dim, workload.vocabulary_size
    embedding, places = torch.nn.Embedding(size, width), torch.nn.Embedding(256, width)
    body = torch.nn.Transformer(
        width,
        SETTINGS.num_heads,
        SETTINGS.num_encoder_layers,
        SETTINGS.num_decoder_layers,
        SETTINGS.intermediate_dim,
        SETTINGS.dropout,
        batch_first=True,
    )
    output = torch.nn.Linear(width, size)
    loss_of = torch.nn.CrossEntropyLoss(ignore_index=0)
    optimizer = torch.optim.Adam([*embedding.parameters(), *places.parameters(), *body.parameters(), *output.parameters()])

    def step(batch: Arrays) -> Any:
        question, answer, target = (torch.from_numpy(ids).long() for ids in batch)
        causal = torch.nn.Transformer.generate_square_subsequent_mask(answer.shape[1], dtype=torch.bool)
        vectors = [embedding(ids) + places(torch.arange(ids.shape[1])) for ids in (question, answer)]
        masks = {
            "src_key_padding_mask": question == 0,
            "memory_key_padding_mask": question == 0,
            "tgt_key_padding_mask": answer == 0,
        }
        logits = output(body(*vectors, tgt_mask=causal, tgt_is_causal=True, **masks))
        loss = loss_of(logits.flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return timed(step, their_batches(workload, is_padded), steps)


def limit() -> Callable[[], Figures]:
    """Pieces a second if nothing but the matrix products took time."""
    import tensorflow as tf

    workload = read_pairs()
    width, inner = SETTINGS.hidden_dim, SETTINGS.intermediate_dim
    encoder = SETTINGS.num_encoder_layers * (4 * width * width + 2 * width * inner)
    decoder = SETTINGS.num_decoder_layers * (6 * width * width + 2 * width * inner) + width * workload.vocabulary_size
    memory = SETTINGS.num_decoder_layers * 2 * width * width  # keys and values of the question's places
    questions = sum(map(len, workload.pairs.question_ids))
    answers = sum(map(len, workload.pairs.answer_ids)) + len(workload.pairs)
    flops = 6 * (questions * (encoder + memory) + answers * decoder) / (questions + answers)
    matrix = tf.random.normal((1024, 1024))
    product = tf.function(lambda: tf.matmul(matrix, matrix))

    def turn() -> Figures:
        product()
        began = time.perf_counter()
        for _ in range(20):
            product()
        rate = 20 * 2 * 1024**3 / (time.perf_counter() - began)
        return {"pieces/s": rate / flops, "GFLOP/s": rate / 1e9, "MFLOP a piece": flops / 1e6}

    return turn


CONTENDERS: dict[str, tuple[Contender, dict[str, Any]]] = {
    "ours": (ours, {"steps": 12}),
    "keras_hub, sorted": (keras_hub, {"steps": 12, "is_padded": False}),
    "torch, sorted": (torch_transformer, {"steps": 12, "is_padded": False}),
    "keras_hub, padded": (keras_hub, {"steps": 3, "is_padded": True}),
    "torch, padded": (torch_transformer, {"steps": 3, "is_padded": True}),
    "limit": (limit, {}),
}
