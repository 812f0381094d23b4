"""Judging a model in training by what was held out: by its replies, or as a language model by its loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chatbot.dataset.batches import Batches
from chatbot.dataset.encode import EncodedPairs
from chatbot.training.replies import Replier
from chatbot.training.scoring import chrf, exact_share
from chatbot.training.threshold import choose_threshold

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
        replies = [said.text for said in self._replier.replies(self._questions, trainer.stop_if_requested)]
        return {
            **trainer.evaluate(self._batches),
            "chrf": chrf(replies, self._answers),
            "exact": exact_share(replies, self._answers),
        }

    def score(self, figures: dict[str, float]) -> list[float]:
        """chrF, then token accuracy."""
        return [figures["chrf"], figures["accuracy"]]

    def threshold(self) -> float:
        """The confidence below which the model had better not answer, see `choose_threshold`."""
        said = self._replier.replies(self._questions)
        is_right = [each.text == answer for each, answer in zip(said, self._answers, strict=True)]
        return choose_threshold([each.confidence for each in said], is_right)


class LossSelection:
    """Loss a token on held-out lines; there is no one right way on for a line, so replies say nothing.

    Args:
        pairs: validation lines, as answers to nothing.
        num_characters: in all that is kept of them.
    """

    def __init__(self, pairs: EncodedPairs, num_characters: int) -> None:
        batches = Batches(pairs, _BATCH)
        self._batches = [batches.batch(rows) for rows in batches.order(0)]
        self._tokens_per_character = pairs.num_tokens / num_characters

    def evaluate(self, trainer: Trainer) -> dict[str, float]:
        """Returns nll (natural logarithm) and accuracy a token, and bits per character, comparable across analyzers."""
        figures = trainer.evaluate(self._batches)
        return {**figures, "bits_per_character": figures["nll"] / math.log(2) * self._tokens_per_character}

    def score(self, figures: dict[str, float]) -> list[float]:
        """The lower the loss, the better."""
        return [-figures["nll"]]
