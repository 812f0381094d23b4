"""Pieces: morphemes that remember where words start, so that they can be put back together exactly.

하루가 또 가네요.   the text
하루 가 또 가네요 .   its morphemes: the blanks are lost
▁하루 가 ▁또 ▁가네요 .   its pieces: U+2581 stands where a word starts
"""

from __future__ import annotations

import unicodedata
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from chatbot.text.normalize import WORD_START

LONGEST_RUN = 32
"""Characters; Okt's time is quadratic in an unbroken run, so longer ones are cut before it."""

_RESYNC_MORPHEMES = 16
"""How far to look for the next run in the output of an analyzer that lost or invented something."""


class Run(NamedTuple):
    """Characters without a blank between them, as they are handed to an analyzer."""

    characters: str
    starts_word: bool


def split_runs(text: str, longest: int = LONGEST_RUN) -> list[Run]:
    """Splits normalised `text` at its blanks, and words of more than `longest` characters at that length."""
    return [Run(word[start : start + longest], start == 0) for word in text.split() for start in range(0, len(word), longest)]


def mark_runs(runs: Sequence[Run], morphemes: Sequence[str]) -> list[str]:
    """Returns the pieces of `runs`: `morphemes` with a mark on those that start a word.

    The analyzer is not trusted: a run whose characters its morphemes do not add up to is split into single
    characters, so `rejoin` of the result is the text whatever the analyzer dropped, repeated or rewrote.
    """
    pieces: list[str] = []
    position = 0
    for run in runs:
        for start in range(position, min(position + _RESYNC_MORPHEMES, len(morphemes) + 1)):
            end = _end_of_run(run.characters, morphemes, start)
            if end is not None:
                surface, position = list(morphemes[start:end]), end
                break
        else:
            surface = list(run.characters)
        if run.starts_word:
            surface[0] = WORD_START + surface[0]
        pieces.extend(surface)
    return pieces


def _end_of_run(characters: str, morphemes: Sequence[str], start: int) -> int | None:
    """The index behind the non-empty morphemes from `start` on that add up to `characters`, None if they do not."""
    taken, index = 0, start
    while taken < len(characters):
        if index == len(morphemes) or not morphemes[index] or not characters.startswith(morphemes[index], taken):
            return None
        taken += len(morphemes[index])
        index += 1
    return index


def spell(piece: str, known: Container[str]) -> list[str]:
    """Returns the pieces that stand for a `piece` outside the vocabulary `known`: its characters.

    A mark becomes a piece of its own. A character that is not known either is written with its compatibility
    decomposition (an unseen syllable with its letters) where all of that is known; else it is left as it is.
    """
    spelled: list[str] = []
    for character in piece:
        parts = unicodedata.normalize("NFKD", character)
        if character not in known and all(part in known for part in parts):
            spelled.extend(parts)
        else:
            spelled.append(character)
    return spelled


def rejoin(pieces: Iterable[str]) -> str:
    """Returns the text of `pieces`, spaced as it was written. The exported graph does the same."""
    return "".join(pieces).replace(WORD_START, " ").strip(" ")
