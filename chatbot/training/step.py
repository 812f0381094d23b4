"""One step of training: a batch in, better weights and what was counted out."""

from __future__ import annotations

from typing import Any, Protocol

import keras
import tensorflow as tf

from chatbot.config import TrainingSettings
from chatbot.training.losses import Sums, smoothed_cross_entropy
from chatbot.training.optimizer import make_update
from chatbot.transformer.base import Transformer


class BatchStep(Protocol):
    """The arrays of a `Batch` -> what was counted."""

    def __call__(self, question_ids: Any, answer_ids: Any, target_ids: Any, answer_numbers: Any) -> Sums:
        """Takes the step."""
        ...

    def get_concrete_function(self) -> Any:
        """Builds the graph, which the first step would do otherwise."""
        ...


_IDS = tf.TensorSpec([None, None], tf.int32)
# Lengths are left open: one trace serves every width, so that batches need no padding to a common one.
_BATCH = [_IDS, _IDS, _IDS, tf.TensorSpec([None], tf.int32)]


def make_train_step(model: Transformer, optimizer: keras.optimizers.Optimizer, settings: TrainingSettings) -> BatchStep:
    """A step that changes the model, compiled."""
    smoothing = settings.label_smoothing
    update = make_update(optimizer, model.trainable_variables, settings.clip_norm)

    def train_step(question_ids: tf.Tensor, answer_ids: tf.Tensor, target_ids: tf.Tensor, answer_numbers: tf.Tensor) -> Sums:
        with tf.GradientTape() as tape:
            predictions = model.forward(question_ids, answer_ids, answer_numbers, training=True)
            sums = smoothed_cross_entropy(predictions.logits, target_ids, smoothing)
            loss = sums.loss / sums.tokens
            if predictions.answer_logits is not None:
                # Next-piece loss alone hardly teaches which answer a question wants: once the first piece is given, the
                # rest of an answer follows by itself. So the question alone must also tell the answer as a whole.
                told = smoothed_cross_entropy(predictions.answer_logits, answer_numbers, smoothing, padding_id=None)
                loss += settings.answer_loss * told.loss / told.tokens
        gradients = tape.gradient(loss, [variable.value for variable in model.trainable_variables])
        update(gradients)
        return sums

    compiled: BatchStep = tf.function(train_step, input_signature=_BATCH)
    return compiled


def make_evaluation_step(model: Transformer) -> BatchStep:
    """A step that only counts, without dropout and smoothing, compiled."""

    def evaluation_step(
        question_ids: tf.Tensor, answer_ids: tf.Tensor, target_ids: tf.Tensor, answer_numbers: tf.Tensor
    ) -> Sums:
        logits = model({"question_ids": question_ids, "answer_ids": answer_ids}, training=False)
        return smoothed_cross_entropy(logits, target_ids, 0.0)

    compiled: BatchStep = tf.function(evaluation_step, input_signature=_BATCH)
    return compiled
