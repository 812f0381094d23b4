"""Figures about replies, as pure functions on lists of strings. chrF and the exact share stand in `training.scoring`.

Shares are 0 to 1, and 0 where there is nothing to share.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence

from sacrebleu.metrics import BLEU

_REPEATED = re.compile(r"(.{3,200}?)\1\1")
"""Bounded, so that the search is linear: a reply of three longer parts has hit the cap on its length."""


def character_bleu(replies: Sequence[str], answers: Sequence[str]) -> float:
    """Corpus BLEU over characters, 0 to 100. Papineni et al. 2002 (https://aclanthology.org/P02-1040)."""
    return float(BLEU(tokenize="char", force=True).corpus_score(list(replies), [list(answers)]).score)


def distinct_share(replies: Sequence[str]) -> float:
    """Different replies by replies: 1 / N where every question gets the same."""
    return len(set(replies)) / max(1, len(replies))


def distinct_bigram_share(replies: Iterable[str]) -> float:
    """Different pairs of neighbouring characters by all of them, over all replies; blanks count as characters.

    Characters, since words and pieces are not the same for every language and analyzer.
    """
    bigrams = [reply[index : index + 2] for reply in replies for index in range(len(reply) - 1)]
    return len(set(bigrams)) / max(1, len(bigrams))


def empty_share(replies: Sequence[str]) -> float:
    """The share of replies with nothing in them."""
    return sum(not reply for reply in replies) / max(1, len(replies))


def is_endless(reply: str, is_cut: bool) -> bool:
    """Whether a reply goes round in circles.

    That is: three or more characters, blanks aside, that stand three times in a row (a single character nine
    times, too), or a reply that hit the cap on its length, since a model that ends its answers does not get there.
    """
    return is_cut or _REPEATED.search("".join(reply.split())) is not None


def endless_share(replies: Sequence[str], is_cut: Sequence[bool]) -> float:
    """The share of replies that are endless."""
    return sum(map(is_endless, replies, is_cut)) / max(1, len(replies))


def share_of(replies: Sequence[str], known: Collection[str]) -> float:
    """The share of replies that stand word for word in `known`, the answers of the training data."""
    return sum(reply in known for reply in replies) / max(1, len(replies))


def perplexity(log_probability: float, num_tokens: int) -> float:
    """exp(-log p / tokens) of answers: natural logarithm, the end piece of each counted. Depends on the pieces."""
    return math.exp(-log_probability / max(1, num_tokens))


def bits_per_character(log_probability: float, num_characters: int) -> float:
    """-log2 p / characters of answers, the end piece in p: comparable across analyzers and vocabularies."""
    return -log_probability / math.log(2) / max(1, num_characters)
