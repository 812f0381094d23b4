"""Cross-entropy with label smoothing, and what is counted beside it."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf
from keras import ops

from chatbot.layers.masks import PADDING_ID


class Sums(NamedTuple):
    """Sums over the real tokens of a batch, float32 []; divided by `tokens` they are means.

    Attributes:
        loss: smoothed cross-entropy.
        nll: negative log-likelihood, without smoothing.
        correct: tokens for which no piece is likelier than the right one.
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
    logits = ops.reshape(ops.cast(logits, "float32"), (-1, logits.shape[-1]))  # [N, V]
    targets = ops.reshape(ops.cast(target_ids, "int32"), (-1,))  # [N]
    real = ops.ones_like(targets, "float32") if padding_id is None else ops.cast(targets != padding_id, "float32")
    loss, nll, correct = _each_token(logits, targets, label_smoothing)
    return Sums(ops.sum(loss * real), ops.sum(nll * real), ops.sum(correct * real), ops.sum(real))


def _each_token(logits: Any, targets: Any, label_smoothing: float) -> tuple[Any, Any, Any]:
    """Smoothed loss, nll and whether the likeliest is the right one: logits [N, V], targets [N] -> float32 [N] each.

    The loss alone has a gradient: p - e / V, less 1 - e at the right piece. It is written here, since logits are by far
    the largest tensor of a step, and the gradient that TensorFlow derives goes over them several times more.
    """

    @tf.custom_gradient
    def forward(logits: Any) -> Any:
        probabilities = ops.softmax(logits, axis=-1)
        top = ops.max(logits, axis=-1)
        right = ops.take_along_axis(logits, targets[:, None], axis=-1)[:, 0]
        # logsumexp; the likeliest of V has at least 1 / V, so this logarithm is never that of 0.
        nll = top - ops.log(ops.max(probabilities, axis=-1)) - right
        loss = nll + label_smoothing * (right - ops.mean(logits, axis=-1))

        def backward(of_loss: Any, *of_others: Any) -> Any:
            slopes = (probabilities - label_smoothing / logits.shape[-1]) * of_loss[:, None]
            places = ops.stack([ops.arange(ops.shape(targets)[0]), targets], axis=1)  # [N, 2]
            return ops.scatter_update(slopes, places, (label_smoothing - 1) * of_loss, reduction="add")

        return (loss, nll, ops.cast(right >= top, "float32")), backward

    loss, nll, correct = forward(logits)
    return loss, nll, correct
