"""The named sizes: counted against a formula, trained, exported and stepped once."""

from __future__ import annotations

import math
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from chatbot.answering import predict
from chatbot.artifact import KnownAnswers
from chatbot.config import ModelSettings, TextSettings, TrainingSettings
from chatbot.dataset.batches import Batches
from chatbot.dataset.encode import EncodedPairs
from chatbot.export import export
from chatbot.parameter_count import count_parameters
from chatbot.presets import PRESETS, default_preset, preset
from chatbot.text.vocabulary import SPECIAL_PIECES, Vocabulary
from chatbot.training.checkpoints import Checkpoints
from chatbot.training.loop import Trainer
from chatbot.training.plan import Plan
from chatbot.transformer.make import make_transformer
from tests.conftest import run_program

SMALL = {"hidden_dim": 16, "num_heads": 4, "head_dim": 4, "intermediate_dim": 24}
ODD = {  # what presets do not have, one by one
    "wide heads": {"head_dim": 6},
    "no output projection": {"output_projection": False},
    "no biases": {"use_bias": False},
    "no biases, separate tables": {"use_bias": False, "tie_embeddings": False},
    "shared norm": {"share_norm": True},
    "final norm behind post": {"norm": "post", "final_norm": True},
    "no final norm behind pre": {"final_norm": False},
    "no answer memory": {"answer_memory": False},
}


def trainable(model: keras.Model) -> int:
    return sum(math.prod(variable.shape) for variable in model.trainable_variables)


@pytest.mark.parametrize("name", PRESETS)
def test_parameters_of_presets_are_what_the_formula_says(name: str) -> None:
    model = make_transformer(1_000, 70, preset(name))
    assert trainable(model) == count_parameters(preset(name), 1_000, 70)


@pytest.mark.parametrize("architecture", ["encoder-decoder", "decoder-only"])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_the_formula_knows_every_setting(architecture: str, odd: dict[str, object]) -> None:
    settings = ModelSettings(**SMALL).with_architecture(architecture).replace(**odd)
    model = make_transformer(40, 7, settings)
    assert trainable(model) == count_parameters(settings, 40, 7)


def test_the_base_model_has_the_papers_size() -> None:
    assert round(count_parameters(preset("base"), 37_000, 1) / 1e6) == 63, (
        "65 million, says its table 3, of a vocabulary of about 37,000"
    )


@pytest.mark.parametrize("name", PRESETS)
def test_another_architecture_keeps_the_number_of_layers(name: str) -> None:
    settings = preset(name)
    total = settings.num_encoder_layers + settings.num_decoder_layers
    for architecture in ("decoder-only", "encoder-decoder"):
        changed = settings.with_architecture(architecture)
        assert changed.architecture == architecture
        assert changed.num_encoder_layers + changed.num_decoder_layers == total
        assert changed.with_architecture(architecture) is changed


def test_the_default_grows_with_the_data() -> None:
    assert [default_preset(number) for number in (1, 3_999, 4_000, 10**6)] == ["compact", "compact", "small", "small"]


def test_the_table_lists_every_preset_and_wants_no_other_flag() -> None:
    done = run_program("train.py", "--list-presets")
    lines = done.stdout.decode().splitlines()
    for name, settings in PRESETS.items():
        (line,) = (line for line in lines if line.split()[:1] == [name])
        assert f"{count_parameters(settings, 8_000, 5_000):,}" in line
        assert settings.architecture in line
    assert done.returncode == 0


@pytest.mark.stress
@pytest.mark.parametrize("name", PRESETS)
def test_trains_exports_and_steps(name: str, tmp_path: Path) -> None:
    """The full sizes: twenty steps on one batch with falling loss, then an export that takes a step."""
    keras.utils.set_random_seed(0)
    generator = np.random.default_rng(0)
    questions, answers = ([generator.integers(4, 2_000, 8).astype("int32") for _ in range(16)] for _ in range(2))
    pairs = EncodedPairs(questions, answers, np.zeros(16, bool), 0, np.arange(16, dtype=np.int32))
    model = make_transformer(2_000, 16, preset(name))
    settings = TrainingSettings(warmup_share=0.5)
    plan = Plan(batch_size=16, passes=20, steps_per_epoch=20, epochs=1, learning_rate=5e-4)
    trainer = Trainer(model, Batches(pairs, 16), settings, plan, Checkpoints(tmp_path / "checkpoints", print))
    batch = trainer.batches.batch(np.arange(16))
    losses = [float(sums.loss / sums.tokens) for sums in (trainer._train_step(*map(tf.constant, batch)) for _ in range(20))]
    assert losses[-1] < losses[0] - 0.1
    assert np.mean(losses[10:]) < np.mean(losses[:10])

    vocabulary = Vocabulary([*SPECIAL_PIECES, *(f"▁{number}" for number in range(4, 2_000))])
    text = TextSettings(max_question_length=8, max_answer_length=4)
    samples = [[vocabulary.pieces[index] for index in ids] for ids in questions[:3]]
    export(model, vocabulary, text, tmp_path / "export", samples, KnownAnswers(), None)
    loaded = tf.saved_model.load(str(tmp_path / "export"))
    output = loaded.signatures["serving_default"](morphemes=tf.constant(samples))
    first = [piece.decode() for piece in output["reply_morphemes"].numpy()[:, 0]]
    logits = predict(model, "chat", np.array(questions[:3]), np.array(answers[:3])).logits.numpy()[:, 0]
    logits[:, :3] = -np.inf
    expected = [vocabulary.surface(index) for index in logits.argmax(-1)]
    assert first == expected
