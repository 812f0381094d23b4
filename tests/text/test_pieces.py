from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from chatbot.text.normalize import normalize
from chatbot.text.pieces import LONGEST_RUN, mark_runs, rejoin, spell, split_runs

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60).map(normalize)


def test_the_example() -> None:
    runs = split_runs("하루가 또 가네요.")
    pieces = mark_runs(runs, ["하루", "가", "또", "가네요", "."])
    assert pieces == ["▁하루", "가", "▁또", "▁가네요", "."]
    assert rejoin(pieces) == "하루가 또 가네요."


def test_a_long_word_is_cut_but_stays_one_word() -> None:
    word = "가" * (2 * LONGEST_RUN + 5)
    runs = split_runs(f"{word} 나")
    assert [(len(run.characters), run.starts_word) for run in runs] == [(32, True), (32, False), (5, False), (1, True)]
    assert rejoin(mark_runs(runs, [run.characters for run in runs])) == f"{word} 나"


def test_only_the_faulty_run_is_split_into_characters() -> None:
    runs = split_runs("앞에는 가운데 뒤에는 끝")
    rewritten = ["앞", "에는", "가운데다", "뒤", "에는", "끝"]
    assert mark_runs(runs, rewritten) == ["▁앞", "에는", "▁가", "운", "데", "▁뒤", "에는", "▁끝"]
    dropped = ["앞", "에는", "뒤", "에는", "끝"]
    assert mark_runs(runs, dropped) == ["▁앞", "에는", "▁가", "운", "데", "▁뒤", "에는", "▁끝"]
    repeated = ["앞", "앞", "에는", "가운데", "뒤", "에는", "에는", "끝"]
    assert rejoin(mark_runs(runs, repeated)) == "앞에는 가운데 뒤에는 끝"
    assert mark_runs(runs, repeated)[:3] == ["▁앞", "에는", "▁가운데"]
    assert mark_runs(runs, [])[:3] == ["▁앞", "에", "는"]


@given(WORDS, st.lists(st.sampled_from(["keep", "drop", "repeat", "rewrite", "empty", "glue"]), min_size=60, max_size=60))
def test_whatever_the_analyzer_does_the_text_comes_back(text: str, faults: list[str]) -> None:
    runs = split_runs(text)
    morphemes: list[str] = []
    for character, fault in zip(text.replace(" ", ""), faults, strict=False):
        if fault == "glue" and morphemes:
            morphemes[-1] += character
        else:
            output = {"drop": [], "repeat": [character] * 2, "rewrite": ["어"], "empty": ["", character]}
            morphemes += output.get(fault, [character])
    pieces = mark_runs(runs, morphemes)
    assert rejoin(pieces) == text
    assert all(pieces)
    assert all(len(piece) <= LONGEST_RUN + 1 for piece in pieces)


def test_spelling() -> None:
    known = {"▁", "가", *map(chr, range(0x1100, 0x1113)), *map(chr, range(0x1161, 0x1176)), *map(chr, range(0x11A8, 0x11C3))}
    assert spell("▁가가", known) == ["▁", "가", "가"]
    assert spell("힣", known) == list(unicodedata.normalize("NFD", "힣"))
    assert spell("ㅋ", known) == ["\u110f"]  # a letter by itself is spelled by the letter that syllables hold
    assert spell("▁龍", known) == ["▁", "龍"]
