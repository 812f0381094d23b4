from __future__ import annotations

import numpy as np

from chatbot.training.threshold import choose_threshold


def gain(confidences: list[float], is_right: list[bool], threshold: float) -> int:
    return sum(1 if right else -1 for each, right in zip(confidences, is_right, strict=True) if each >= threshold)


def test_no_threshold_gains_more() -> None:
    generator = np.random.default_rng(0)
    for _ in range(50):
        confidences = generator.normal(size=30).round(generator.integers(0, 3)).tolist()  # ties too
        is_right = (generator.random(30) < 0.5).tolist()
        best = gain(confidences, is_right, choose_threshold(confidences, is_right))
        assert best == max(0, *(gain(confidences, is_right, each) for each in confidences))
        threshold = choose_threshold(confidences, is_right)
        assert min(abs(each - threshold) for each in confidences) > 1e-5, "no reply stands on the border"


def test_where_every_answer_is_wrong_none_is_given() -> None:
    threshold = choose_threshold([-0.1, -0.2], [False, False])
    assert threshold > -0.1


def test_where_every_answer_is_right_all_are_given() -> None:
    assert choose_threshold([-0.1, -3.0, -0.2], [True, True, True]) < -3.0
