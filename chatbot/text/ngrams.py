"""Pieces -> numbers of the letter groups they hold, for a layer that knows a word by its parts."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

LONGEST_NGRAM = 3


def ngrams(piece: str) -> list[str]:
    """The piece as a whole, then each one, two and three neighbouring characters in it, the word-start mark included."""
    parts = [piece[start : start + n] for n in range(1, LONGEST_NGRAM + 1) for start in range(len(piece) - n + 1)]
    return [f"<{piece}>", *parts]


def ngram_table(surfaces: Sequence[str], num_buckets: int, width: int) -> np.ndarray:
    """The buckets of each piece's n-grams: int32 [V, width], filled up behind with -1; what does not fit is left out.

    A bucket is a hash, the same on every machine; different n-grams may share one.

    Args:
        surfaces: of a vocabulary's pieces; "" for those that have no text, which get no n-gram.
        num_buckets: hashes go from 0 to num_buckets - 1.
        width: n-grams of a piece, at most.
    """
    table = np.full((len(surfaces), width), -1, dtype=np.int32)
    for row, surface in zip(table, surfaces, strict=True):
        if surface:
            buckets = [zlib.crc32(part.encode()) % num_buckets for part in ngrams(surface)][:width]
            row[: len(buckets)] = buckets
    return table
