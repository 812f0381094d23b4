from __future__ import annotations

import keras
import numpy as np
import pytest

from chatbot.layers.ngram_bag import NGRAMS_PER_PIECE, NgramBag

V, BUCKETS, D = 9, 50, 6


@pytest.fixture(scope="module")
def layer() -> NgramBag:
    keras.utils.set_random_seed(0)
    layer = NgramBag(V, BUCKETS, D)
    layer.build()
    table = np.full((V, NGRAMS_PER_PIECE), -1, np.int32)
    table[1:, :2] = np.arange(2 * (V - 1)).reshape(-1, 2)
    layer.set_table(table)
    return layer


def bag(layer: NgramBag, *ids: int) -> np.ndarray:
    return layer(np.array([ids], "int32")).numpy()[0, 0]


def test_is_the_sum_by_the_root_of_the_number(layer: NgramBag) -> None:
    vectors = layer.vectors.numpy()
    pair = (1 * 40_503 + 2) % BUCKETS
    expected = (vectors[0] + vectors[1] + vectors[2] + vectors[3] + vectors[pair]) / np.sqrt(5)
    np.testing.assert_allclose(bag(layer, 1, 2), expected, atol=1e-6)


def test_padding_and_batch_mates_change_nothing(layer: NgramBag) -> None:
    np.testing.assert_allclose(bag(layer, 3, 4, 0, 0), bag(layer, 3, 4), atol=1e-6)
    together = layer(np.array([[3, 4, 0], [5, 6, 7]], "int32")).numpy()
    np.testing.assert_allclose(together[0, 0], bag(layer, 3, 4), atol=1e-6)


def test_order_counts_between_neighbours(layer: NgramBag) -> None:
    assert np.abs(bag(layer, 3, 4) - bag(layer, 4, 3)).max() > 1e-3


def test_nothing_gives_zeros(layer: NgramBag) -> None:
    np.testing.assert_array_equal(bag(layer, 0, 0), np.zeros(D))


def test_the_largest_vocabulary_does_not_overflow() -> None:
    layer = NgramBag(1 << 15, BUCKETS, D)
    layer.build()
    last = (1 << 15) - 1
    np.testing.assert_allclose(bag(layer, last, last), layer.vectors.numpy()[(last * 40_503 + last) % BUCKETS], atol=1e-6)
