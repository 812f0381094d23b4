"""Character n-grams of pieces, by which a piece never seen still resembles those it shares letters with."""

from __future__ import annotations

import zlib

import numpy as np

from chatbot.text.normalize import WORD_START
from chatbot.text.vocabulary import SPECIAL_PIECES, Vocabulary

NGRAMS_PER_PIECE = 12
_LONGEST = 3


def ngrams(piece: str) -> list[str]:
    """The n-grams of a piece of 1 to 3 characters, without its word-start mark and without blanks between."""
    surface = piece.removeprefix(WORD_START)
    return [surface[start : start + n] for n in range(1, _LONGEST + 1) for start in range(len(surface) - n + 1)]


def ngram_table(vocabulary: Vocabulary, num_buckets: int) -> np.ndarray:
    """Bucket numbers of each piece's n-grams: int32 [V, NGRAMS_PER_PIECE], 1 to `num_buckets`, 0 where there are fewer.

    Hashed by CRC-32, which is the same in every process. Special pieces have none.
    """
    table = np.zeros((len(vocabulary), NGRAMS_PER_PIECE), dtype=np.int32)
    for index in range(len(SPECIAL_PIECES), len(vocabulary)):
        found = ngrams(vocabulary.pieces[index])[:NGRAMS_PER_PIECE]
        table[index, : len(found)] = [1 + zlib.crc32(ngram.encode()) % num_buckets for ngram in found]
    return table
