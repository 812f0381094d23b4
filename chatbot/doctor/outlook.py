"""What a training would make of scanned files, told before an hour goes into it. Needs no TensorFlow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from chatbot.config import TextSettings, TrainingSettings
from chatbot.dataset.corpus import split_keys
from chatbot.dataset.encode import PairEncoder, make_pair_encoder
from chatbot.dataset.morphemes import analyze_all
from chatbot.doctor.findings import Finding
from chatbot.doctor.sample import SampledPair
from chatbot.doctor.scan import Scan
from chatbot.doctor.source import SHOWN_LINES
from chatbot.errors import UserError
from chatbot.presets import default_preset
from chatbot.text.analyzer import Analyzer
from chatbot.text.normalize import question_key
from chatbot.text.pipeline import to_pieces
from chatbot.text.vocabulary import Vocabulary, build_vocabulary
from chatbot.training.plan import make_plan, validation_share

Morphemes = list[list[str]]

SPELLED_SHARE = 0.4
"""Of the words in held-out questions; the bundled corpora and the public one have 14 to 25 % of them spelled."""


class VocabularyTooSmall(UserError):
    """The characters of the data alone are more than a vocabulary of the default size holds."""


@dataclass(frozen=True)
class Plans:
    """The run that training would plan with default settings.

    Attributes:
        preset: sizes of the model.
        num_train: pairs to train on; where the files are sampled, give or take the spellings of a question.
        num_validation: pairs held out.
        batch_size: pairs a step.
        steps_per_epoch: optimizer steps.
        epochs: at most.
    """

    preset: str
    num_train: int
    num_validation: int
    batch_size: int
    steps_per_epoch: int
    epochs: int


@dataclass(frozen=True)
class Texts:
    """What the texts of the sample become.

    Attributes:
        num_sampled: pairs looked at.
        is_whole: whether these are all pairs.
        vocabulary_size: pieces of the vocabulary that the sample's training part gets.
        max_question_length: pieces.
        max_answer_length: pieces.
        spelled_share: of all words (morphemes), those outside the vocabulary.
        held_out_spelled_share: the same of held-out questions; None where none are held out.
        question_pieces: length in pieces -> number of sampled pairs.
        answer_pieces: length in pieces -> number of sampled pairs.
        cut_questions: pairs whose question does not fit, sampled or not, as far as `has_all_cuts` says.
        cut_answers: the same for answers.
        has_all_cuts: whether every pair long enough to be cut was looked at.
    """

    num_sampled: int
    is_whole: bool
    vocabulary_size: int
    max_question_length: int
    max_answer_length: int
    spelled_share: float
    held_out_spelled_share: float | None
    question_pieces: Counter[int]
    answer_pieces: Counter[int]
    cut_questions: list[SampledPair]
    cut_answers: list[SampledPair]
    has_all_cuts: bool

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; pairs that are cut are counted."""
        document = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        for name in ("question_pieces", "answer_pieces"):
            document[name] = {str(length): count for length, count in sorted(document[name].items())}
        return {**document, "cut_questions": len(self.cut_questions), "cut_answers": len(self.cut_answers)}


def plan_training(scan: Scan) -> Plans:
    """Plans a run over all pairs of a scan that found some."""
    settings, num_pairs = TrainingSettings(), len(scan.pairs)
    # Fingerprints sort in another order than texts: of a large file it is another choice of as many questions.
    keys = _keys(scan.sample.pairs) if scan.sample.is_whole else scan.pairs.column("question_key")
    train, validation = split_keys(keys, validation_share(settings, num_pairs), settings.seed)
    plan = make_plan(settings, len(train))
    return Plans(default_preset(num_pairs), len(train), len(validation), plan.batch_size, plan.steps_per_epoch, plan.epochs)


def _keys(pairs: Sequence[SampledPair]) -> np.ndarray:
    return np.array([question_key(pair.question) for pair in pairs], dtype=object)


def read_texts(
    scan: Scan,
    analyzer: Analyzer,
    cache: Path | None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Texts:
    """Analyses the sample as training would, and the long pairs outside it.

    Args:
        scan: with at least one pair.
        analyzer: of training.
        cache: directory in which morphemes are remembered; a training on the same files finds them there.
        on_progress: called with the texts analysed and their number.

    Raises:
        VocabularyTooSmall: the vocabulary cannot hold the characters of the data.
    """
    settings, pairs = TextSettings(analyzer=analyzer.name), scan.sample.pairs
    questions, answers = _analyze(pairs, analyzer, cache, on_progress)
    training = TrainingSettings()
    train, held_out = split_keys(_keys(pairs), validation_share(training, len(scan.pairs)), training.seed)
    long_pairs = scan.sample.long_pairs
    long_questions, long_answers = _analyze(long_pairs, analyzer, None, on_progress) if long_pairs else ([], [])
    vocabulary = _vocabulary(
        settings, [questions[row] for row in train] + long_questions, [answers[row] for row in train] + long_answers
    )
    encoding = make_pair_encoder(settings, questions + long_questions, answers + long_answers, vocabulary)
    cut_questions, cut_answers = _cut(encoding, [*pairs, *long_pairs], questions + long_questions, answers + long_answers)
    return Texts(
        num_sampled=len(pairs),
        is_whole=scan.sample.is_whole,
        vocabulary_size=len(vocabulary),
        max_question_length=encoding.settings.max_question_length or 0,
        max_answer_length=encoding.settings.max_answer_length or 0,
        spelled_share=_spelled_share(questions + answers, vocabulary),
        held_out_spelled_share=_spelled_share([questions[row] for row in held_out], vocabulary) if len(held_out) else None,
        question_pieces=Counter(len(to_pieces(question, vocabulary)) for question in questions),
        answer_pieces=Counter(len(to_pieces(answer, vocabulary)) for answer in answers),
        cut_questions=cut_questions,
        cut_answers=cut_answers,
        has_all_cuts=scan.sample.has_all_long_pairs,
    )


def _vocabulary(settings: TextSettings, questions: Morphemes, answers: Morphemes) -> Vocabulary:
    try:
        return build_vocabulary(questions, answers, settings.vocabulary_size, settings.minimum_frequency)
    except UserError as error:
        raise VocabularyTooSmall(str(error)) from error


def _analyze(
    pairs: Sequence[SampledPair], analyzer: Analyzer, cache: Path | None, on_progress: Callable[[int, int], None]
) -> tuple[Morphemes, Morphemes]:
    texts = [pair.question for pair in pairs] + [pair.answer for pair in pairs]  # in the order of training: one cache
    morphemes = analyze_all(texts, analyzer, cache, on_progress)
    return morphemes[: len(pairs)], morphemes[len(pairs) :]


def _cut(
    encoding: PairEncoder, pairs: Sequence[SampledPair], questions: Morphemes, answers: Morphemes
) -> tuple[list[SampledPair], list[SampledPair]]:
    """The pairs whose question, and those whose answer, is longer than its maximum length."""
    longest = (encoding.settings.max_question_length or 0, encoding.settings.max_answer_length or 0)
    in_question, in_answer = (
        [pair for pair, text in zip(pairs, texts, strict=True) if len(to_pieces(text, encoding.vocabulary)) > limit]
        for texts, limit in zip((questions, answers), longest, strict=True)
    )
    return sorted(in_question), sorted(in_answer)


def _spelled_share(texts: Morphemes, vocabulary: Vocabulary) -> float:
    words = [word for text in texts for word in text]
    return sum(word not in vocabulary for word in words) / max(len(words), 1)


def find_in_texts(scan: Scan, texts: Texts) -> list[Finding]:
    """What the texts of the sample show to be wrong."""
    found = []
    count = f"{texts.num_sampled:,}"
    where = ("", "") if texts.is_whole else (f" (on a sample of {count} rows)", f"({count}행 표본에서)")
    cut_where = ("", "") if texts.has_all_cuts else (" (not every long row was looked at)", "(긴 행을 모두 보지는 않았습니다)")
    for code, cut, length in (
        ("cut_questions", texts.cut_questions, texts.max_question_length),
        ("cut_answers", texts.cut_answers, texts.max_answer_length),
    ):
        for number, source in enumerate(scan.sources):
            lines = [pair.line for pair in cut if pair.source == number]
            if lines:
                values = {"length": length, "where": cut_where[0], "where_ko": cut_where[1]}
                found.append(Finding(code, len(lines), str(source.path), tuple(lines[:SHOWN_LINES]), values))
    share = texts.held_out_spelled_share
    if share is None:
        found.append(Finding("few_pairs", len(scan.pairs)))
    elif share > SPELLED_SHARE:
        found.append(Finding("spelled_words", 1, values={"share": share, "where": where[0], "where_ko": where[1]}))
    return found
