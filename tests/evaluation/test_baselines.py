from __future__ import annotations

import sys

import pytest

from chatbot.dataset.corpus import read_corpus
from chatbot.errors import UserError
from chatbot.evaluation.baselines import constant_answers, retrieval_answers
from chatbot.evaluation.report import QuestionSet, make_report
from tests.conftest import SONGYS


def test_the_constant_is_the_most_frequent_answer_and_the_first_of_equals() -> None:
    assert constant_answers(["나", "가", "가"], 2).replies == ["가", "가"]
    assert constant_answers(["나", "가"], 1).replies == ["나"]


def test_retrieval_gives_the_answer_of_the_nearest_question_in_order() -> None:
    known = ["배송비 얼마예요?", "환불하고 싶어요", "영업시간 알려줘"]
    answers = ["3,000원입니다.", "마이페이지에서 하세요.", "9시부터요."]
    asked = ["영업 시간이 어떻게 되나요", "환불 되나요", "배송비요"] * 30  # more than a batch
    given = retrieval_answers(known, answers, asked)
    assert given.replies == ["9시부터요.", "마이페이지에서 하세요.", "3,000원입니다."] * 30
    assert given.is_cut == [False] * 90
    assert given.seconds is not None
    assert given.seconds > 0


def test_retrieval_answers_what_shares_no_character_with_training_and_single_signs() -> None:
    assert retrieval_answers(["안녕", "?"], ["네!", "뭐요?"], ["zzz", "?"]).replies == ["네!", "뭐요?"]


def test_without_scikit_learn_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.feature_extraction.text", None)
    with pytest.raises(UserError, match=r"pip install -r requirements-evaluate\.txt"):
        retrieval_answers(["안녕"], ["네!"], ["안녕"])


def test_retrieval_reaches_its_published_figures() -> None:
    if not SONGYS.is_dir():
        pytest.skip("the public corpus is not beside this checkout")
    training, test = read_corpus([SONGYS / "train.csv"]), read_corpus([SONGYS / "valid.csv"])
    questions = QuestionSet(test.questions, test.answers, list(test.pairs["label"]), frozenset(training.answers))
    given = retrieval_answers(training.questions, training.answers, test.questions)
    report = make_report(questions, {"retrieval": given})
    groups = {group["kind"]: (group["questions"], group["figures"]["retrieval"]) for group in report["groups"]}
    assert {kind: number for kind, (number, _) in groups.items()} == {None: 502, "paraphrase": 302, "open": 200}
    assert groups["paraphrase"][1]["chrf"] == pytest.approx(34.7, abs=0.05)
    assert groups["paraphrase"][1]["exact"] == pytest.approx(0.262, abs=0.0005)
    assert groups["open"][1]["chrf"] == pytest.approx(6.7, abs=0.05)
    assert groups["open"][1]["exact"] == 0
    assert groups[None][1]["training_answers"] == 1
