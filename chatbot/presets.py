"""Named sizes. A preset holds sizes and architecture, never training settings."""

from __future__ import annotations

from chatbot.config import ModelSettings
from chatbot.errors import UserError

PRESETS: dict[str, ModelSettings] = {
    # System C, the Korean Keras chatbot: to follow a course with, too small to remember a corpus. Keras' own epsilon.
    "tiny": ModelSettings(
        norm="post",
        hidden_dim=16,
        num_heads=4,
        head_dim=16,
        intermediate_dim=64,
        answer_memory=False,
        dropout=0.0,
        attention_dropout=0.0,
        tie_embeddings=False,
        scale_embeddings=False,
        epsilon=1e-3,
    ),
    # For hundreds to a few thousand pairs.
    "compact": ModelSettings(hidden_dim=128, num_heads=4, intermediate_dim=512, ngram_buckets=8192),
    # For a corpus of ten thousand pairs.
    "small": ModelSettings(hidden_dim=256, num_heads=8, intermediate_dim=512),
    # System B, the pre-norm encoder-decoder.
    "base-pre-norm": ModelSettings(
        hidden_dim=512,
        num_heads=8,
        num_encoder_layers=4,
        num_decoder_layers=4,
        intermediate_dim=2048,
        answer_memory=False,
        feed_forward_dropout=0.1,
        tie_embeddings=False,
        zero_padding=True,
        use_bias=False,
    ),
    # System A, the autoregressive encoder. PyTorch's epsilon.
    "base-decoder-only": ModelSettings(
        architecture="decoder-only",
        norm="post",
        hidden_dim=512,
        num_heads=8,
        num_encoder_layers=0,
        num_decoder_layers=6,
        intermediate_dim=1024,
        answer_memory=False,
        attention_dropout=0.0,
        tie_embeddings=False,
        scale_embeddings=False,
        output_projection=False,
        share_norm=True,
        epsilon=1e-5,
    ),
    # The base model of Vaswani et al. 2017 (https://arxiv.org/abs/1706.03762).
    "base": ModelSettings(
        norm="post",
        hidden_dim=512,
        num_heads=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        intermediate_dim=2048,
        answer_memory=False,
        attention_dropout=0.0,
    ),
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
