"""The loop itself, on a tiny model in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from chatbot.answering import answer
from chatbot.config import ModelSettings, TrainingSettings
from chatbot.dataset.batches import Batches
from chatbot.dataset.encode import EncodedPairs, pad
from chatbot.errors import Interrupted, UserError
from chatbot.training.checkpoints import Checkpoints
from chatbot.training.loop import Trainer
from chatbot.training.plan import Plan
from chatbot.training.state import TrainingState
from chatbot.transformer.seq2seq import Seq2SeqTransformer
from tests.test_transformer import naive_greedy

MODEL = ModelSettings(hidden_dim=16, num_heads=2, intermediate_dim=32, num_encoder_layers=1, num_decoder_layers=1)
SETTINGS = TrainingSettings(patience=2)
V = 20


def pairs() -> EncodedPairs:
    """A question of random pieces; the answer is the same backwards."""
    generator = np.random.default_rng(0)
    questions = [generator.integers(4, V, length).astype(np.int32) for length in generator.integers(2, 5, 64)]
    return EncodedPairs(
        questions, [question[::-1] for question in questions], np.zeros(64, bool), 0, np.arange(64, dtype=np.int32)
    )


class Silent:
    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def on_step(self, state: TrainingState) -> None:
        assert state.step > 0

    def on_epoch(self, state: TrainingState, record: dict[str, Any]) -> None:
        self.records.append(record)


class Scripted:
    """Validation scores as written down beforehand."""

    def __init__(self, *scores: float) -> None:
        self.scores = list(scores)

    def evaluate(self, trainer: Trainer) -> dict[str, float]:
        return {"chrf": self.scores.pop(0), "accuracy": 0.5}

    def score(self, figures: dict[str, float]) -> list[float]:
        return [figures["chrf"], figures["accuracy"]]


def make_trainer(directory: Path, epochs: int = 3, settings: ModelSettings = MODEL, **arguments: Any) -> Trainer:
    keras.utils.set_random_seed(0)
    model = Seq2SeqTransformer(V, 64, settings, name="transformer")
    model.build()
    batches = Batches(pairs(), 8)
    plan = Plan(batch_size=8, passes=1, steps_per_epoch=len(batches), epochs=epochs, learning_rate=5e-3)
    return Trainer(model, batches, SETTINGS, plan, Checkpoints(directory, pytest.fail), **arguments)


def weights(trainer: Trainer) -> list[np.ndarray]:
    return [variable.numpy() for variable in trainer.variables]


def assert_same(one: list[np.ndarray], other: list[np.ndarray]) -> None:
    for left, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(left, right)


def test_learns_to_write_backwards(tmp_path: Path) -> None:
    settings = MODEL.replace(hidden_dim=32, dropout=0.0, attention_dropout=0.0)
    trainer, hooks = make_trainer(tmp_path, epochs=60, settings=settings), Silent()
    state = trainer.run(hooks)
    assert state.is_finished
    assert [record["epoch"] for record in hooks.records] == list(range(1, 61))
    assert hooks.records[0]["accuracy"] < 0.4
    assert hooks.records[-1]["accuracy"] > 0.95

    questions = pad(pairs().question_ids)
    found = answer(trainer.model, "chat", questions, 8).ids.numpy()
    np.testing.assert_array_equal(found, naive_greedy(trainer.model, questions, 8))
    assert len(np.unique(found, axis=0)) > 50, "after training, cached greedy still equals the full-prefix loop"


def test_two_runs_are_the_same_to_the_bit(tmp_path: Path) -> None:
    one, other = make_trainer(tmp_path / "1"), make_trainer(tmp_path / "2")
    records, again = Silent(), Silent()
    one.run(records)
    other.run(again)
    assert_same(weights(one), weights(other))
    assert records.records == again.records


@pytest.mark.parametrize(
    "stop_at", [pytest.param(1, marks=pytest.mark.stress), 5, 8, pytest.param(13, marks=pytest.mark.stress)]
)
def test_stopped_and_resumed_equals_unbroken_to_the_bit(tmp_path: Path, stop_at: int) -> None:
    unbroken = make_trainer(tmp_path / "unbroken")
    hooks = Silent()
    unbroken.run(hooks)

    first: Trainer = make_trainer(tmp_path / "broken", stop_requested=lambda: 15 if first.state.step == stop_at else None)
    begun, resumed = Silent(), Silent()
    with pytest.raises(Interrupted) as stopped:
        first.run(begun)
    assert stopped.value.signal_number == 15
    second = make_trainer(tmp_path / "broken")
    assert second.state.step == stop_at
    second.run(resumed)
    assert_same(weights(second), weights(unbroken))
    assert begun.records + resumed.records == hooks.records


def test_best_stays_best_and_patience_ends_the_run(tmp_path: Path) -> None:
    trainer, hooks = make_trainer(tmp_path, epochs=20), Silent()
    state = trainer.run(hooks, Scripted(10.0, 30.0, 20.0, 25.0, 99.0))
    assert [record["is_best"] for record in hooks.records] == [True, True, False, False]
    assert (state.best_epoch, state.best_step) == (2, 16)

    reference = make_trainer(tmp_path / "reference", epochs=20)
    reference.run(Silent(), last_step=16)
    assert_same([v.numpy() for v in trainer.model.variables], [v.numpy() for v in reference.model.variables])


def test_best_stays_best_over_a_resume(tmp_path: Path) -> None:
    first: Trainer = make_trainer(tmp_path, epochs=20, stop_requested=lambda: 2 if first.state.step == 20 else None)
    with pytest.raises(Interrupted):
        first.run(Silent(), Scripted(10.0, 30.0))
    second = make_trainer(tmp_path, epochs=20)
    hooks = Silent()
    state = second.run(hooks, Scripted(29.0, 28.0))
    assert state.best_epoch == 2
    assert not any(record["is_best"] for record in hooks.records)


def test_a_finished_training_does_nothing_more(tmp_path: Path) -> None:
    make_trainer(tmp_path).run(Silent())
    hooks = Silent()
    make_trainer(tmp_path).run(hooks)
    assert hooks.records == []


def test_last_step_ends_the_run(tmp_path: Path) -> None:
    assert make_trainer(tmp_path, epochs=20).run(Silent(), last_step=11).step == 11


@pytest.mark.parametrize(("stop_at", "named"), [(5, "step 6: the loss is nan"), (8, "step 8: .*embeddings is not finite")])
def test_what_is_no_number_keeps_the_last_good_weights(tmp_path: Path, stop_at: int, named: str) -> None:
    """In the middle of an epoch the loss shows it; at its end the weights do, before they are saved."""
    first: Trainer = make_trainer(tmp_path, stop_requested=lambda: 15 if first.state.step == stop_at else None)
    with pytest.raises(Interrupted):
        first.run(Silent())
    again = make_trainer(tmp_path)
    table = again.model.trainable_variables[0]
    table.assign(np.full(table.shape, np.nan))
    with pytest.raises(UserError, match=named):
        again.run(Silent())
    restored = make_trainer(tmp_path)
    assert restored.state.step == stop_at
    assert all(np.all(np.isfinite(variable.numpy())) for variable in restored.model.trainable_variables)
