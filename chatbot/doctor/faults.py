"""What is wrong with the characters of a cell, though training would read it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum


class CellFault(StrEnum):
    """A fault that `normalize` mends, or, for lost characters, that nobody can."""

    NFD = "nfd"
    CONTROL_CHARACTERS = "control_characters"
    INVISIBLE_CHARACTERS = "invisible_characters"
    LINE_BREAKS = "line_breaks"
    LOST_CHARACTERS = "lost_characters"


_PATTERNS = {
    CellFault.CONTROL_CHARACTERS: re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]"),
    # Zero width, soft hyphen, byte order marks, directions of writing.
    CellFault.INVISIBLE_CHARACTERS: re.compile("[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"),
    CellFault.LINE_BREAKS: re.compile("[\n\r\x85\u2028\u2029]"),
    CellFault.LOST_CHARACTERS: re.compile("\ufffd"),
}
_ANY = re.compile("|".join(pattern.pattern for pattern in _PATTERNS.values()))


def cell_faults(cell: str) -> Iterator[CellFault]:
    """Yields what is wrong with a cell, each fault once."""
    if not unicodedata.is_normalized("NFC", cell):
        yield CellFault.NFD
    if _ANY.search(cell):  # one look for all of them, since nearly every cell is clean
        for fault, pattern in _PATTERNS.items():
            if pattern.search(cell):
                yield fault
