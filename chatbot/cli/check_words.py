"""The words around the doctor's findings, in English and Korean."""

from __future__ import annotations

import re

WORDS: dict[str, tuple[str, str]] = {
    "file": ("file", "파일"),
    "encoding": ("encoding", "인코딩"),
    "line ends": ("line ends", "줄 끝"),
    "delimiter": ("delimiter", "구분 문자"),
    "columns": ("columns", "쓰는 열"),
    "question": ("question", "질문"),
    "answer": ("answer", "답"),
    "label": ("label", "주제"),
    "unused": ("not used", "쓰지 않음"),
    "rows": ("rows", "행"),
    "read": ("read", "읽음"),
    "skipped": ("skipped", "건너뜀"),
    "blank": ("blank", "빈 줄"),
    "findings": ("findings", "진단"),
    "nothing": ("nothing to find fault with", "고칠 곳이 없습니다"),
    "lines": ("lines", "줄"),
    "error": ("error", "오류"),
    "warning": ("warning", "경고"),
    "information": ("information", "참고"),
    "answers": ("answers by frequency", "자주 나오는 답"),
    "pairs": ("pairs", "쌍"),
    "distinct answers": ("distinct answers", "서로 다른 답"),
    "share": ("share", "비율"),
    "lengths": ("lengths (pairs)", "길이 (쌍의 수)"),
    "length": ("length", "길이"),
    "question characters": ("questions, characters", "질문 글자 수"),
    "answer characters": ("answers, characters", "답 글자 수"),
    "question pieces": ("questions, pieces", "질문 조각 수"),
    "answer pieces": ("answers, pieces", "답 조각 수"),
    "training": ("what training would make of it", "학습한다면"),
    "preset": ("preset", "모델 크기(preset)"),
    "batch": ("pairs a step", "한 걸음의 쌍(batch)"),
    "steps": ("steps an epoch", "에폭마다 걸음"),
    "epochs": ("epochs, at most", "최대 에폭"),
    "split": ("split", "나누기"),
    "train": ("to train on", "학습"),
    "held out": ("held out", "검증"),
    "vocabulary": ("vocabulary", "어휘"),
    "pieces": ("pieces", "조각"),
    "longest": ("maximum lengths", "최대 길이"),
    "cut": ("pairs cut", "잘리는 쌍"),
    "spelled": ("words spelled", "글자로 읽는 낱말"),
    "in held out": ("in held-out questions", "검증 질문에서"),
    "sample": ("(words and pieces: on a sample of {rows} rows)", "(낱말과 조각은 {rows}행 표본에서)"),
    "none": ("none", "없음"),
    "comma": ("comma", "쉼표"),
    "semicolon": ("semicolon", "쌍반점(;)"),
    "tab": ("tab", "탭"),
    "alternating": ("alternating lines", "질문 줄과 답 줄이 번갈아 나옴"),
    "given": ("given", "직접 지정"),
    "byte order mark": ("byte order mark", "바이트 순서 표시"),
    "valid UTF-8": ("valid UTF-8", "올바른 UTF-8"),
}

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}


def how_found(how: str, language: str) -> str:
    """How an encoding was found (`Encoding.how`), in `language`."""
    if how in WORDS:
        return word(how, language)
    byte = re.search(r"byte (\d+)", how)
    return how if language == "en" or byte is None else f"UTF-8이 아니고(바이트 {byte[1]}) CP949로 읽힘"


def word(name: str, language: str) -> str:
    """A word in `language` (en, ko)."""
    return WORDS[name][language == "ko"]
