"""What a system answers to the test questions: the model here, the baselines in `baselines`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chatbot.notices import Notice
from chatbot.responder import Responder

_BATCH = 256
_CELLS = 4096
"""Pairs times pieces of a batch that is scored; each takes a row of logits over the vocabulary."""


class Likelihood(NamedTuple):
    """How probable a model finds the answer wanted.

    Attributes:
        log_probability: natural logarithm, summed over pieces and end piece.
        num_tokens: pieces and end piece.
    """

    log_probability: float
    num_tokens: int


@dataclass(frozen=True)
class Answers:
    """What one system answered, a row a question.

    Attributes:
        replies: normalised.
        is_cut: whether the reply hit the cap on its length.
        confidences: of the replies, see `Reply`; minus infinity where nothing in the question is known; None for a system
            that gives none.
        seconds: that all replies took; None where nothing is worked out.
        likelihoods: of the answers wanted, None for one that the model's pieces cannot write; None for a system that
            gives no probabilities.
    """

    replies: list[str]
    is_cut: list[bool]
    confidences: list[float] | None = None
    seconds: float | None = None
    likelihoods: list[Likelihood | None] | None = None


def model_answers(
    responder: Responder,
    questions: Sequence[str],
    answers: Sequence[str],
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Answers:
    """Asks a model every question, and how probable it finds the answers wanted.

    Args:
        responder: loaded.
        questions: normalised.
        answers: wanted, normalised, one a question.
        on_progress: called with the questions answered and their number.
    """
    responder.replies(questions[:1])  # what only the first call has to do is none of the speed
    replies = []
    began = time.monotonic()
    for start in range(0, len(questions), _BATCH):
        replies += responder.replies(questions[start : start + _BATCH])
        on_progress(len(replies), len(questions))
    seconds = time.monotonic() - began
    return Answers(
        [reply.text for reply in replies],
        [Notice.CUT_REPLY in reply.notices for reply in replies],
        [-math.inf if Notice.NOTHING_KNOWN in reply.notices else reply.confidence for reply in replies],
        seconds,
        _likelihoods(responder, questions, answers),
    )


def _likelihoods(responder: Responder, questions: Sequence[str], answers: Sequence[str]) -> list[Likelihood | None]:
    """In batches of answers about as long as each other, so that little of the work goes into padding."""
    found: dict[int, Likelihood | None] = {}
    rows = sorted(range(len(answers)), key=lambda row: len(answers[row]), reverse=True)
    while rows:
        size = max(1, _CELLS // (len(answers[rows[0]]) + 1))  # roughly a piece a character
        batch, rows = rows[:size], rows[size:]
        scored = responder.log_probabilities([questions[row] for row in batch], [answers[row] for row in batch])
        for row, logarithms in zip(batch, scored, strict=True):
            found[row] = None if logarithms is None else Likelihood(sum(logarithms), len(logarithms))
    return [found[row] for row in range(len(answers))]
