"""What every layer owes its users: config as JSON, build, shapes, weight count, a training step, precision, save and load."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from chatbot.layers.attention import MultiHeadAttention, ScaledDotProductAttention
from chatbot.layers.autoregressive_encoder import AutoregressiveEncoder
from chatbot.layers.decoder import Decoder
from chatbot.layers.encoder import Encoder
from chatbot.layers.feed_forward import FeedForward
from chatbot.layers.positional_encoding import PositionalEncoding
from chatbot.layers.residual import Residual
from chatbot.layers.token_embedding import TokenEmbedding
from chatbot.transformer.seq2seq import Seq2SeqTransformer
from tests.layers.cases import CASES, HEAD, SIZES, Case, D, H, floats

every_layer = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def shapes(output: Any) -> list[tuple[int, ...]]:
    return [tuple(tensor.shape) for tensor in tf.nest.flatten(output)]


def test_no_layer_is_left_out() -> None:
    ours = {
        name.removeprefix("chatbot>")
        for name, kind in keras.saving.get_custom_objects().items()
        if inspect.isclass(kind) and kind.__module__.startswith("chatbot.")
    }
    assert {"MultiHeadAttention", "Decoder"} <= ours
    tested = {name.split(",")[0] for name in CASES}
    layers = {
        kind.__name__
        for module in (__import__(f"chatbot.layers.{path.stem}", fromlist=["*"]) for path in _layer_files())
        for kind in vars(module).values()
        if inspect.isclass(kind) and issubclass(kind, keras.layers.Layer) and kind.__module__ == module.__name__
    } - {"Block", "Stack"}
    assert layers <= tested, "every layer has a case"
    assert layers <= ours, "every layer is registered for saving"


def _layer_files() -> list[Path]:
    import chatbot.layers

    return sorted(path for path in Path(chatbot.layers.__path__[0]).glob("*.py") if path.stem != "__init__")


@every_layer
def test_config_is_json_and_makes_the_same_layer(case: Case) -> None:
    make, inputs, _, _ = case
    layer = make()
    layer(*inputs)
    config = json.loads(json.dumps(layer.get_config()))
    again = type(layer).from_config(config)
    assert json.loads(json.dumps(again.get_config())) == config
    again(*inputs)
    again.set_weights(layer.get_weights())
    for one, other in zip(tf.nest.flatten(layer(*inputs)), tf.nest.flatten(again(*inputs)), strict=True):
        np.testing.assert_array_equal(one, other)


@every_layer
def test_shapes_and_weights(case: Case) -> None:
    make, inputs, expected, weights = case
    layer = make()
    eager = layer(*inputs)
    assert sorted(shapes(eager)) == sorted(expected)
    assert layer.count_params() == weights
    traced = tf.function(make())(*tf.nest.map_structure(tf.constant, inputs))
    assert shapes(traced) == shapes(eager)


@every_layer
def test_symbolic_call_with_unknown_lengths(case: Case) -> None:
    make, inputs, _, weights = case
    layer = make()
    # Lengths are unknown for sequences only: a weightless core in heads has its axes at other places.
    free = {1} if not isinstance(layer, ScaledDotProductAttention) else {2}

    def placeholder(array: np.ndarray) -> keras.KerasTensor:
        shape = [None if axis == 0 or axis in free else size for axis, size in enumerate(array.shape)]
        return keras.KerasTensor(shape, dtype=array.dtype.name)

    outputs = layer(*tf.nest.map_structure(placeholder, inputs))
    assert all(isinstance(output, keras.KerasTensor) for output in keras.tree.flatten(outputs))
    assert layer.count_params() == weights


@every_layer
def test_a_training_step_reaches_every_weight(case: Case) -> None:
    make, inputs, _, _ = case
    layer = make()
    arguments = {"training": True} if "training" in inspect.signature(layer.call).parameters else {}
    with tf.GradientTape() as tape:
        outputs = tf.nest.flatten(layer(*inputs, **arguments))
        if isinstance(layer, Residual) and layer.norm == "pre":
            outputs.append(layer.sublayer_input(inputs[0]))
        if isinstance(layer, Seq2SeqTransformer) and layer.settings.answer_memory:  # learns from a loss of its own
            outputs.append(layer.forward(**inputs[0], training=True).answer_logits)
        loss = sum(tf.reduce_sum(output * floats(*output.shape)) for output in outputs)
    gradients = tape.gradient(loss, [weight.value for weight in layer.trainable_weights])
    assert all(gradient is not None for gradient in gradients)
    assert all(bool(tf.reduce_any(tf.convert_to_tensor(gradient) != 0)) for gradient in gradients)


@every_layer
def test_dropout_only_in_training(case: Case) -> None:
    make, inputs, _, _ = case
    layer = make()
    once, again = tf.nest.flatten(layer(*inputs))[0], tf.nest.flatten(layer(*inputs))[0]
    np.testing.assert_array_equal(once, again)
    dropping = [part for part in layer._flatten_layers() if isinstance(part, keras.layers.Dropout) and part.rate > 0]
    if dropping:
        assert np.any(np.asarray(once) != np.asarray(tf.nest.flatten(layer(*inputs, training=True))[0]))


@every_layer
@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision(case: Case, policy: str) -> None:
    make, inputs, _, _ = case
    layer = make()
    config = layer.get_config()
    config["dtype"] = policy
    low = type(layer).from_config(config)
    half = tf.nest.flatten(low(*inputs))
    assert all(variable.dtype == "float32" for variable in low.trainable_variables)
    full = tf.nest.flatten(layer(*inputs))
    low.set_weights(layer.get_weights())
    half = tf.nest.flatten(low(*inputs))
    for one, other in zip(full, half, strict=True):
        assert np.all(np.isfinite(np.asarray(other, "float32")))
        np.testing.assert_allclose(np.asarray(other, "float32"), one, atol=0.15, rtol=0.1)
    if isinstance(layer, keras.Model):
        assert half[0].dtype == "float32", "logits are float32 whatever the layers compute in"


@pytest.mark.parametrize("name", ["Seq2SeqTransformer", "Seq2SeqTransformer, separate tables", "CausalTransformer"])
def test_save_and_load_the_whole_model(name: str, tmp_path: Path) -> None:
    make, inputs, _, _ = CASES[name]
    model = make()
    expected = model(*inputs)
    model.save(tmp_path / "model.keras")
    np.testing.assert_array_equal(keras.models.load_model(tmp_path / "model.keras")(*inputs), expected)


@pytest.mark.parametrize(
    ("make", "quoted"),
    [
        (lambda: MultiHeadAttention(0, 4), "num_heads.*received 0"),
        (lambda: MultiHeadAttention(2, -1), "head_dim.*received -1"),
        (lambda: FeedForward(0), "intermediate_dim.*received 0"),
        (lambda: Residual("both"), "'post' or 'pre'; received 'both'"),
        (lambda: TokenEmbedding(0, 4), "vocabulary_size.*received 0"),
        (lambda: Encoder(0, SIZES), "Encoder: num_layers.*received 0"),
        (lambda: Decoder(0, SIZES), "Decoder: num_layers.*received 0"),
        (lambda: MultiHeadAttention(2, 4, output_projection=False)(floats(1, 2, 6)), "2 heads of 4 .* received 6"),
        (
            lambda: AutoregressiveEncoder(1, SIZES, causal=False)(floats(1, 2, D), cache=[(floats(1, H, 2, HEAD),) * 2]),
            "causal=False.*takes no cache",
        ),
        (lambda: PositionalEncoding()(floats(1, 2, 3)), r"even last axis.*\(1, 2, 3\)"),
        (lambda: MultiHeadAttention(2, 4)(floats(1, 2, 4), floats(1, 2, 4)), "takes no memory"),
        (lambda: MultiHeadAttention(2, 4, cross_attention=True)(floats(1, 2, 4)), "memory or cache; received neither"),
    ],
)
def test_what_cannot_work_is_refused_with_the_received_value(make: Callable[[], Any], quoted: str) -> None:
    with pytest.raises(ValueError, match=quoted):
        make()
