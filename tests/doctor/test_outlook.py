from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from chatbot.config import TextSettings, TrainingSettings
from chatbot.dataset.corpus import ReadOptions, read_corpus, split_by_question
from chatbot.dataset.encode import make_pair_encoder
from chatbot.dataset.morphemes import analyze_all
from chatbot.doctor.diagnosis import diagnose
from chatbot.doctor.outlook import VocabularyTooSmall, find_in_texts, plan_training, read_texts
from chatbot.doctor.sample import Sample
from chatbot.doctor.scan import Scan, scan
from chatbot.doctor.source import open_source
from chatbot.text.analyzer import Analyzer, CharacterAnalyzer, OktAnalyzer
from chatbot.training.plan import make_plan
from tests.conftest import ROOT

FAQ = ROOT / "data" / "faq.csv"


def scanned(path: Path, sample: Sample | None = None) -> Scan:
    return scan([open_source(path, ReadOptions())], sample)


def test_it_is_what_training_makes_of_the_file(okt: OktAnalyzer, tmp_path: Path) -> None:
    result = scanned(FAQ)
    plans, texts = plan_training(result), read_texts(result, okt, tmp_path)

    corpus, settings = read_corpus([FAQ]), TrainingSettings()
    train, validation = split_by_question(corpus, 0.1, settings.seed)
    plan = make_plan(settings, len(train))
    morphemes = analyze_all(corpus.questions + corpus.answers, _NoAnalyzer(okt), tmp_path)
    questions, answers = morphemes[: len(corpus.pairs)], morphemes[len(corpus.pairs) :]
    encoding = make_pair_encoder(TextSettings(), [questions[row] for row in train], [answers[row] for row in train])

    assert (plans.num_train, plans.num_validation) == (len(train), len(validation))
    assert (plans.batch_size, plans.steps_per_epoch, plans.epochs) == (plan.batch_size, plan.steps_per_epoch, plan.epochs)
    assert plans.preset == "compact"
    assert texts.vocabulary_size == len(encoding.vocabulary)
    words = [word for row in validation for word in questions[row]]
    spelled = [word for word in words if word not in encoding.vocabulary]
    assert texts.held_out_spelled_share == pytest.approx(len(spelled) / len(words))
    assert texts.max_question_length == max(texts.question_pieces)
    assert texts.question_pieces.total() == texts.answer_pieces.total() == len(corpus.pairs)
    assert find_in_texts(result, texts) == []


class _NoAnalyzer:
    """Stands for Okt where the cache must have the morphemes already."""

    def __init__(self, analyzer: Analyzer) -> None:
        self.name, self.version = analyzer.name, analyzer.version

    def morphemes(self, texts: Sequence[str]) -> list[Sequence[str]]:
        raise AssertionError(f"not remembered: {texts}")

    def start(self) -> None:
        raise AssertionError("started")


def rows(count: int, question: str = "{} 번 문", answer: str = "{} 번 열쇠") -> str:
    return "Q,A\n" + "".join(f"{question.format(number)},{answer.format(number)}\n" for number in range(count))


@pytest.mark.parametrize(("side", "code", "longest"), [(0, "cut_questions", 64), (1, "cut_answers", 160)])
@pytest.mark.parametrize("size", [20_000, 50])
def test_rows_that_do_not_fit_are_named_whether_sampled_or_not(
    tmp_path: Path, side: int, code: str, longest: int, size: int
) -> None:
    path = tmp_path / "a.csv"
    fits, too_long = ["문", "열쇠"], ["문", "열쇠"]
    fits[side], too_long[side] = "가" * longest, "가" * (longest + 1)
    path.write_text(rows(300) + ",".join(fits) + "\n" + ",".join(too_long) + "\n")
    result = scanned(path, Sample(size))
    texts = read_texts(result, CharacterAnalyzer(), None)
    found = {finding.code: finding for finding in find_in_texts(result, texts)}
    assert (found[code].count, found[code].lines) == (1, (303,))
    assert texts.is_whole == (size == 20_000)
    assert texts.has_all_cuts


def test_a_sample_gives_the_same_settings_and_says_that_it_is_one(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(rows(5000))
    whole, part = scanned(path), scanned(path, Sample(400))
    assert not read_texts(part, CharacterAnalyzer(), None).is_whole
    assert read_texts(part, CharacterAnalyzer(), None).num_sampled == 400
    assert plan_training(whole) == plan_training(part), "every question stands there once: the numbers are exact"
    assert plan_training(part).preset == "small"


def test_few_pairs_are_told_and_nothing_is_held_out(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(rows(20))
    result = scanned(path)
    texts = read_texts(result, CharacterAnalyzer(), None)
    assert (plan_training(result).num_validation, texts.held_out_spelled_share) == (0, None)
    assert [(finding.code, finding.severity.value) for finding in find_in_texts(result, texts)] == [
        ("few_pairs", "information")
    ]


def test_words_seen_nowhere_else_are_told(tmp_path: Path, okt: OktAnalyzer) -> None:
    path = tmp_path / "a.csv"
    syllables = [chr(0xAC00 + 37 * number) for number in range(300)]
    path.write_text("Q,A\n" + "".join(f"q{number}{syllable}x,네.\n" for number, syllable in enumerate(syllables)))
    result = scanned(path)
    assert "spelled_words" in [finding.code for finding in find_in_texts(result, read_texts(result, okt, None))]


def test_more_characters_than_the_vocabulary_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Q,A\n" + "".join(f"{number},{chr(0x4E00 + number)}{chr(0xAC00 + number)}\n" for number in range(6000)))
    result = scanned(path)
    with pytest.raises(VocabularyTooSmall):
        read_texts(result, CharacterAnalyzer(), None)
    diagnosis = diagnose(result, [], CharacterAnalyzer, None)
    assert (diagnosis.findings[0].code, diagnosis.texts) == ("vocabulary_too_small", None)
    assert diagnosis.has_findings
    json.dumps(diagnosis.to_dict())
