"""Cross-entropy with label smoothing, and what is counted beside it."""

from __future__ import annotations

from typing import Any, NamedTuple

from keras import ops

from chatbot.layers.masks import PADDING_ID


class Sums(NamedTuple):
    """Sums over the real tokens of a batch, float32 []; divided by `tokens` they are means.

    Attributes:
        loss: smoothed cross-entropy.
        nll: negative log-likelihood, without smoothing.
        correct: tokens whose likeliest piece is the right one.
        tokens: real (not padding) tokens.
    """

    loss: Any
    nll: Any
    correct: Any
    tokens: Any


def smoothed_cross_entropy(logits: Any, target_ids: Any, label_smoothing: float, padding_id: int | None = PADDING_ID) -> Sums:
    """Compares logits float [..., V] with targets int [...], in which `padding_id` marks what does not count.

    (1 - e) nll + e (logsumexp - mean of the logits) is the cross-entropy to a target that gives 1 - e to the
    right piece and e / V to each piece, without one-hot tensors. Szegedy et al. 2015 (https://arxiv.org/abs/1512.00567).
    """
    logits = ops.cast(logits, "float32")
    real = ops.ones_like(target_ids, "float32") if padding_id is None else ops.cast(target_ids != padding_id, "float32")
    normalizer = ops.logsumexp(logits, axis=-1)  # [B, T]
    nll = normalizer - ops.squeeze(ops.take_along_axis(logits, target_ids[..., None], axis=-1), -1)
    loss = (1 - label_smoothing) * nll + label_smoothing * (normalizer - ops.mean(logits, axis=-1))
    correct = ops.cast(ops.equal(ops.cast(ops.argmax(logits, axis=-1), "int32"), target_ids), "float32")
    return Sums(ops.sum(loss * real), ops.sum(nll * real), ops.sum(correct * real), ops.sum(real))
