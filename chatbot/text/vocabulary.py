"""The vocabulary: pieces <-> ids."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from unicodedata import normalize

from chatbot.errors import UserError
from chatbot.text.normalize import WORD_START

SPECIAL_PIECES = ("<padding>", "<unknown>", "<start>", "<end>")
PADDING_ID, UNKNOWN_ID, START_ID, END_ID = range(len(SPECIAL_PIECES))

HANGUL_LETTERS = tuple(
    sorted({letter for code in (*range(0xAC00, 0xD7A4), *range(0x3131, 0x3164)) for letter in normalize("NFKD", chr(code))})
)
"""What modern syllables, and letters that stand alone, decompose into: any Hangul can be spelled with them."""

FORMAT = 1


class Vocabulary:
    """An immutable list of pieces; a piece's id is its place.

    Special pieces come first and have no text: `get` never finds them, whatever a user types.

    Raises:
        UserError: the list does not start with the special pieces, holds a piece twice, or an empty one.
    """

    def __init__(self, pieces: Sequence[str]) -> None:
        if tuple(pieces[: len(SPECIAL_PIECES)]) != SPECIAL_PIECES:
            raise UserError(f"vocabulary: it must start with {', '.join(SPECIAL_PIECES)}; it starts with {list(pieces[:4])}")
        if not all(isinstance(piece, str) and piece for piece in pieces) or len(set(pieces)) != len(pieces):
            raise UserError("vocabulary: every piece must be a string that is not empty and occurs once")
        self.pieces = tuple(pieces)
        first = len(SPECIAL_PIECES)
        self._ids = {piece: index for index, piece in enumerate(self.pieces[first:], first)}

    def __len__(self) -> int:
        return len(self.pieces)

    def __contains__(self, piece: object) -> bool:
        return piece in self._ids

    def get(self, piece: str) -> int:
        """The id of `piece`, or that of the unknown piece."""
        return self._ids.get(piece, UNKNOWN_ID)

    def surface(self, index: int) -> str:
        """The piece with this id, as text: "" for special pieces."""
        return "" if index < len(SPECIAL_PIECES) else self.pieces[index]

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the pieces in order; two vocabularies agree exactly when their digests do."""
        return hashlib.sha256("\n".join(self.pieces).encode(errors="surrogatepass")).hexdigest()

    def to_json(self) -> str:
        """Returns a document that `from_json` reads."""
        return json.dumps({"format": FORMAT, "digest": self.digest, "pieces": self.pieces}, ensure_ascii=False, indent=0)

    @classmethod
    def from_json(cls, document: str) -> Vocabulary:
        """Reads what `to_json` wrote.

        Raises:
            UserError: the document is damaged or of another format.
        """
        try:
            content = json.loads(document)
        except (ValueError, RecursionError) as error:
            raise UserError(f"vocabulary: not JSON ({error}); it is damaged") from error
        if not isinstance(content, dict) or content.get("format") != FORMAT or not isinstance(content.get("pieces"), list):
            raise UserError(f"vocabulary: expected format {FORMAT} with a list of pieces; it is damaged or of another version")
        vocabulary = cls(content["pieces"])
        if content.get("digest", vocabulary.digest) != vocabulary.digest:
            raise UserError("vocabulary: its digest is that of other pieces; it is damaged")
        return vocabulary


def build_vocabulary(
    questions: Iterable[Sequence[str]],
    answers: Iterable[Sequence[str]],
    vocabulary_size: int,
    minimum_frequency: int = 1,
) -> Vocabulary:
    """Chooses the pieces of a vocabulary from the pieces of training sentences.

    It always holds the special pieces, the word-start mark, every character of the answers, every character that
    questions show twice and the Hangul letters, so that each answer and any Hangul can be spelled. The rest of
    `vocabulary_size` goes to the most frequent pieces seen at least `minimum_frequency` times. Ordered by
    frequency, ties by code points.

    Raises:
        UserError: `vocabulary_size` is below what must be in it; the message quotes that minimum.
    """
    counts: Counter[str] = Counter()
    question_characters: Counter[str] = Counter()
    required = {WORD_START, *HANGUL_LETTERS}
    for pieces in questions:
        counts.update(pieces)
        question_characters.update("".join(pieces))
    for pieces in answers:
        counts.update(pieces)
        required.update("".join(pieces))
    required.update(character for character, count in question_characters.items() if count >= 2)

    minimum = len(SPECIAL_PIECES) + len(required)
    if vocabulary_size < minimum:
        raise UserError(
            f"vocabulary_size {vocabulary_size} is too small for this data: "
            f"its characters alone need {minimum}; give at least that"
        )

    def rank(piece: str) -> tuple[int, str]:
        return (-counts[piece], piece)

    frequent = (piece for piece, count in counts.items() if count >= minimum_frequency and piece not in required)
    chosen = required.union(sorted(frequent, key=rank)[: vocabulary_size - minimum])
    return Vocabulary([*SPECIAL_PIECES, *sorted(chosen, key=rank)])
