from __future__ import annotations

import numpy as np
import pytest

from chatbot.config import TextSettings, TrainingSettings
from chatbot.dataset.batches import Batches
from chatbot.dataset.encode import EncodedPairs, decoder_input, decoder_target, make_pair_encoder
from chatbot.text.analyzer import CharacterAnalyzer
from chatbot.text.pipeline import analyze
from chatbot.text.vocabulary import END_ID, PADDING_ID, START_ID, UNKNOWN_ID
from chatbot.training.plan import make_plan, validation_share


def morphemes(*texts: str) -> list[list[str]]:
    return analyze(texts, CharacterAnalyzer())


QUESTIONS = morphemes("안녕", "오늘 뭐 먹지?", "가" * 100)
NUMBERS = np.arange(3, dtype=np.int32)
ANSWERS = morphemes("네, 안녕하세요!", "국수 어때요?", "나" * 200)


def test_lengths_follow_the_longest_row_up_to_a_cap() -> None:
    encoding = make_pair_encoder(TextSettings(minimum_frequency=1), QUESTIONS[:2], ANSWERS[:2])
    assert encoding.settings.max_question_length == len(QUESTIONS[1])
    pairs = encoding.encode(QUESTIONS[:2], ANSWERS[:2], NUMBERS[:2])
    assert pairs.num_cut_questions == 0
    assert not pairs.is_cut.any()
    capped = make_pair_encoder(TextSettings(minimum_frequency=1), QUESTIONS, ANSWERS)
    assert (capped.settings.max_question_length, capped.settings.max_answer_length) == (64, 160)
    pairs = capped.encode(QUESTIONS, ANSWERS, NUMBERS)
    assert pairs.num_cut_questions == 1
    assert pairs.is_cut.tolist() == [False, False, True]
    assert len(pairs.question_ids[2]) == 64
    assert len(pairs.answer_ids[2]) == 160


def test_a_cut_answer_is_never_taught_as_ended() -> None:
    pairs = make_pair_encoder(TextSettings(max_answer_length=3), QUESTIONS, ANSWERS).encode(QUESTIONS, ANSWERS, NUMBERS)
    assert pairs.is_cut.all()
    batch = Batches(pairs, 8).batch(np.arange(3))
    assert END_ID not in batch.target_ids
    assert (batch.target_ids[:, -1] == PADDING_ID).all()


def test_a_long_question_keeps_its_beginning() -> None:
    encoding = make_pair_encoder(TextSettings(max_question_length=3, minimum_frequency=1), QUESTIONS, ANSWERS)
    pairs = encoding.encode(QUESTIONS, ANSWERS, NUMBERS)
    assert [encoding.vocabulary.surface(index) for index in pairs.question_ids[1]] == ["▁오", "늘", "▁뭐"]


def test_the_decoder_reads_the_target_shifted_by_one() -> None:
    answer = np.array([7, 8, 9], np.int32)
    read, said = decoder_input(answer), decoder_target(answer, is_cut=False)
    assert read[0] == START_ID
    np.testing.assert_array_equal(read[1:], said[:-1])
    assert said[-1] == END_ID


def some_pairs(count: int) -> EncodedPairs:
    generator = np.random.default_rng(0)
    ids = [generator.integers(4, 50, length).astype(np.int32) for length in generator.integers(1, 20, 2 * count)]
    return EncodedPairs(ids[:count], ids[count:], np.zeros(count, bool), 0, np.arange(count, dtype=np.int32))


@pytest.mark.parametrize(("count", "batch_size", "passes"), [(1000, 16, 1), (20, 8, 20), (1, 8, 3), (2049, 64, 2)])
def test_every_row_occurs_once_a_pass(count: int, batch_size: int, passes: int) -> None:
    batches = Batches(some_pairs(count), batch_size, passes)
    order = batches.order(3)
    assert len(order) == len(batches)
    rows, times = np.unique(np.concatenate(order), return_counts=True)
    assert rows.tolist() == list(range(count))
    assert set(times) == {passes}
    assert max(map(len, order)) <= batch_size


def test_order_comes_from_seed_and_epoch_alone() -> None:
    pairs = some_pairs(300)

    def order(seed: int, epoch: int) -> list[list[int]]:
        return [rows.tolist() for rows in Batches(pairs, 16, seed=seed).order(epoch)]

    assert order(0, 1) == order(0, 1)
    assert order(0, 1) != order(0, 2)
    assert order(0, 1) != order(1, 1)


def test_going_on_in_the_middle_of_an_epoch() -> None:
    batches = Batches(some_pairs(300), 16)
    whole, rest = list(batches.epoch(2)), list(batches.epoch(2, skip=5))
    assert len(rest) == len(whole) - 5
    for one, other in zip(whole[5:], rest, strict=True):
        for array, same in zip(one, other, strict=True):
            np.testing.assert_array_equal(array, same)


def test_little_is_wasted_on_padding() -> None:
    batches = Batches(some_pairs(5000), 64)
    cells = sum(batch.question_ids.size + batch.answer_ids.size for batch in batches.epoch(0))
    real = batches.pairs.num_tokens
    assert real / cells > 0.7, "random lengths to 20 fill half of the cells when padded to one width"


def test_a_batch_says_which_answers_it_holds() -> None:
    pairs = make_pair_encoder(TextSettings(), QUESTIONS, ANSWERS).encode(QUESTIONS, ANSWERS, np.array([4, 9, 4], np.int32))
    assert Batches(pairs, 8).batch(np.array([2, 1])).answer_numbers.tolist() == [4, 9]


def test_unknown_is_only_for_signs_in_questions() -> None:
    questions, answers = morphemes("鬱 뭐야"), morphemes("몰라요.")
    pairs = make_pair_encoder(TextSettings(minimum_frequency=2), questions, answers).encode(questions, answers, NUMBERS[:1])
    assert UNKNOWN_ID in pairs.question_ids[0]
    assert UNKNOWN_ID not in pairs.answer_ids[0]


@pytest.mark.parametrize(("pairs", "batch_size"), [(1, 8), (20, 8), (480, 8), (1_200, 20), (3_840, 64), (10**6, 64)])
def test_the_batch_grows_with_the_data(pairs: int, batch_size: int) -> None:
    plan = make_plan(TrainingSettings(), pairs)
    assert plan.batch_size == batch_size
    assert plan.steps_per_epoch >= 60
    assert plan.total_steps == plan.epochs * plan.steps_per_epoch
    given = make_plan(TrainingSettings(epochs=3, batch_size=5, learning_rate=0.1), pairs)
    assert (given.epochs, given.batch_size, given.learning_rate) == (3, 5, 0.1)


def test_post_norm_learns_at_a_lower_rate_unless_one_is_given() -> None:
    rates = [make_plan(TrainingSettings(), 1_000, norm).learning_rate for norm in ("pre", "post")]
    assert rates[1] == pytest.approx(rates[0] / 3)
    assert make_plan(TrainingSettings(learning_rate=0.1), 1_000, "post").learning_rate == 0.1


def test_few_pairs_are_not_split() -> None:
    assert validation_share(TrainingSettings(), 199) == 0
    assert validation_share(TrainingSettings(), 200) == 0.1
    assert validation_share(TrainingSettings(validation_split=0.3), 20) == 0.3
    assert validation_share(TrainingSettings(validation_split=0.0), 2000) == 0
