from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from chatbot.dataset.morphemes import analyze_all

TEXTS = ["하루가 또 가네요.", "안녕", "하루가 또 가네요.", "😀 좋아요 👨\u200d👩\u200d👧", "a"]


class CountingAnalyzer:
    name = "counting"
    version = "1"

    def __init__(self) -> None:
        self.texts = 0

    def morphemes(self, texts: Sequence[str]) -> list[Sequence[str]]:
        self.texts += len(texts)
        return [text.replace(" ", "") for text in texts]

    def start(self) -> None:
        raise AssertionError("a cached corpus must not start the analyzer")


def test_the_second_time_nothing_is_analysed(tmp_path: Path) -> None:
    first, second = CountingAnalyzer(), CountingAnalyzer()
    expected = analyze_all(TEXTS, first, tmp_path)
    assert first.texts == 4, "each distinct text once"
    assert expected[0] == ["▁하", "루", "가", "▁또", "▁가", "네", "요", "."]
    assert expected[2] == expected[0]
    assert analyze_all(TEXTS, second, tmp_path) == expected
    assert second.texts == 0


def test_other_texts_or_another_version_are_analysed_again(tmp_path: Path) -> None:
    analyze_all(TEXTS, CountingAnalyzer(), tmp_path)
    other = CountingAnalyzer()
    analyze_all([*TEXTS, "새 글"], other, tmp_path)
    assert other.texts == 5
    newer = CountingAnalyzer()
    newer.version = "2"
    analyze_all(TEXTS, newer, tmp_path)
    assert newer.texts == 4


@pytest.mark.parametrize("damage", ["truncate", "empty", "foreign", "flip"])
def test_a_damaged_cache_is_made_again(tmp_path: Path, damage: str) -> None:
    expected = analyze_all(TEXTS, CountingAnalyzer(), tmp_path)
    (cache,) = tmp_path.glob("*.npz")
    content = bytearray(cache.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 0xFF
    replaced = {"truncate": content[: len(content) // 2], "empty": b"", "foreign": b"not an archive", "flip": content}
    cache.write_bytes(replaced[damage])
    again = CountingAnalyzer()
    assert analyze_all(TEXTS, again, tmp_path) == expected
    assert again.texts in ((4,) if damage != "flip" else (0, 4)), "a flip may hit bytes that no one reads"
    last = CountingAnalyzer()
    assert analyze_all(TEXTS, last, tmp_path) == expected
    assert last.texts == 0


def test_a_directory_that_cannot_be_written_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert len(analyze_all(TEXTS, CountingAnalyzer(), tmp_path / "file" / "cache")) == len(TEXTS)
    assert len(analyze_all(TEXTS, CountingAnalyzer(), None)) == len(TEXTS)


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    analyze_all(TEXTS, CountingAnalyzer(), tmp_path)
    assert [path.suffix for path in map(Path, os.listdir(tmp_path))] == [".npz"]
