from __future__ import annotations

import dataclasses
from itertools import pairwise
from pathlib import Path

import pytest

from chatbot.errors import UserError
from chatbot.fallback import DEFAULT_TEXT, Fallback
from chatbot.notices import Notice
from chatbot.responder import Responder
from tests.conftest import TWENTY, Trained, run_program

KNOWN = frozenset({"네", "아니요"})


@pytest.mark.parametrize(
    ("fallback", "reply", "confidence", "is_known", "expected"),
    [
        (Fallback(), "네", -9.0, True, None),
        (Fallback(), "네", -0.1, False, Notice.NOTHING_TO_GO_BY),
        (Fallback(threshold=-0.5), "네", -0.5, True, None),
        (Fallback(threshold=-0.5), "네", -0.51, True, Notice.UNSURE),
        (Fallback(known_answers=KNOWN), "네", -9.0, True, None),
        (Fallback(known_answers=KNOWN), "글쎄요", -0.1, True, Notice.UNKNOWN_ANSWER),
        (Fallback(threshold=-0.5, known_answers=KNOWN), "글쎄요", -0.6, True, Notice.UNSURE),
    ],
)
def test_when_a_reply_is_withheld(
    fallback: Fallback, reply: str, confidence: float, is_known: bool, expected: Notice | None
) -> None:
    assert fallback.reason(reply, confidence, is_known) == expected


@pytest.fixture(scope="module")
def careful(twenty: Trained) -> Responder:
    return Responder.load(twenty.run, fallback="그건 몰라요.", only_known_answers=True)


def test_what_was_learnt_is_said(careful: Responder) -> None:
    replies = careful.replies([question for question, _ in TWENTY])
    said = [(reply.text, reply.withheld) for reply in replies if Notice.NOTHING_TO_GO_BY not in reply.notices]
    assert len(said) >= 15, "a few of so small a file have no letter that it holds twice"
    assert set(said) <= {(answer, "") for _, answer in TWENTY}


def test_a_question_of_nothing_known_gets_the_fallback(careful: Responder) -> None:
    reply = careful.reply("쿟쾍뷁")
    assert (reply.text, reply.notices[0]) == ("그건 몰라요.", Notice.NOTHING_TO_GO_BY)
    assert reply.withheld, "and what the model would have said can still be seen"
    assert careful.reply(" ").text == "", "a blank line is none of its business"


def test_an_answer_of_no_one_is_never_said(careful: Responder) -> None:
    answers = {answer for _, answer in TWENTY} | {"그건 몰라요."}
    answers_but_one = frozenset(answers - {TWENTY[0][1]})
    strict = Responder(careful.pipeline, careful._model, fallback=Fallback("그건 몰라요.", known_answers=answers_but_one))
    reply = strict.reply(TWENTY[0][0])
    assert (reply.text, reply.withheld, reply.notices) == ("그건 몰라요.", TWENTY[0][1], (Notice.UNKNOWN_ANSWER,))
    mixed = [f"{first} {second}" for (first, _), (second, _) in pairwise(TWENTY)]
    assert {reply.text for reply in careful.replies(mixed)} <= answers


def test_a_threshold_withholds_what_is_less_sure(twenty: Trained) -> None:
    plain = Responder.load(twenty.run)
    questions = [*(question for question, _ in TWENTY), "오늘 비 오면 뭐 먹지", "친구 생일에 노래"]
    replies = plain.replies(questions)
    threshold = sorted(reply.confidence for reply in replies)[3]
    careful = Responder.load(twenty.run, threshold=threshold).replies(questions)
    for before, after in zip(replies, careful, strict=True):
        assert after.confidence == pytest.approx(before.confidence, abs=1e-5)
        if Notice.NOTHING_KNOWN in before.notices:
            assert after.notices[0] == Notice.NOTHING_TO_GO_BY
        elif before.confidence >= threshold:
            assert after == dataclasses.replace(before, confidence=after.confidence, log_probability=after.log_probability)
        else:
            assert (after.text, after.withheld, after.notices[0]) == (DEFAULT_TEXT, before.text, Notice.UNSURE)


def test_confidence_is_the_log_probability_a_piece_with_what_was_recalled(twenty: Trained) -> None:
    responder = Responder.load(twenty.run)
    for question, answer in TWENTY:
        reply = responder.reply(question)
        (pieces,) = responder.log_probabilities([question], [answer])
        assert pieces is not None
        assert reply.text == answer
        recall = reply.confidence * len(pieces) - reply.log_probability
        assert -3 < recall < 0, "the log probability of the answer among the twenty"


def test_the_chat_says_so_and_why(twenty: Trained) -> None:
    done = run_program(
        "chat.py", twenty.run, "--fallback", "상담원에게 물어봐 주세요.", "--threshold", "0", stdin="안녕\n\n졸려\n".encode()
    )
    assert done.stdout.decode() == "상담원에게 물어봐 주세요.\n\n상담원에게 물어봐 주세요.\n", "nothing is that sure"
    assert done.stderr.decode().count("정해 둔 말로 대신했어요") == 2


@pytest.mark.parametrize(
    "flags", [["--threshold", "nan"], ["--threshold", "0.9"], ["--fallback", " "], ["--fallback", "\u200b"]]
)
def test_what_would_silently_do_nothing_is_refused(twenty: Trained, flags: tuple[str, str]) -> None:
    done = run_program("chat.py", twenty.run, *flags)
    assert done.returncode == 2
    (line,) = done.stderr.decode().splitlines()
    assert flags[0] in line


def test_a_language_model_has_no_fallback(tmp_path: Path, twenty: Trained) -> None:
    import json
    import shutil

    from chatbot.artifact import MANIFEST
    from chatbot.sealed import seal, unseal

    shutil.copytree(twenty.export, tmp_path / "export")
    path = tmp_path / "export" / MANIFEST
    document = unseal(json.loads(path.read_text(encoding="utf-8")))
    document["text"]["task"] = "language-model"
    path.write_text(json.dumps(seal(document)), encoding="utf-8")
    with pytest.raises(UserError, match="leave out fallback"):
        Responder.load(tmp_path / "export", fallback="몰라요")
