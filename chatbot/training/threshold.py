"""Below which confidence a model had better not answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def choose_threshold(confidences: Sequence[float], is_right: Sequence[bool]) -> float:
    """The lowest confidence at which to answer, if a wrong answer costs as much as a right one is worth.

    Args:
        confidences: of the replies to held-out questions.
        is_right: whether each is the answer wanted, to the letter.

    Returns:
        the confidence of the last reply given when the surest are given first and right ones less wrong ones are the most
        there can be; where no number of replies is better than none, more than any of them has.
    """
    order = np.argsort(np.negative(confidences), kind="stable")
    gains = np.cumsum(np.where(np.array(is_right, dtype=bool)[order], 1, -1))
    best = int(np.argmax(gains))
    if gains[best] <= 0:
        return float(np.nextafter(np.max(confidences), np.inf))
    return float(confidences[order[best]])
