"""Model and vocabulary -> one SavedModel directory that is enough to chat."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from chatbot.answering import FORBIDDEN_IDS, answer, predict
from chatbot.artifact import MANIFEST, KnownAnswers, pad_morphemes, write_extra
from chatbot.config import TextSettings
from chatbot.decoding import FORBIDDEN_LOGIT
from chatbot.drafts import Drafts
from chatbot.errors import UserError
from chatbot.storage import NO_ROOM, file_digest, replace_directory
from chatbot.text.normalize import WORD_START
from chatbot.text.vocabulary import END_ID, PADDING_ID, SPECIAL_PIECES, UNKNOWN_ID, Vocabulary
from chatbot.transformer.base import Transformer


class Serving:
    """The two functions of an export. Strings go in and out; what splits text into morphemes stays outside.

    Args:
        model: trained.
        task: "chat" or "language-model".
        vocabulary: of the model.
        max_answer_length: pieces of an answer at most, without the end piece.
        drafts: see `answering.answer`.
    """

    def __init__(
        self, model: Transformer, task: str, vocabulary: Vocabulary, max_answer_length: int, drafts: Drafts | None
    ) -> None:
        self.model = model
        self.drafts = drafts
        self.task = task
        self.reply_length = max_answer_length + 1  # the end piece
        first = len(SPECIAL_PIECES)
        pieces, ids = [*vocabulary.pieces[first:], ""], [*range(first, len(vocabulary)), PADDING_ID]
        # Special pieces cannot be looked up: whoever sends "<end>" sends an unknown morpheme.
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(tf.constant(pieces), tf.constant(ids, tf.int64)), UNKNOWN_ID
        )
        self._surfaces = [vocabulary.surface(index) for index in range(len(vocabulary))]

    def _ids(self, morphemes: tf.Tensor) -> tf.Tensor:
        return tf.cast(self.table.lookup(morphemes), tf.int32)

    def reply(self, morphemes: tf.Tensor) -> dict[str, tf.Tensor]:
        """Answers questions, or continues lines.

        Args:
            morphemes: string [B, S], padded behind with "".

        Returns:
            reply string [B], the finished sentence (of a language model the line with its continuation);
            reply_morphemes string [B, T], the pieces chosen, "" after the end; log_probability float32 [B], sum over
            them, the end piece included; confidence float32 [B], the same with the log probability of the recalled
            answer, by the number of pieces.
        """
        found = answer(self.model, self.task, self._ids(morphemes), self.reply_length, self.drafts)
        pieces = tf.gather(tf.constant(self._surfaces), found.ids)  # [B, T]
        said = pieces if self.task == "chat" else tf.concat([morphemes, pieces], axis=1)
        spaced = tf.strings.regex_replace(tf.strings.reduce_join(said, axis=1), WORD_START, " ")  # as `rejoin` does
        return {
            "reply": tf.strings.strip(spaced),
            "reply_morphemes": pieces,
            "log_probability": found.log_probability,
            "confidence": found.confidence,
        }

    def explain(self, morphemes: tf.Tensor, reply_morphemes: tf.Tensor) -> dict[str, tf.Tensor]:
        """A teacher-forced full pass over given replies.

        Args:
            morphemes: string [B, S], padded behind with "".
            reply_morphemes: string [B, T], padded behind with "".

        Returns:
            log_probabilities float32 [B, T]: of each piece; at the first "" that of the end piece, then 0.
            cross_attention float32 [B, layers, H, T, S]: weights on the question's morphemes; what a row lacks to 1
            went to the recalled answer, or in a decoder-only model to the reply itself. A language model's last
            morpheme has none of its own: it is what the first piece of the reply stands behind.
        """
        reply_ids = self._ids(reply_morphemes)  # [B, T]
        lengths = tf.reduce_sum(tf.cast(reply_ids != PADDING_ID, tf.int32), axis=1, keepdims=True)  # [B, 1]
        places = tf.range(tf.shape(reply_ids)[1])[None]  # [1, T]
        target_ids = tf.where(places == lengths, END_ID, reply_ids)
        logits, weights, _ = predict(self.model, self.task, self._ids(morphemes), reply_ids)
        # What the search can never choose has no probability here either.
        forbidden = tf.reduce_sum(tf.one_hot(FORBIDDEN_IDS, self.model.vocabulary_size, FORBIDDEN_LOGIT), axis=0)
        log_probabilities = tf.gather(tf.nn.log_softmax(logits + forbidden), target_ids, batch_dims=2)
        return {
            "log_probabilities": tf.where(places <= lengths, log_probabilities, 0.0),
            "cross_attention": weights[..., -tf.shape(morphemes)[1] :],  # without a language model's start piece
        }


def export(
    model: Transformer,
    vocabulary: Vocabulary,
    text: TextSettings,
    path: Path,
    samples: Sequence[Sequence[str]],
    known: KnownAnswers,
    drafts: Drafts | None,
) -> str:
    """Writes the export, loads it afresh, and puts it at `path` only if it answers like the live model.

    Args:
        model: trained.
        vocabulary: of the model.
        text: settings with both maximum lengths decided.
        path: where the export shall stand; what stands there is replaced.
        samples: questions in pieces, for the self-check.
        known: by what a chat can tell which replies to trust.
        drafts: see `answering.answer`.

    Returns:
        SHA-256 of the manifest, which holds the digests of all other files.

    Raises:
        UserError: the self-check failed; nothing half-written remains.
        OSError: the disk is full or not writable.
    """
    if text.max_answer_length is None or text.max_question_length is None:
        raise ValueError(f"export needs both maximum lengths; received {text}")
    serving = Serving(model, text.task, vocabulary, text.max_answer_length, drafts)
    with replace_directory(path) as beside:
        _write_saved_model(serving, beside)
        write_extra(beside, vocabulary, text, known, {"tensorflow": tf.__version__, "keras": keras.__version__})
        if not _answers_alike(serving, beside, samples):
            raise UserError(f"{path}: the export does not answer like the trained model and was not kept; please report this")
        return file_digest(beside / MANIFEST)


def _write_saved_model(serving: Serving, directory: Path) -> None:
    strings = tf.TensorSpec([None, None], tf.string, name="morphemes")
    replies = tf.TensorSpec([None, None], tf.string, name="reply_morphemes")
    archive = keras.export.ExportArchive()
    archive.track(serving.table)  # not the model: the endpoints bring their variables, and both would be saved
    archive.add_endpoint("serving_default", serving.reply, input_signature=[strings])
    archive.add_endpoint("explain", serving.explain, input_signature=[strings, replies])
    try:
        archive.write_out(str(directory), verbose=False)
    except tf.errors.OpError as error:  # TensorFlow writes the files itself, and tells what failed in words only
        number = next((number for number in NO_ROOM if os.strerror(number) in error.message), errno.EIO)
        raise OSError(number, os.strerror(number), str(directory)) from error


def _answers_alike(serving: Serving, directory: Path, samples: Sequence[Sequence[str]]) -> bool:
    """Whether the files, loaded afresh, answer what the live model answers."""
    questions = tf.constant(pad_morphemes(samples))
    live = serving.reply(questions)
    afresh = tf.saved_model.load(str(directory)).signatures["serving_default"](morphemes=questions)
    return np.array_equal(live["reply"], afresh["reply"]) and np.allclose(
        live["log_probability"], afresh["log_probability"], atol=1e-3
    )
