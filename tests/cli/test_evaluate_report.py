from __future__ import annotations

import pytest

from chatbot.cli.evaluate_report import print_tables
from chatbot.evaluation.answers import Answers
from chatbot.evaluation.report import QuestionSet, make_report
from chatbot.training.scoring import chrf


def test_many_kinds_get_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    kinds = [f"kind {number}" for number in range(10)] * 2
    replies = ["네네"] * 10 + ["아니요"] * 10
    systems = {name: Answers(replies, [False] * 20) for name in ("model", "retrieval", "constant")}
    print_tables(make_report(QuestionSet(["가?"] * 20, ["네네"] * 20, kinds), systems))
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    score = f"{chrf(['네네', '아니요'], ['네네', '네네']):.1f}"
    assert f"kind 7 2 0.500 / 0.500 / 0.500 {score} / {score} / {score}" in lines
    assert sum(line.startswith("kind ") for line in lines) == 11, "a header and ten kinds"
    assert lines[-1] == "All figures by kind: --json"
    assert not any("perplexity" in line for line in lines), "a figure that nobody has gets no line"
