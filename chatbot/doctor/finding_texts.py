"""The doctor's sentences, in English and Korean."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How bad a finding is; only information leaves the exit code at 0."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"


class Text(NamedTuple):
    """A finding's severity and its sentence: {count} a number, {rows} and {questions} a number with its noun."""

    severity: Severity
    en: str
    ko: str

    def sentence(self, language: str) -> str:
        """The sentence with its blanks, in `language` (en, ko)."""
        return self.ko if language == "ko" else self.en


def counted(count: int, language: str) -> dict[str, str]:
    """What the sentences' blanks for a count are filled with."""
    if language == "ko":
        return {"count": f"{count:,}", "rows": f"{count:,}행", "questions": f"질문 {count:,}개", "answers": f"답 {count:,}개"}
    return {
        "count": f"{count:,}",
        **{f"{noun}s": f"{count:,} {noun}{'' if count == 1 else 's'}" for noun in ("row", "question", "answer")},
    }


_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFORMATION

TEXTS: dict[str, Text] = {
    "no_pairs": Text(
        _E,
        "No question and answer pair is left to train on.",
        "학습할 질문과 답이 하나도 없습니다.",
    ),
    "too_many_cells": Text(
        _E,
        "{rows} with more cells than the header; skipped. Put a cell that holds the delimiter in quotes.",
        "{rows}의 칸이 머리글보다 많아 건너뜁니다. 쉼표 같은 구분 문자가 든 칸은 따옴표로 묶어 주세요.",
    ),
    "too_few_cells": Text(
        _E,
        "{rows} without a cell for the question or the answer; skipped.",
        "{rows}에 질문 칸이나 답 칸이 없어 건너뜁니다.",
    ),
    "vocabulary_too_small": Text(
        _E,
        "Training would refuse this data: {message}.",
        "글자 종류가 너무 많아 학습이 거부됩니다: {message}.",
    ),
    "blank_question": Text(
        _W,
        "{rows} whose question is blank or holds only invisible characters; skipped.",
        "{rows}의 질문이 비었거나 보이지 않는 문자뿐이라 건너뜁니다.",
    ),
    "blank_answer": Text(
        _W,
        "{rows} whose answer is blank or holds only invisible characters; skipped.",
        "{rows}의 답이 비었거나 보이지 않는 문자뿐이라 건너뜁니다.",
    ),
    "contradictions": Text(
        _W,
        "{questions} with more than one answer: the bot can learn only one of them. Choose one.",
        "{questions}에 서로 다른 답이 둘 이상 있습니다. 챗봇은 그중 하나만 배울 수 있으니 하나를 골라 주세요.",
    ),
    "frequent_answer": Text(
        _W,
        "{answers} on more than 5 % of the pairs each; the most frequent, on {share:.1%}: “{answer}”. "
        "The bot will say it all the time.",
        "{answers}가 저마다 전체의 5 %를 넘습니다. 가장 잦은 답({share:.1%}): “{answer}”. 챗봇이 이 말만 되풀이하게 됩니다.",
    ),
    "exact_repeats": Text(
        _W,
        "{rows} repeat an earlier pair word for word; training drops them.",
        "{rows}이 앞의 질문·답과 똑같아 학습에서 빠집니다.",
    ),
    "near_repeats": Text(
        _W,
        "{rows} repeat an earlier pair when only letters and digits are kept; training keeps them.",
        "{rows}이 글자와 숫자만 보면 앞의 질문·답과 같습니다. 학습에는 그대로 쓰입니다.",
    ),
    "cut_questions": Text(
        _W,
        "{questions} longer than {length} pieces, whose end is cut{where}.",
        "{questions}가 {length}조각보다 길어 뒷부분이 잘립니다{where_ko}.",
    ),
    "cut_answers": Text(
        _W,
        "{answers} longer than {length} pieces, whose end is cut{where}: the bot will stop in the middle of them.",
        "{answers}가 {length}조각보다 길어 뒷부분이 잘립니다{where_ko}. 챗봇의 대답도 중간에서 끊깁니다.",
    ),
    "spelled_words": Text(
        _W,
        "{share:.1%} of the words in questions held out of the training would be spelled letter by letter{where}: "
        "many are seen once or never.",
        "학습에서 뺀 질문의 낱말 가운데 {share:.1%}를 한 글자씩 읽게 됩니다{where_ko}. 한 번 나오거나 처음 보는 말이 많습니다.",
    ),
    "lost_characters": Text(
        _W,
        "{rows} with U+FFFD, the mark of characters lost in an earlier conversion; mend them at their origin.",
        "{rows}에 이전 변환에서 깨진 글자(U+FFFD)가 있습니다. 원본에서 고쳐 주세요.",
    ),
    "nfd": Text(
        _W,
        "{rows} with letters written in parts (NFD, as macOS does); training puts them together, other programs may not.",
        "{rows}에 자모로 풀어 쓴 글자(NFD, macOS 방식)가 있습니다. 학습할 때는 모아 쓰지만 다른 프로그램은 아닐 수 있습니다.",
    ),
    "control_characters": Text(
        _W,
        "{rows} with control characters; training drops them.",
        "{rows}에 제어 문자가 있습니다. 학습할 때는 지웁니다.",
    ),
    "invisible_characters": Text(
        _W,
        "{rows} with invisible characters (zero width, soft hyphens, writing direction); training drops them.",
        "{rows}에 보이지 않는 문자(너비 없는 공백, 쓰기 방향 표시 등)가 있습니다. 학습할 때는 지웁니다.",
    ),
    "line_breaks": Text(
        _W,
        "{rows} with a line break inside a cell; training makes it a blank.",
        "{rows}에 칸 안 줄바꿈이 있습니다. 학습할 때는 빈칸으로 바꿉니다.",
    ),
    "mixed_line_ends": Text(
        _W,
        "Rows end in different ways: {ends}. The file was put together from several.",
        "줄 끝이 섞여 있습니다: {ends}. 여러 파일을 이어 붙인 것 같습니다.",
    ),
    "not_unicode": Text(
        _I,
        "The file is in {encoding}, which has no emoji; UTF-8 is the safer choice (--fix writes it).",
        "{encoding} 파일이라 이모지를 담지 못합니다. UTF-8이 더 안전합니다(--fix로 바꿀 수 있습니다).",
    ),
    "few_pairs": Text(
        _I,
        "Below 200 pairs no questions are held out: training cannot tell when it is best, and exports the last weights.",
        "200쌍이 안 되어 검증용 질문을 따로 빼지 않습니다. 가장 좋은 때를 고르지 못하고 마지막 가중치를 내보냅니다.",
    ),
}
