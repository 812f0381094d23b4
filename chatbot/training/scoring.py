"""How near replies come to the answers wanted."""

from __future__ import annotations

from collections.abc import Sequence

from sacrebleu.metrics import CHRF


def chrf(replies: Sequence[str], answers: Sequence[str]) -> float:
    """Corpus chrF, 0 to 100: F-score of character n-grams. Popovic 2015 (https://aclanthology.org/W15-3049)."""
    return float(CHRF().corpus_score(list(replies), [list(answers)]).score)


def exact_share(replies: Sequence[str], answers: Sequence[str]) -> float:
    """The share of replies that equal the answer to the letter."""
    return sum(reply == answer for reply, answer in zip(replies, answers, strict=True)) / max(1, len(answers))
