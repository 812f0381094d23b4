from __future__ import annotations

import numpy as np

from chatbot.text.ngrams import ngram_table, ngrams


def test_a_piece_is_itself_and_its_neighbouring_characters() -> None:
    assert ngrams("▁하루") == ["<▁하루>", "▁", "하", "루", "▁하", "하루", "▁하루"]
    assert ngrams("?") == ["<?>", "?"]


def test_the_whole_piece_is_not_the_group_of_the_same_letters() -> None:
    assert len(set(ngrams("하루"))) == len(ngrams("하루"))


def test_words_with_common_parts_share_buckets() -> None:
    one, other, stranger = ngram_table(["▁먹었어요", "▁먹을까", "▁비행기"], 1 << 20, 22)
    common = np.intersect1d(one[one >= 0], other[other >= 0])
    assert len(common) >= 3, "the mark, 먹, and both together"
    assert len(np.intersect1d(one[one >= 0], stranger[stranger >= 0])) == 1, "the mark"


def test_the_table_is_the_same_on_every_machine() -> None:
    assert ngram_table(["?"], 16384, 3).tolist() == [[12913, 688, -1]]


def test_special_pieces_have_none_and_long_ones_are_cut() -> None:
    table = ngram_table(["", "가나다라마바사아자차카타"], 100, 22)
    assert (table[0] == -1).all()
    assert ((table[1] >= 0) & (table[1] < 100)).all()
