from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.errors import UserError
from chatbot.text.normalize import normalize
from chatbot.text.pieces import spell
from chatbot.text.vocabulary import (
    END_ID,
    HANGUL_LETTERS,
    PADDING_ID,
    SPECIAL_PIECES,
    START_ID,
    UNKNOWN_ID,
    Vocabulary,
    build_vocabulary,
)

QUESTIONS = [["▁밥", "먹었어", "?"], ["▁밥", "▁뭐", "▁먹지", "?"], ["▁龍", "龍"], ["▁鬱"]]
ANSWERS = [["▁밥", "은", "▁먹었어요", "."], ["▁국수", "는", "▁어때요", "?"]]


def test_special_pieces_have_fixed_ids_and_no_text() -> None:
    vocabulary = build_vocabulary(QUESTIONS, ANSWERS, 200)
    assert (PADDING_ID, UNKNOWN_ID, START_ID, END_ID) == (0, 1, 2, 3)
    for index, piece in enumerate(SPECIAL_PIECES):
        assert vocabulary.pieces[index] == piece
        assert vocabulary.surface(index) == ""
        assert vocabulary.get(piece) == UNKNOWN_ID, "a user who types a special piece's name must not get its id"
        assert piece not in vocabulary


def test_what_it_always_holds() -> None:
    vocabulary = build_vocabulary(QUESTIONS, ANSWERS, 200)
    for answer in ANSWERS:
        assert all(character in vocabulary for character in "".join(answer))
    assert "龍" in vocabulary  # twice in questions
    assert "鬱" not in vocabulary  # once
    assert all(letter in vocabulary for letter in HANGUL_LETTERS)


def test_order_is_by_frequency_then_code_point() -> None:
    vocabulary = build_vocabulary(QUESTIONS, ANSWERS, 200)
    assert vocabulary.pieces[4:6] == ("?", "▁밥")
    once = [piece for piece in vocabulary.pieces if piece in ("▁먹지", "▁뭐", "▁어때요")]
    assert once == sorted(once)


def test_too_small_a_size_quotes_the_minimum() -> None:
    with pytest.raises(UserError, match=r"vocabulary_size 50 .* need (\d+)") as caught:
        build_vocabulary(QUESTIONS, ANSWERS, 50)
    minimum = int(str(caught.value).split("need ")[1].split(";")[0])
    assert len(build_vocabulary(QUESTIONS, ANSWERS, minimum)) == minimum
    with pytest.raises(UserError):
        build_vocabulary(QUESTIONS, ANSWERS, minimum - 1)


def test_rare_pieces_are_left_out() -> None:
    vocabulary = build_vocabulary(QUESTIONS, ANSWERS, 500, minimum_frequency=2)
    assert "▁밥" in vocabulary
    assert "▁먹었어요" not in vocabulary


def test_any_hangul_can_be_spelled() -> None:
    vocabulary = build_vocabulary([], [["▁네", "."]], 200)
    syllables = map(chr, range(0xAC00, 0xD7A4))
    letters = map(chr, range(0x3131, 0x3164))
    for character in (*syllables, *letters):
        spelled = spell("▁" + character, vocabulary)
        assert UNKNOWN_ID not in map(vocabulary.get, spelled), character


def test_json_round_trip_and_digest() -> None:
    vocabulary = build_vocabulary(QUESTIONS, ANSWERS, 200)
    again = Vocabulary.from_json(vocabulary.to_json())
    assert again.pieces == vocabulary.pieces
    assert again.digest == vocabulary.digest
    swapped = [*vocabulary.pieces[:-2], vocabulary.pieces[-1], vocabulary.pieces[-2]]
    assert Vocabulary(swapped).digest != vocabulary.digest


@pytest.mark.parametrize(
    "document",
    [
        "",
        "[]",
        "{",
        json.dumps({"format": 99, "pieces": [*SPECIAL_PIECES]}),
        json.dumps({"format": 1, "pieces": ["<start>", "<padding>"]}),
        json.dumps({"format": 1, "pieces": [*SPECIAL_PIECES, "가", "가"]}),
        json.dumps({"format": 1, "pieces": [*SPECIAL_PIECES, ""]}),
        json.dumps({"format": 1, "pieces": [*SPECIAL_PIECES, 7]}),
    ],
)
def test_a_damaged_document_is_refused(document: str) -> None:
    with pytest.raises(UserError, match="vocabulary"):
        Vocabulary.from_json(document)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).map(normalize).filter(bool)))
def test_every_answer_can_be_spelled(answers: list[str]) -> None:
    vocabulary = build_vocabulary([], [list("▁" + answer) for answer in answers], 1000)
    for answer in answers:
        assert UNKNOWN_ID not in map(vocabulary.get, spell("▁" + answer, vocabulary))
