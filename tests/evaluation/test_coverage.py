from __future__ import annotations

import math

import pytest

from chatbot.evaluation.coverage import coverage_rows


def test_the_surest_answers_first() -> None:
    confidences = [-float(number) for number in range(1, 21)]
    rows = coverage_rows(confidences, [number < 10 for number in range(20)])
    assert [row["coverage"] for row in rows] == [number / 10 for number in range(1, 11)]
    assert [row["precision"] for row in rows[:5]] == [1.0] * 5
    assert rows[-1]["precision"] == 0.5
    assert rows[2]["threshold"] == -6.0


def test_equally_sure_answers_come_together() -> None:
    (row,) = coverage_rows([-1.0, -1.0, -1.0], [True, False, False])
    assert (row["coverage"], row["precision"]) == (1.0, pytest.approx(1 / 3))


def test_a_question_of_nothing_known_is_never_answered() -> None:
    rows = coverage_rows([-1.0, -float("inf")], [True, False], threshold=-9.0)
    assert {row["coverage"] for row in rows} == {0.5}
    assert all(math.isfinite(row["threshold"]) for row in rows), "JSON knows no infinity"
    assert coverage_rows([-float("inf")], [False]) == []


def test_the_models_own_threshold_stands_among_them() -> None:
    rows = coverage_rows([-1.0, -2.0, -3.0, -4.0], [True, False, True, False], threshold=-2.5)
    (own,) = (row for row in rows if row["is_own"])
    assert (own["coverage"], own["precision"], own["threshold"]) == (0.5, 0.5, -2.5)
    assert [row["coverage"] for row in rows] == sorted(row["coverage"] for row in rows)


def test_a_threshold_above_all_answers_nothing() -> None:
    (own,) = (row for row in coverage_rows([-1.0], [True], threshold=0.0) if row["is_own"])
    assert (own["coverage"], own["precision"]) == (0.0, None)
