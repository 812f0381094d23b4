from __future__ import annotations

import math

import pytest

from chatbot.evaluation import metrics


def test_bleu_counts_characters() -> None:
    assert metrics.character_bleu(["가나다라"], ["가나다라"]) == pytest.approx(100)
    # 4 of 5 characters, 3 of 4 pairs, 2 of 3 triples, 1 of 2 fours; as long as the answer.
    assert metrics.character_bleu(["가나다라마"], ["가나다라바"]) == pytest.approx(100 * (4 / 5 * 3 / 4 * 2 / 3 / 2) ** (1 / 4))
    assert metrics.character_bleu(["", ""], ["가나다라", "네"]) == 0


def test_distinct_replies() -> None:
    assert metrics.distinct_share(["네", "네", "아니요", "글쎄요"]) == 0.75
    assert metrics.distinct_share([]) == 0


def test_distinct_bigrams_are_counted_over_all_replies_and_never_across_two() -> None:
    assert metrics.distinct_bigram_share(["가나다", "나다"]) == pytest.approx(2 / 3)
    assert metrics.distinct_bigram_share(["가나", "다라"]) == 1, "나다 is in neither"
    assert metrics.distinct_bigram_share(["네", ""]) == 0


def test_empty_replies() -> None:
    assert metrics.empty_share(["", "네", "네", ""]) == 0.5


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("가나다가나다가나다", True),
        ("음 사랑해요 사랑해요 사랑해요!", True),
        ("하하하하하하하하하", True),
        ("하하하하하하하하", False),
        ("가나다라가나다라", False),
        ("그럴 수 있어요. 그럴 수 있죠.", False),
        ("", False),
    ],
)
def test_endless_replies_say_three_characters_three_times_in_a_row(reply: str, expected: bool) -> None:
    assert metrics.is_endless(reply, is_cut=False) is expected


def test_a_reply_that_hit_the_cap_is_endless() -> None:
    assert metrics.is_endless("네, 그래", is_cut=True)
    assert metrics.endless_share(["네", "네, 그래", "가나다가나다가나다", "네"], [False, True, False, False]) == 0.5


def test_share_of_training_answers() -> None:
    assert metrics.share_of(["네", "네!", "아니요", "네"], {"네", "글쎄요"}) == 0.5


def test_perplexity_and_bits() -> None:
    # Three tokens, each with probability a half, which write six characters.
    assert metrics.perplexity(3 * math.log(0.5), 3) == pytest.approx(2)
    assert metrics.bits_per_character(3 * math.log(0.5), 6) == pytest.approx(0.5)
