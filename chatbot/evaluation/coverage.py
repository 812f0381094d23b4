"""How many questions a model answers, and how many of its answers are right, if it answers only when it is sure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_TENTHS = np.arange(1, 11) / 10


def coverage_rows(
    confidences: Sequence[float], is_right: Sequence[bool], threshold: float | None = None
) -> list[dict[str, Any]]:
    """A row a tenth of the questions that can be answered, the surest first; and one for the model's own threshold.

    Args:
        confidences: of the replies; minus infinity where nothing in the question is known, which is never answered.
        is_right: whether each is the answer wanted, to the letter.
        threshold: below it the model withholds its reply; None: it has none.

    Returns:
        rows of threshold, coverage (share of all questions answered at it), precision (share of right ones among them; None
        where nothing is answered) and is_own, by coverage.
    """
    sure, right = np.array(confidences), np.array(is_right, dtype=bool)
    known = np.sort(sure[np.isfinite(sure)])[::-1]
    places = np.unique(np.ceil(_TENTHS * len(known)).astype(int)) - 1
    thresholds = dict.fromkeys(float(known[place]) for place in places if place >= 0)  # equal ones once
    wanted = [(each, False) for each in thresholds] + ([(threshold, True)] if threshold is not None else [])
    rows = []
    for each, is_own in wanted:
        answered = sure >= each
        precision = float(right[answered].mean()) if answered.any() else None
        rows.append({"threshold": each, "coverage": float(answered.mean()), "precision": precision, "is_own": is_own})
    return sorted(rows, key=lambda row: float(row["coverage"]))
