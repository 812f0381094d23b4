"""The bundled corpora have the properties that their README promises."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from chatbot.config import TextSettings
from chatbot.dataset.encode import make_pair_encoder
from chatbot.text.analyzer import OktAnalyzer
from chatbot.text.normalize import normalize, question_key
from chatbot.text.pipeline import TextPipeline, analyze
from tests.conftest import ROOT, read_columns

DATA = ROOT / "data"
FILES = sorted(DATA.glob("*.csv"))
SIZES = {"smalltalk.csv": (1500, 400), "faq.csv": (250, 60)}

each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


def test_the_files_are_there() -> None:
    assert {path.name for path in FILES} == set(SIZES)


@each_file
def test_there_are_enough_pairs_and_answers(path: Path) -> None:
    pairs = read_columns(path)
    least_pairs, least_answers = SIZES[path.name]
    assert len(pairs) >= least_pairs
    assert len({answer for _, answer in pairs}) >= least_answers


@each_file
def test_texts_are_normal(path: Path) -> None:
    texts = [text for pair in read_columns(path) for text in pair]
    assert [text for text in texts if normalize(text) != text or not text] == []


@each_file
def test_no_question_stands_there_twice_so_there_are_neither_repeats_nor_contradictions(path: Path) -> None:
    keys = Counter(question_key(question) for question, _ in read_columns(path))
    assert [key for key, count in keys.items() if count > 1] == []


@each_file
def test_every_answer_ends_like_a_sentence(path: Path) -> None:
    assert [answer for _, answer in read_columns(path) if not re.search(r"[^\s.!?~][.!?~]$", answer)] == []


@each_file
def test_every_answer_has_three_questions(path: Path) -> None:
    counts = Counter(answer for _, answer in read_columns(path))
    assert [answer for answer, count in counts.items() if count < 3] == []


def test_no_question_stands_in_two_files() -> None:
    keys = [{question_key(question) for question, _ in read_columns(path)} for path in FILES]
    assert [one & other for one, other in combinations(keys, 2) if one & other] == []


def frames_with_a_blank(text: str) -> list[tuple[str, ...]]:
    """The words of a text with each of them masked in turn."""
    words = text.split()
    return [(*words[:index], "_", *words[index + 1 :]) for index in range(len(words))]


@each_file
def test_no_two_answers_differ_in_exactly_one_word(path: Path) -> None:
    answers_by_frame = defaultdict(set)
    for answer in {answer for _, answer in read_columns(path)}:
        for frame in frames_with_a_blank(answer):
            answers_by_frame[frame].add(answer)
    assert [answers for answers in answers_by_frame.values() if len(answers) > 1] == []


def four_word_frames(question: str) -> set[tuple[str, ...]]:
    """Four words in a row, and four words around one that is masked."""
    words = question.split()
    rows = {tuple(words[start : start + 4]) for start in range(len(words) - 3)}
    for start in range(len(words) - 4):
        rows |= set(frames_with_a_blank(" ".join(words[start : start + 5])))
    return rows


def test_what_counts_as_a_frame() -> None:
    assert four_word_frames("가 나 다") == set()
    assert four_word_frames("가 나 다 라") == {("가", "나", "다", "라")}
    assert ("가", "_", "다", "라", "마") in four_word_frames("가 나 다 라 마")


@each_file
def test_no_three_questions_of_different_answers_share_a_four_word_frame(path: Path) -> None:
    answers_by_frame = defaultdict(set)
    for question, answer in read_columns(path):
        for frame in four_word_frames(question):
            answers_by_frame[frame].add(answer)
    assert [frame for frame, answers in answers_by_frame.items() if len(answers) >= 3] == []


@each_file
def test_every_answer_comes_back_from_its_ids(path: Path, okt: OktAnalyzer) -> None:
    pairs = read_columns(path)
    questions = [list(question) for question, _ in pairs]  # only answers are at stake
    texts = [answer for _, answer in pairs]
    answers = dict(zip(texts, analyze(texts, okt), strict=True))
    encoding = make_pair_encoder(TextSettings(), questions, [answers[answer] for _, answer in pairs])
    pipeline = TextPipeline(okt, encoding.vocabulary, 64)
    encoded = encoding.encode(questions[: len(answers)], list(answers.values()), np.arange(len(answers)))
    assert not encoded.is_cut.any()
    assert [pipeline.text(ids) for ids in encoded.answer_ids] == list(answers)


def read_labels(path: Path) -> Counter[str]:
    import csv

    with path.open(encoding="utf-8", newline="") as file:
        return Counter(row["label"] for row in csv.DictReader(file))


@each_file
def test_the_readme_tells_the_true_counts(path: Path) -> None:
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    pairs = read_columns(path)
    answers = len({answer for _, answer in pairs})
    assert f"| `{path.name}` | {len(pairs):,} | {answers:,} |" in readme
    section = readme.split(f"## Topics of `{path.name}`")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([\d,]+) \|$", section, re.MULTILINE)
    assert {label: int(count.replace(",", "")) for label, count in rows} == dict(read_labels(path))
    assert len(rows) == len(read_labels(path))


def test_the_readme_names_origin_licence_and_the_public_corpus_at_its_own_address() -> None:
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert "CC0 1.0" in readme
    assert "Youngsook Song" in readme
    hosts = set(re.findall(r"https?://([^/\s)>]+)", readme))
    assert hosts <= {"github.com", "raw.githubusercontent.com", "creativecommons.org"}
    assert "songys/Chatbot_data" in readme
