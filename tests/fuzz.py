"""Inputs that nobody means to send: bytes and strings from one seed, so that what fails can be looked at again."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

from chatbot.text.normalize import without_controls

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
ESCAPES = [
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x1bP+q544e\x1b\\",
    "\x9b2J",
    "\x9d8;;http://x\x9c",
    "\r\x1b[K",
    "\x08" * 9,
    "\x0e",
    "\x7f",
]
_MARKS = "\u0301\u0323\u0344\u0f73\u3099\u1dce\u20d0\u05b0"
_JOINED = ["👨\u200d👩\u200d👧", "❤\ufe0f", "🇰🇷", "각", "ㅋ", "한", "\ufdfa", "ﬃ", "İ", "ß"]


def any_text(random: random.Random) -> str:
    """A string of one of many kinds, up to 60 characters or signs."""
    length = random.randrange(1, 60)
    kinds = [
        lambda: "".join(chr(random.randrange(sys.maxunicode + 1)) for _ in range(length)),
        lambda: "".join(chr(0x10000 * random.randrange(17) + random.randrange(0x400)) for _ in range(length)),
        lambda: "".join(chr(random.randrange(0xAC00, 0xD7A4)) for _ in range(length)),
        lambda: "".join(chr(random.randrange(0x1100, 0x1200)) for _ in range(length)),
        lambda: "".join(random.choice("안녕오늘뭐먹지?! ㅋㅠ1a.") for _ in range(length)),
        lambda: "a" + "".join(random.choice(_MARKS) for _ in range(length)),
        lambda: "".join(random.choice(BIDI + "가나 ") for _ in range(length)),
        lambda: "".join(random.choice(_JOINED) for _ in range(length)),
        lambda: "오늘" + "".join(random.choice(ESCAPES) for _ in range(length % 9)) + "뭐 먹지",
        lambda: "".join(chr(random.randrange(0xD800, 0xE000)) for _ in range(length)),
        lambda: "\x00" * length,
        lambda: random.choice(["<end>", "<padding>", "▁", "/quit", "/why", "%s%n", "{}", "..", " ", "\u3164"]) * (length % 4),
    ]
    return random.choice(kinds)()


def any_line(random: random.Random) -> bytes:
    """The bytes of a line, without its end."""
    kind = random.randrange(4)
    if kind == 0:
        return random.randbytes(random.randrange(100)).replace(b"\n", b"")
    encoding = ("utf-8", "cp949", "utf-16")[random.randrange(3)]
    line = any_text(random).encode(encoding, "surrogatepass" if encoding != "cp949" else "replace")
    if kind == 1 and line:
        line = line[: random.randrange(len(line))]
    return line.replace(b"\n", b"")


def any_lines(count: int, seed: int = 0) -> Iterator[bytes]:
    """Lines of all kinds, the same ones for a seed."""
    generator = random.Random(seed)
    return (any_line(generator) for _ in range(count))


def any_texts(count: int, seed: int = 0) -> Iterator[str]:
    """Strings of all kinds, the same ones for a seed."""
    generator = random.Random(seed)
    return (any_text(generator) for _ in range(count))


def is_plain(text: str) -> bool:
    """Whether a terminal shows all of `text` and obeys none of it."""
    return text == without_controls(text)
