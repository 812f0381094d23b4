"""How many questions a model answers, and how many of its answers are right, if it answers only when it is sure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_TENTHS = np.arange(1, 11) / 10


def coverage_rows(
    confidences: Sequence[float], is_right: Sequence[bool], threshold: float | None = None
) -> list[dict[str, Any]]:
    """A row a tenth of the questions, the surest first; and one for the model's own threshold, where it has one.

    Args:
        confidences: of the replies.
        is_right: whether each is the answer wanted, to the letter.
        threshold: below it the model withholds its reply.

    Returns:
        rows of coverage (share of questions answered), threshold (the lowest confidence among them), precision (share of
        right ones among them; None where nothing is answered) and is_own.
    """
    order = np.argsort(np.negative(confidences), kind="stable")
    sorted_confidences, right = np.array(confidences)[order], np.cumsum(np.array(is_right, dtype=bool)[order])
    counts = np.unique(np.ceil(_TENTHS * len(order)).astype(int))
    rows = [_row(count, float(sorted_confidences[count - 1]), right, is_own=False) for count in counts]
    if threshold is not None:
        rows.append(_row(int(np.sum(sorted_confidences >= threshold)), threshold, right, is_own=True))
    return sorted(rows, key=lambda row: float(row["coverage"]))


def _row(count: int, threshold: float, right: np.ndarray, is_own: bool) -> dict[str, Any]:
    precision = float(right[count - 1] / count) if count else None
    return {"coverage": count / len(right), "threshold": threshold, "precision": precision, "is_own": is_own}
