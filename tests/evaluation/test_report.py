from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from chatbot.dataset.corpus import read_corpus
from chatbot.evaluation.answers import Answers, Likelihood
from chatbot.evaluation.leaks import without_leaks
from chatbot.evaluation.report import QuestionSet, figures, kind_rows, make_report

QUESTIONS = QuestionSet(
    questions=["가?", "나?", "다?", "라?"],
    answers=["네네", "아니요", "글쎄요", "몰라요"],
    kinds=["쉬움", "어려움", "쉬움", "어려움"],
    training_answers={"네네", "안녕"},
)
MODEL = Answers(
    replies=["네네", "안녕", "네네", ""],
    is_cut=[False, False, True, False],
    seconds=2.0,
    likelihoods=[Likelihood(2 * math.log(0.5), 2), None, Likelihood(4 * math.log(0.25), 4), Likelihood(math.log(0.125), 1)],
)


def test_figures_of_all_rows() -> None:
    found = figures(QUESTIONS, MODEL, range(4))
    assert found["exact"] == 0.25
    assert found["distinct_replies"] == 0.75
    assert found["empty"] == 0.25
    assert found["cut"] == 0.25
    assert found["endless"] == 0.25
    assert found["training_answers"] == 0.75
    assert found["answers_per_second"] == 2
    # 2 + 8 + 3 bits over 7 tokens and 2 + 3 + 3 characters; the row without a likelihood counts on neither side.
    assert found["perplexity"] == pytest.approx(2 ** (13 / 7))
    assert found["bits_per_character"] == pytest.approx(13 / 8)


def test_figures_are_those_of_the_rows_asked_for() -> None:
    easy, hard = figures(QUESTIONS, MODEL, [0, 2]), figures(QUESTIONS, MODEL, [1, 3])
    assert (easy["exact"], hard["exact"]) == (0.5, 0)
    assert (easy["cut"], hard["cut"]) == (0.5, 0)
    assert easy["bits_per_character"] == pytest.approx(10 / 5)
    assert hard["bits_per_character"] == pytest.approx(3 / 3)
    assert easy["answers_per_second"] is None, "only the whole was timed"
    assert easy["chrf"] != hard["chrf"]


def test_what_a_system_does_not_have_is_none() -> None:
    unknown = QuestionSet(QUESTIONS.questions, QUESTIONS.answers, QUESTIONS.kinds)
    found = figures(unknown, Answers(["네네"] * 4, [False] * 4), range(4))
    assert {name for name, value in found.items() if value is None} == {
        "perplexity",
        "bits_per_character",
        "training_answers",
        "answers_per_second",
    }


def test_kinds() -> None:
    assert kind_rows(["b", "a", "b", ""]) == {"b": [0, 2], "a": [1], "": [3]}
    assert kind_rows(["", ""]) == {}
    assert kind_rows(["a", "a"]) == {}
    assert len(kind_rows([str(number) for number in range(20)])) == 20
    assert kind_rows([str(number) for number in range(21)]) == {}


def test_report_is_json_with_the_whole_first_and_samples_of_every_system() -> None:
    constant = Answers(["안녕"] * 4, [False] * 4)
    report = json.loads(json.dumps(make_report(QUESTIONS, {"model": MODEL, "constant": constant}, num_samples=2)))
    assert [(group["kind"], group["questions"]) for group in report["groups"]] == [(None, 4), ("쉬움", 2), ("어려움", 2)]
    assert report["groups"][2]["figures"]["model"]["empty"] == 0.5
    assert report["groups"][0]["figures"]["constant"]["training_answers"] == 1
    assert report["answers_without_perplexity"] == 1
    assert [sample["question"] for sample in report["samples"]] == ["가?", "다?"]
    assert report["samples"][1]["replies"] == {"model": "네네", "constant": "안녕"}
    assert len(make_report(QUESTIONS, {"model": MODEL}, num_samples=9)["samples"]) == 4


def test_leaks_are_found_however_the_question_is_spelled(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("Q,A\n뭐 해?,놀아요.\nHello,네!\n")
    (tmp_path / "test.csv").write_text("Q,A,kind\n뭐해!!,쉬어요.,a\n뭐 하니,놀아요.,b\nhello?,네!,c\n")
    unseen = without_leaks(read_corpus([tmp_path / "test.csv"]), read_corpus([tmp_path / "train.csv"]))
    assert unseen.questions == ["뭐 하니"], "its answer stands in training, and that is no leak"
    assert list(unseen.pairs["label"]) == ["b"]
