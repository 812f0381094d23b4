"""Judging a model in training by its replies to questions that were held out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chatbot.dataset.batches import Batches
from chatbot.dataset.encode import EncodedPairs
from chatbot.training.replies import Replier
from chatbot.training.scoring import chrf, exact_share

if TYPE_CHECKING:
    from chatbot.training.loop import Trainer

_MOST_REPLIES = 500
_BATCH = 64


class ReplySelection:
    """Greedy replies to validation questions, scored by chrF; loss and accuracy are recorded beside it.

    Validation loss turns up long before replies stop getting better, so it selects nothing.

    Args:
        pairs: validation pairs; replies are made for the first 500.
        answers: their texts.
        replier: of the model in training.
    """

    def __init__(self, pairs: EncodedPairs, answers: Sequence[str], replier: Replier) -> None:
        batches = Batches(pairs, _BATCH)
        self._batches = [batches.batch(rows) for rows in batches.order(0)]
        self._questions = pairs.question_ids[:_MOST_REPLIES]
        self._answers = answers[:_MOST_REPLIES]
        self._replier = replier

    def evaluate(self, trainer: Trainer) -> dict[str, float]:
        """Returns nll and accuracy a token, chrf and exact of the replies."""
        replies = self._replier.replies(self._questions)
        return {
            **trainer.evaluate(self._batches),
            "chrf": chrf(replies, self._answers),
            "exact": exact_share(replies, self._answers),
        }
