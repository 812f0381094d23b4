"""When a bot had better say that it does not know."""

from __future__ import annotations

from dataclasses import dataclass

from chatbot.notices import Notice

DEFAULT_TEXT = "죄송해요, 그건 제가 잘 모르겠어요."


@dataclass(frozen=True)
class Fallback:
    """What is said instead of a reply, and when.

    Attributes:
        text: said instead.
        threshold: replies of less confidence are withheld, see `answering.Answered`; None: of none.
        known_answers: replies that are none of these are withheld; None: any may be said.
    """

    text: str = DEFAULT_TEXT
    threshold: float | None = None
    known_answers: frozenset[str] | None = None

    def reason(self, reply: str, confidence: float, is_known: bool) -> Notice | None:
        """Why a reply is withheld; None where it is not.

        Args:
            reply: what the model says.
            confidence: of the model.
            is_known: whether anything in the question was seen in training.
        """
        if not is_known:
            return Notice.NOTHING_TO_GO_BY
        if self.threshold is not None and confidence < self.threshold:
            return Notice.UNSURE
        if self.known_answers is not None and reply not in self.known_answers:
            return Notice.UNKNOWN_ANSWER
        return None
