"""System A's claim, measured: its simplified encoder against the framework's own decoder-only blocks.

    python -m benchmarks.autoregressive_claim            2 blocks of width 256
    python -m benchmarks.autoregressive_claim --full     the original's 6 blocks of width 512

Both models read the lines of the bundled small talk character by character: the same sizes, the same batches in the same
order, the same optimizer (the original's: Adam 1e-4, 40 lines a step, 20 epochs). Printed are mean and spread over the
seeds of the lowest validation loss a token. Theirs is a stack of `keras_hub.layers.TransformerDecoder` without
cross-attention, post-norm, between the same embedding, positions and output as ours.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np
import tensorflow as tf

from chatbot.config import ModelSettings, TextSettings
from chatbot.dataset.batches import Batches
from chatbot.dataset.corpus import read_corpus
from chatbot.dataset.encode import EncodedPairs, make_pair_encoder
from chatbot.layers.masks import padding_mask
from chatbot.layers.positional_encoding import PositionalEncoding
from chatbot.presets import preset
from chatbot.text.analyzer import CharacterAnalyzer
from chatbot.text.pipeline import analyze
from chatbot.training.losses import smoothed_cross_entropy
from chatbot.transformer.causal import CausalTransformer

DATA = Path(__file__).resolve().parent.parent / "data" / "smalltalk.csv"
REDUCED = {"hidden_dim": 256, "num_heads": 4, "num_decoder_layers": 2, "intermediate_dim": 512}
LEARNING_RATE, LINES_A_STEP = 1e-4, 40

Logits = Callable[[Any, bool], Any]
"""(ids int [B, T], training) -> logits float32 [B, T, V]"""


class Lines(NamedTuple):
    """The text, split and encoded."""

    train: EncodedPairs
    validation: EncodedPairs
    vocabulary_size: int


def read_lines() -> Lines:
    """Every question and answer of the small talk as a line; a tenth is held out."""
    corpus = read_corpus([DATA])
    texts = list(dict.fromkeys([*corpus.questions, *corpus.answers]))
    order = np.random.default_rng(0).permutation(len(texts))
    morphemes = analyze([texts[row] for row in order], CharacterAnalyzer())
    held_out = len(texts) // 10
    train, validation = morphemes[held_out:], morphemes[:held_out]
    settings = TextSettings(task="language-model", analyzer="character")
    encoder = make_pair_encoder(settings, [[]] * len(train), train)
    return Lines(
        encoder.encode([[]] * len(train), train, np.zeros(len(train), np.int32)),
        encoder.encode([[]] * len(validation), validation, np.zeros(len(validation), np.int32)),
        len(encoder.vocabulary),
    )


def ours(settings: ModelSettings, vocabulary_size: int) -> tuple[Logits, list[Any]]:
    """System A."""
    model = CausalTransformer(vocabulary_size, settings)
    model.build()
    return lambda ids, training: model.forward(ids[:, :0], ids, training=training).logits, model.trainable_variables


def theirs(settings: ModelSettings, vocabulary_size: int) -> tuple[Logits, list[Any]]:
    """KerasHub's blocks at the same sizes."""
    from keras_hub.layers import TransformerDecoder

    width = settings.hidden_dim
    embedding = keras.layers.Embedding(vocabulary_size, width, keras.initializers.RandomNormal(stddev=1.0))
    positions, dropout = PositionalEncoding(), keras.layers.Dropout(settings.dropout)
    blocks = [
        TransformerDecoder(
            settings.intermediate_dim,
            settings.num_heads,
            dropout=settings.dropout,
            activation="relu",
            layer_norm_epsilon=settings.epsilon,
        )
        for _ in range(settings.num_decoder_layers)
    ]
    output = keras.layers.Dense(vocabulary_size)

    def logits(ids: Any, training: bool) -> Any:
        x = dropout(positions(embedding(ids)), training=training)
        for block in blocks:
            x = block(x, decoder_padding_mask=padding_mask(ids), training=training)
        return output(x)

    logits(tf.zeros((1, 2), tf.int32), False)
    layers = [embedding, *blocks, output]
    return logits, [variable for layer in layers for variable in layer.trainable_variables]


def train(logits: Logits, variables: list[Any], lines: Lines, epochs: int, seed: int) -> float:
    """Trains and returns the lowest validation loss a token."""
    optimizer = keras.optimizers.Adam(LEARNING_RATE)
    optimizer.build(variables)
    ids = tf.TensorSpec([None, None], tf.int32)

    @tf.function(input_signature=[ids, ids])
    def step(inputs: Any, targets: Any) -> None:
        with tf.GradientTape() as tape:
            sums = smoothed_cross_entropy(logits(inputs, True), targets, 0.0)
            loss = sums.loss / sums.tokens
        optimizer.apply(tape.gradient(loss, [variable.value for variable in variables]), variables)

    @tf.function(input_signature=[ids, ids])
    def score(inputs: Any, targets: Any) -> Any:
        sums = smoothed_cross_entropy(logits(inputs, False), targets, 0.0)
        return sums.nll, sums.tokens

    batches, held_out = Batches(lines.train, LINES_A_STEP, seed=seed), Batches(lines.validation, 20)
    lowest = float("inf")
    for epoch in range(epochs):
        for batch in batches.epoch(epoch):
            step(batch.answer_ids, batch.target_ids)
        scores = [score(batch.answer_ids, batch.target_ids) for batch in held_out.epoch(0)]
        lowest = min(lowest, sum(float(nll) for nll, _ in scores) / sum(float(tokens) for _, tokens in scores))
    return lowest


def main() -> None:
    """Runs both, seed by seed, and prints what came out."""
    parser = argparse.ArgumentParser(description="System A against the framework's own transformer blocks.")
    parser.add_argument("--full", action="store_true", help="the original's sizes (an hour and more)")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    settings = preset("base-decoder-only").replace(**({} if arguments.full else REDUCED))
    lines = read_lines()
    print(f"{len(lines.train):,} lines to train on, {len(lines.validation):,} held out, {lines.vocabulary_size:,} pieces")
    print(f"{settings.num_decoder_layers} blocks of width {settings.hidden_dim}, {arguments.epochs} epochs", flush=True)
    losses: dict[str, list[float]] = {"ours": [], "keras_hub": []}
    for seed in range(arguments.seeds):
        for name, make in (("ours", ours), ("keras_hub", theirs)):
            keras.utils.set_random_seed(seed)
            logits, variables = make(settings, lines.vocabulary_size)
            began = time.monotonic()
            losses[name].append(train(logits, variables, lines, arguments.epochs, seed))
            count = sum(int(np.prod(variable.shape)) for variable in variables)
            seconds = time.monotonic() - began
            print(f"seed {seed}, {name}: {losses[name][-1]:.4f} ({count:,} parameters, {seconds:.0f} s)", flush=True)
    for name, values in losses.items():
        spread = max(values) - min(values)
        print(f"{name}: mean {statistics.mean(values):.4f}, spread {spread:.4f} (from {min(values):.4f} to {max(values):.4f})")


if __name__ == "__main__":
    main()
