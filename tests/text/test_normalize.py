from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.text.normalize import WORD_START, has_visible, normalize, question_key

ANY_TEXT = st.text(st.characters(), max_size=40)  # surrogates, controls and every plane included


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("  하루가\t또\u3000가네요.\u00a0\r\n", "하루가 또 가네요."),
        ("줄\u2028바꿈\x0b과\x85칸\x1c막이", "줄 바꿈 과 칸 막이"),
        (unicodedata.normalize("NFD", "안녕하세요"), "안녕하세요"),
        ("\ufeff안\u200b녕\u2060하\u00ad세요", "안녕하세요"),
        ("\u202e거꾸로\u202c\u200f \u2066안\u2069", "거꾸로 안"),
        ("종\x07소리\x1b[31m빨강\x9f", "종소리[31m빨강"),
        ("가족 👨\u200d👩\u200d👧 ❤\ufe0f", "가족 👨\u200d👩\u200d👧 ❤\ufe0f"),
        ("반쪽\ud800 글자\udcff", "반쪽\ufffd 글자\ufffd"),
        ("낮은▁네모", "낮은_네모"),
        ("ㅋㅋㅋㅋㅋ 가네요", "ㅋㅋㅋㅋㅋ 가네요"),
        ("", ""),
        (" \t\u200b\n", ""),
    ],
)
def test_the_rule(written: str, normal: str) -> None:
    assert normalize(written) == normal


@given(ANY_TEXT)
def test_once_is_enough(text: str) -> None:
    normal = normalize(text)
    assert normalize(normal) == normal
    assert WORD_START not in normal
    assert unicodedata.is_normalized("NFC", normal)
    assert all(part and not any(map(str.isspace, part)) for part in normal.split(" ")) or normal == ""
    normal.encode()  # no lone surrogate is left


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_composed_and_decomposed_spellings_are_one(text: str) -> None:
    assert normalize(unicodedata.normalize("NFD", text)) == normalize(unicodedata.normalize("NFC", text))


def test_every_plane_of_unicode() -> None:
    everything = "".join(map(chr, range(0x110000)))
    normal = normalize(everything)
    assert normalize(normal) == normal
    dropped = {character for character in everything if normalize(character) == "" and not character.isspace()}
    assert all(unicodedata.category(character) in ("Cc", "Cf") for character in dropped)
    assert not dropped & {"\u200d", "\ufe0f", "\u200c"}


def test_key_holds_letters_and_digits_only() -> None:
    assert question_key("12시 땡!") == question_key("12시땡") == "12시땡"
    assert question_key("Hello?!") == question_key("hello")
    assert question_key("?!") == "?!"
    assert question_key("?!") != question_key("...")


@pytest.mark.parametrize("text", ["", "   ", "\u200b\u200d", "\ufe0f", "\u3164\u115f", "\u2800", "\x00\x07", "\u0301"])
def test_nothing_to_see(text: str) -> None:
    assert not has_visible(text)


@pytest.mark.parametrize("text", ["?", "가", "😀", "\ufffd", "ㅋ"])
def test_something_to_see(text: str) -> None:
    assert has_visible(text)


@given(st.text("\u0301\u0323\u0344\u0f73\u0f75\u3099a가", min_size=1, max_size=12), st.integers(200, 400))
def test_long_stacks_of_marks_are_what_nfc_makes_of_them(stack: str, times: int) -> None:
    assert normalize(stack * times) == unicodedata.normalize("NFC", stack * times)
