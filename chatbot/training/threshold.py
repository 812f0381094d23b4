"""Below which confidence a model had better not answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_MARGIN = 1e-4
"""Confidences of one reply may differ by less than this between batches."""


def choose_threshold(confidences: Sequence[float], is_right: Sequence[bool]) -> float:
    """The confidence from which on to answer, if a wrong answer costs as much as a right one is worth.

    Args:
        confidences: of the replies to held-out questions.
        is_right: whether each is the answer wanted, to the letter.

    Returns:
        what lets through the replies, the surest first, among which right ones less wrong ones are the most there can be;
        half way to the next one, so that no reply stands on the border. Above them all where none is the best.
    """
    order = np.argsort(np.negative(confidences), kind="stable")
    surest = np.array(confidences, dtype=np.float64)[order]
    gains = np.cumsum(np.where(np.array(is_right, dtype=bool)[order], 1, -1))
    below = np.append(surest[1:], surest[-1] - 2 * _MARGIN)
    gains[surest - below <= _MARGIN] = -len(gains)  # replies that are equally sure come together or not at all
    best = int(np.argmax(gains))
    if gains[best] <= 0:
        return float(surest[0] + _MARGIN)
    return float((surest[best] + below[best]) / 2)
