"""One rule that makes equal what a reader sees as equal, for training and for chat alike."""

from __future__ import annotations

import re
import unicodedata

WORD_START = "\u2581"
"""The mark (a low block) in front of a piece that starts a word; it cannot occur in normalised text."""

_C0_AND_C1 = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))}
_INVISIBLE = {"\u200b", "\u2060", "\ufeff", "\u00ad"}
_BIDI = {chr(code) for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}
_FILLERS = {"\u115f", "\u1160", "\u3164", "\uffa0", "\u2800"}  # letters by category, but nothing is drawn
_DROPPED = {character for character in _C0_AND_C1 | _INVISIBLE | _BIDI if not character.isspace()}

_MARKS_IN_ONE = "\u0344\u0f73\u0f75\u0f81"
"""The characters that NFC takes apart into several combining marks, and never puts together."""

_TRANSLATION: dict[int, str | None] = {
    **{ord(character): None for character in _DROPPED},
    **{ord(character): unicodedata.normalize("NFD", character) for character in _MARKS_IN_ONE},
    **dict.fromkeys(range(55296, 57344), "�"),  # lone surrogates: half a deleted character, badly decoded bytes
    ord(WORD_START): "_",
}


def normalize(text: str) -> str:
    """Returns `text` in the one form that training, chat and every comparison use.

    NFC; each run of white space becomes one blank and the ends are stripped; characters nobody can see
    (zero width, bidi and other controls) are dropped, except U+200D and U+FE0F, which emoji need; a lone
    surrogate becomes U+FFFD; U+2581, which marks word starts inside the model, becomes `_`.
    `normalize(normalize(text)) == normalize(text)`.
    """
    visible = text.translate(_TRANSLATION)  # before NFC: letters held apart by a dropped character may compose
    return " ".join(unicodedata.normalize("NFC", _sort_stacks(visible)).split())


_SHORT = 1000
_STACK = re.compile(rb"[^\0]{64,}")


def _sort_stacks(text: str) -> str:
    """Brings long stacks of combining marks into their canonical order, as NFC would.

    `unicodedata` sorts them by insertion: a stack of 10 MB would take hours. Sorted ones it only walks through.
    """
    if len(text) <= _SHORT:
        return text
    parts, end = [], 0
    for stack in _STACK.finditer(bytes(map(unicodedata.combining, text))):
        by_class: dict[int, list[str]] = {}
        for mark in text[slice(*stack.span())]:
            by_class.setdefault(unicodedata.combining(mark), []).append(mark)
        parts += [text[end : stack.start()], *("".join(by_class[number]) for number in sorted(by_class))]
        end = stack.end()
    return "".join([*parts, text[end:]])


_OBEYED = {ord(character): None for character in _C0_AND_C1 | _BIDI if character not in "\n\t"}


def without_controls(text: str) -> str:
    """Returns `text` without the characters that a terminal obeys instead of showing; line breaks and tabs stay."""
    return text.translate(_OBEYED)


def question_key(text: str) -> str:
    """Returns what the spellings of one question share: its letters and digits, case folded.

    A text without letters and digits (`?!`) is its own key, so that it stays apart from others.
    """
    normal = normalize(text)
    return "".join(character for character in normal.casefold() if character.isalnum()) or normal


def has_visible(text: str) -> bool:
    """Whether `text` shows a reader anything: false for blanks and invisible characters alone."""
    return any(
        unicodedata.category(character) not in ("Mn", "Me", "Cf", "Zs") and character not in _FILLERS
        for character in normalize(text)
    )
