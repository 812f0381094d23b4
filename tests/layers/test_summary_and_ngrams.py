from __future__ import annotations

import numpy as np

from chatbot.layers.ngram_embedding import NgramEmbedding
from chatbot.layers.summary import Summary
from chatbot.text.ngrams import NGRAMS_PER_PIECE, ngram_table, ngrams
from chatbot.text.vocabulary import SPECIAL_PIECES, Vocabulary

B, S, D = 2, 5, 8


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def test_the_summary_does_not_see_padding() -> None:
    layer = Summary()
    embedded, encoded = floats(B, S, D), floats(B, S, D, seed=1)
    real = np.array([[True, True, False, False, False], [True] * 5])
    before = layer(embedded, encoded, real).numpy()
    for vectors in (embedded, encoded):
        vectors[0, 2:] = 1e3
    np.testing.assert_allclose(layer(embedded, encoded, real), before, atol=1e-6)
    wide = [np.pad(vectors, ((0, 0), (0, 4), (0, 0))) for vectors in (embedded, encoded)]
    np.testing.assert_allclose(layer(*wide, np.pad(real, ((0, 0), (0, 4)))), before, atol=1e-6)


def test_the_summary_sees_both_sides_of_the_encoder() -> None:
    layer = Summary()
    embedded, encoded, real = floats(B, S, D), floats(B, S, D, seed=1), np.ones((B, S), bool)
    before = layer(embedded, encoded, real).numpy()
    assert np.abs(layer(2 * embedded, encoded, real) - before).max() > 1e-2
    assert np.abs(layer(embedded, 2 * encoded, real) - before).max() > 1e-2


def test_a_question_without_a_piece_has_a_finite_summary() -> None:
    assert np.all(np.isfinite(Summary()(floats(B, S, D), floats(B, S, D), np.zeros((B, S), bool))))


def test_ngrams_of_a_piece() -> None:
    assert ngrams("▁먹었어") == ["먹", "었", "어", "먹었", "었어", "먹었어"]
    assert ngrams("어") == ["어"]
    assert ngrams("▁") == []


VOCABULARY = Vocabulary([*SPECIAL_PIECES, "▁먹었어", "▁먹었니", "▁", "하하하하하하하하하하"])


def test_the_table_is_the_same_in_every_process_and_special_pieces_have_none() -> None:
    table = ngram_table(VOCABULARY, 1000)
    assert table.shape == (len(VOCABULARY), NGRAMS_PER_PIECE)
    assert table.dtype == np.int32
    assert table[4, :3].tolist() == [755, 90, 888], "CRC-32 of a letter does not depend on the hash seed"
    assert not table[: len(SPECIAL_PIECES)].any()
    assert not table[6].any()
    assert 0 < table[7].min() <= table.max() <= 1000, "a long piece keeps as many as there are columns"


def test_pieces_with_letters_in_common_are_alike() -> None:
    layer = NgramEmbedding(len(VOCABULARY), 1000, NGRAMS_PER_PIECE, 64)
    layer.build()
    layer.set_table(ngram_table(VOCABULARY, 1000))
    eaten, asked, mark, laughed = layer(np.array([[4, 5, 6, 7]])).numpy()[0]

    def cosine(one: np.ndarray, other: np.ndarray) -> float:
        return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))

    assert cosine(eaten, asked) > 0.3 > abs(cosine(eaten, laughed))
    assert not mark.any()
    assert 0.7 < np.std(eaten) < 1.4, "as large as a scaled embedding, however many n-grams a piece has"
