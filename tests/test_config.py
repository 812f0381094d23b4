from __future__ import annotations

import json

import pytest

from chatbot.config import FORMAT, PARTS, Config, ModelSettings, TextSettings, TrainingSettings
from chatbot.errors import UserError
from chatbot.presets import PRESETS, default_preset, preset


def test_json_round_trip() -> None:
    config = Config(TextSettings(vocabulary_size=300), ModelSettings(norm="pre"), TrainingSettings(epochs=3))
    assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config


@pytest.mark.parametrize("part", PARTS)
def test_an_unknown_or_missing_field_is_refused_by_name(part: str) -> None:
    document = Config().to_dict()
    document[part]["surprise"] = 1
    with pytest.raises(UserError, match="surprise"):
        Config.from_dict(document)
    document = Config().to_dict()
    name, _ = document[part].popitem()
    with pytest.raises(UserError, match=name):
        Config.from_dict(document)


def test_another_format_is_refused() -> None:
    with pytest.raises(UserError, match=f"format {FORMAT}"):
        Config.from_dict({**Config().to_dict(), "format": FORMAT + 1})
    with pytest.raises(UserError, match=f"format {FORMAT}"):
        Config.from_dict([])


@pytest.mark.parametrize(
    ("settings", "values", "named"),
    [
        (ModelSettings, {"hidden_dim": 10, "num_heads": 4}, "hidden_dim 10.*num_heads 4"),
        (ModelSettings, {"hidden_dim": 15, "num_heads": 3}, "even"),
        (ModelSettings, {"norm": "both"}, "post, pre.*'both'"),
        (ModelSettings, {"dropout": 1.0}, "dropout.*below 1"),
        (ModelSettings, {"hidden_dim": "256"}, "hidden_dim must be int.*'256'"),
        (ModelSettings, {"num_heads": True}, "num_heads must be int"),
        (TrainingSettings, {"learning_rate": float("nan")}, "learning_rate"),
        (TrainingSettings, {"epochs": 0}, "epochs must be at least 1, not 0"),
        (TrainingSettings, {"validation_split": 1.0}, "validation_split"),
        (TextSettings, {"analyzer": "mecab"}, "okt, character"),
    ],
)
def test_a_value_that_cannot_work_is_named(settings: type, values: dict[str, object], named: str) -> None:
    with pytest.raises(UserError, match=named):
        settings(**values)


def test_presets() -> None:
    assert preset("tiny").hidden_dim == 16
    assert {default_preset(n) for n in (1, 20, 3_999, 4_000, 10**6)} <= set(PRESETS)
    with pytest.raises(UserError, match=r"tiny.*'huge'"):
        preset("huge")
