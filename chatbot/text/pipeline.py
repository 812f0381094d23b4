"""The one object through which training, evaluation, export and chat turn text into ids and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chatbot.text.analyzer import Analyzer
from chatbot.text.normalize import has_visible, normalize
from chatbot.text.pieces import LONGEST_RUN, mark_runs, rejoin, spell, split_runs
from chatbot.text.vocabulary import HANGUL_LETTERS, UNKNOWN_ID, Vocabulary


@dataclass(frozen=True)
class Question:
    """A question as the model sees it.

    Attributes:
        pieces: what goes into the model; cut to its maximum length. Empty when the text shows nothing.
        spelled: the morphemes that are not in the vocabulary and were spelled, without word-start marks.
        is_cut: whether the end of the question did not fit.
        is_known: whether any piece was seen in training; single letters that a syllable was spelled into do not count.
        text: normalised, whole.
    """

    pieces: tuple[str, ...]
    spelled: tuple[str, ...]
    is_cut: bool
    is_known: bool
    text: str = ""


def analyze(texts: Sequence[str], analyzer: Analyzer) -> list[list[str]]:
    """Returns the marked morphemes of each of `texts`, normalised: the pieces it has in an unlimited vocabulary."""
    runs = [split_runs(text) for text in texts]
    unmarked = iter(analyzer.morphemes([" ".join(run.characters for run in of_text) for of_text in runs if of_text]))
    return [mark_runs(of_text, next(unmarked)) if of_text else [] for of_text in runs]


def to_pieces(morphemes: Iterable[str], vocabulary: Vocabulary) -> list[str]:
    """Returns marked `morphemes` with those outside the vocabulary spelled."""
    pieces: list[str] = []
    for morpheme in morphemes:
        pieces.extend([morpheme] if morpheme in vocabulary else spell(morpheme, vocabulary))
    return pieces


class TextPipeline:
    """Splits, spells and rejoins text by one analyzer, one vocabulary and one maximum length."""

    def __init__(self, analyzer: Analyzer, vocabulary: Vocabulary, max_question_length: int) -> None:
        self.analyzer = analyzer
        self.vocabulary = vocabulary
        self.max_question_length = max_question_length

    def questions(self, texts: Sequence[str]) -> list[Question]:
        """Prepares what users typed, whatever it is."""
        normal = [normalize(text) for text in texts]
        # Pieces are no longer than a run, so this keeps all that can fit and bounds the analyzer's time.
        longest = self.max_question_length * LONGEST_RUN
        readable = [text[:longest] for text in normal]
        analyzed = analyze([text if has_visible(text) else "" for text in readable], self.analyzer)
        return [self._question(text, morphemes) for text, morphemes in zip(normal, analyzed, strict=True)]

    def _question(self, normal: str, morphemes: Sequence[str]) -> Question:
        if not morphemes:
            return Question((), (), is_cut=False, is_known=False)
        pieces = to_pieces(morphemes, self.vocabulary)
        fitting = tuple(pieces[: self.max_question_length])
        return Question(
            pieces=fitting,
            spelled=tuple(rejoin([morpheme]) for morpheme in morphemes if morpheme not in self.vocabulary),
            is_cut=len(pieces) > len(fitting) or len(normal) > self.max_question_length * LONGEST_RUN,
            is_known=any(self._is_known(piece) for piece in fitting),
            text=normal,
        )

    def _is_known(self, piece: str) -> bool:
        surface = rejoin([piece])
        return piece in self.vocabulary and surface.isalnum() and surface not in HANGUL_LETTERS

    def ids(self, pieces: Iterable[str]) -> list[int]:
        """The ids of pieces; unknown ones get the unknown piece's."""
        return [self.vocabulary.get(piece) for piece in pieces]

    def text(self, ids: Iterable[int]) -> str:
        """The text of ids; special pieces have none."""
        return rejoin(self.vocabulary.surface(index) for index in ids)

    def has_unknown(self, pieces: Sequence[str]) -> bool:
        """Whether any of `pieces` has no id of its own."""
        return UNKNOWN_ID in self.ids(pieces)
