"""Pairs -> ids: maximum lengths, vocabulary, and what is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chatbot.config import TextSettings
from chatbot.text.pipeline import to_pieces
from chatbot.text.vocabulary import END_ID, PADDING_ID, START_ID, Vocabulary, build_vocabulary

LONGEST_QUESTION = 64
LONGEST_ANSWER = 160
LONGEST_LINE = 512

Ids = np.ndarray
Morphemes = Sequence[Sequence[str]]


@dataclass(frozen=True)
class EncodedPairs:
    """Ids of questions and answers, without start, end and padding.

    Attributes:
        question_ids: int32 [length] a question.
        answer_ids: int32 [length] an answer.
        is_cut: bool [N]: answers whose end did not fit; their end piece must not be taught.
        num_cut_questions: questions whose end did not fit.
        answer_numbers: int32 [N]: which of the known answers each pair has.
    """

    question_ids: list[Ids]
    answer_ids: list[Ids]
    is_cut: np.ndarray
    num_cut_questions: int
    answer_numbers: np.ndarray

    def __len__(self) -> int:
        return len(self.question_ids)

    @property
    def num_tokens(self) -> int:
        """Pieces of the questions and targets of the answers: what a pass over the pairs works through."""
        return sum(map(len, self.question_ids)) + sum(map(len, self.answer_ids)) + int(np.sum(~self.is_cut))


@dataclass(frozen=True)
class PairEncoder:
    """Text settings with every length decided, and the vocabulary that goes with them."""

    settings: TextSettings
    vocabulary: Vocabulary

    def encode(self, questions: Morphemes, answers: Morphemes, answer_numbers: np.ndarray) -> EncodedPairs:
        """Turns marked morphemes into ids and cuts both sides to their maximum lengths.

        Args:
            answer_numbers: int [N], which of the known answers each pair has, see `Corpus.answer_numbers`.
        """
        question_ids, cut_questions = self._cut_ids(questions, self.settings.max_question_length)
        answer_ids, cut_answers = self._cut_ids(answers, self.settings.max_answer_length)
        return EncodedPairs(question_ids, answer_ids, cut_answers, int(np.sum(cut_questions)), answer_numbers)

    def _cut_ids(self, texts: Morphemes, longest: int | None) -> tuple[list[Ids], np.ndarray]:
        whole = [[self.vocabulary.get(piece) for piece in to_pieces(text, self.vocabulary)] for text in texts]
        cut = [np.array(ids[:longest], dtype=np.int32) for ids in whole]
        return cut, np.array([len(ids) < len(all_ids) for ids, all_ids in zip(cut, whole, strict=True)], dtype=bool)


def make_pair_encoder(
    settings: TextSettings, questions: Morphemes, answers: Morphemes, vocabulary: Vocabulary | None = None
) -> PairEncoder:
    """Decides vocabulary and maximum lengths by marked training sentences.

    Args:
        settings: with None where the data decides: the longest row, 64 pieces of a question and 160 of an answer at most;
            of a language model 512, for the line that is given and for what follows.
        vocabulary: of an earlier run; None: a new one.

    Raises:
        UserError: `vocabulary_size` is too small for the data.
    """
    if vocabulary is None:
        vocabulary = build_vocabulary(questions, answers, settings.vocabulary_size, settings.minimum_frequency)
    sides = [(settings.max_question_length, questions, LONGEST_QUESTION), (settings.max_answer_length, answers, LONGEST_ANSWER)]
    if settings.task == "language-model":
        # What is given may be longer than any line that was learnt.
        sides = [(settings.max_question_length or LONGEST_LINE, answers, LONGEST_LINE), (sides[1][0], answers, LONGEST_LINE)]
    lengths = []
    for given, texts, cap in sides:
        longest = max(len(to_pieces(morphemes, vocabulary)) for morphemes in texts)
        lengths.append(given or min(longest, cap))
    return PairEncoder(settings.replace(max_question_length=lengths[0], max_answer_length=lengths[1]), vocabulary)


def pad(rows: Sequence[Ids]) -> np.ndarray:
    """Rows of ids, padded behind to the longest: int32 [B, L]."""
    padded = np.full((len(rows), max(map(len, rows))), PADDING_ID, dtype=np.int32)
    for index, row in enumerate(rows):
        padded[index, : len(row)] = row
    return padded


def decoder_input(answer_ids: Ids) -> Ids:
    """What the decoder reads: the start piece, then the answer. Position t predicts `decoder_target(...)[t]`."""
    return np.concatenate([[START_ID], answer_ids]).astype(np.int32)


def decoder_target(answer_ids: Ids, is_cut: bool) -> Ids:
    """What the decoder is to say: the answer, then the end piece, or padding (not taught) where the answer is cut."""
    return np.concatenate([answer_ids, [PADDING_ID if is_cut else END_ID]]).astype(np.int32)
