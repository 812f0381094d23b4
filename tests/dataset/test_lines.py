"""Plain text for a language model: a line a sample."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chatbot.config import TextSettings
from chatbot.dataset.batches import Batches
from chatbot.dataset.corpus import ReadOptions, read_corpus, split_by_question
from chatbot.dataset.encode import LONGEST_LINE, make_pair_encoder
from chatbot.errors import UserError
from chatbot.text.analyzer import CharacterAnalyzer
from chatbot.text.pipeline import analyze

LINES = ReadOptions(format="lines")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949", "utf-16"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_every_line_that_shows_something_is_an_answer_to_nothing(tmp_path: Path, encoding: str, ending: str) -> None:
    path = tmp_path / "text.txt"
    lines = ["봄이 와요.", "", '쉼표, "따옴표" 그대로', "   ", "봄이 와요.", "끝"]
    path.write_bytes(ending.join(lines).encode(encoding))
    corpus = read_corpus([path], LINES)
    assert corpus.answers == ["봄이 와요.", '쉼표, "따옴표" 그대로', "끝"]
    assert corpus.questions == ["", "", ""]
    assert [int(line) for line in corpus.pairs["line"]] == [1, 3, 6]
    assert corpus.repeats == 1


@pytest.mark.parametrize("content", ["", "\n\n", "\u200b\n \n"])
def test_a_file_that_shows_nothing_is_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "text.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=r"text\.txt"):
        read_corpus([path], LINES)


def test_no_line_stands_on_both_sides_of_the_split_however_it_is_spelled(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(f"줄 {n}\n줄  {n}!" for n in range(200)), encoding="utf-8")
    corpus = read_corpus([path], LINES)
    train, validation = split_by_question(corpus, 0.25, seed=0)
    assert (len(train), len(validation)) == (300, 100)
    sides = [{corpus.answers[row].replace("!", "") for row in rows} for rows in (train, validation)]
    assert not sides[0] & sides[1]


def test_lines_become_batches_without_questions() -> None:
    lines = analyze(["가나다", "라마", "가" * 600], CharacterAnalyzer())
    encoder = make_pair_encoder(TextSettings(task="language-model"), [[]] * 3, lines)
    assert (encoder.settings.max_question_length, encoder.settings.max_answer_length) == (LONGEST_LINE, LONGEST_LINE)
    pairs = encoder.encode([[]] * 3, lines, np.arange(3))
    assert pairs.is_cut.tolist() == [False, False, True]
    batches = Batches(pairs, 2)
    (batch, other) = sorted((batches.batch(rows) for rows in batches.order(0)), key=lambda batch: batch.answer_ids.shape[1])
    assert batch.question_ids.shape == (2, 0)
    assert batch.answer_ids.shape == (2, 4)
    assert other.answer_ids.shape == (1, LONGEST_LINE + 1)
