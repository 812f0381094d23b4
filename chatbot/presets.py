"""Named sizes. A preset holds sizes and architecture, never training settings."""

from __future__ import annotations

from chatbot.config import ModelSettings
from chatbot.errors import UserError

PRESETS: dict[str, ModelSettings] = {
    # The Korean Keras chatbot's sizes: to follow a course with, too small to remember a corpus.
    "tiny": ModelSettings(hidden_dim=16, num_heads=4, head_dim=16, intermediate_dim=64, norm="post", answer_memory=False),
    # For hundreds to a few thousand pairs.
    "compact": ModelSettings(hidden_dim=128, num_heads=4, intermediate_dim=512),
    # For a corpus of ten thousand pairs.
    "small": ModelSettings(hidden_dim=256, num_heads=8, intermediate_dim=512),
}

_COMPACT_PAIRS = 4000


def preset(name: str) -> ModelSettings:
    """The sizes of a preset.

    Raises:
        UserError: there is no such preset.
    """
    if name not in PRESETS:
        raise UserError(f"preset must be one of {', '.join(PRESETS)}, not {name!r}")
    return PRESETS[name]


def default_preset(num_pairs: int) -> str:
    """The preset that data of this size gets when none is named."""
    return "compact" if num_pairs < _COMPACT_PAIRS else "small"
