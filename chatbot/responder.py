"""Text in, reply out: what every user of a trained model goes through."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatbot.artifact import MANIFEST, find_export, pad_morphemes, read_extra, read_known_answers
from chatbot.errors import UserError
from chatbot.fallback import DEFAULT_TEXT, Fallback
from chatbot.notices import Notice
from chatbot.storage import file_digest
from chatbot.text.analyzer import OktAnalyzer, make_analyzer
from chatbot.text.normalize import WORD_START, normalize
from chatbot.text.okt_process import shared_okt_process
from chatbot.text.pipeline import Question, TextPipeline, analyze, to_pieces

_MOST_TRIES = 3


@dataclass(frozen=True)
class Reply:
    """A reply.

    Attributes:
        text: the finished sentence, of a language model the whole line; "" where the question was blank.
        pieces: the question as the model saw it.
        spelled: morphemes of the question that were not in the vocabulary and were spelled.
        log_probability: sum over the reply's pieces, the end piece included.
        confidence: the same with the log probability of the recalled answer, by the number of pieces.
        withheld: what the model would have said, where a fallback stands in its place; else "".
        notices: what the reader should know.
    """

    text: str
    pieces: tuple[str, ...] = ()
    spelled: tuple[str, ...] = ()
    log_probability: float = 0.0
    confidence: float = 0.0
    withheld: str = ""
    notices: tuple[Notice, ...] = ()


class Responder:
    """Answers questions, or continues lines, with an export. Load it with `Responder.load`; safe to use from several threads.

    Example:
        >>> from chatbot import Responder
        >>> responder = Responder.load("models/smalltalk")
        >>> responder.reply("오늘 뭐 먹지?").text
    """

    def __init__(self, pipeline: TextPipeline, model: Any, task: str = "chat", fallback: Fallback | None = None) -> None:
        self.pipeline = pipeline
        self.task = task
        self.fallback = fallback
        self._model = model
        self._serve = model.signatures["serving_default"]
        self._explain = model.signatures["explain"]

    @classmethod
    def load(
        cls,
        path: str | Path,
        fallback: str | None = None,
        threshold: float | None = None,
        only_known_answers: bool = False,
        sha256: str | None = None,
    ) -> Responder:
        """Loads an export, or that of a run directory: TensorFlow and the analyzer side by side.

        Another process may put a new export in its place meanwhile: what is loaded is the old one or the new one, whole.

        Args:
            path: of the run directory or the export.
            fallback: said instead of a reply that is too unsure, or to a question of which nothing is known; None: every
                reply is said, or with one of the other two a sentence that says so.
            threshold: the confidence that is sure enough (default: as chosen in training, where questions were held out).
            only_known_answers: whether the fallback also stands for replies that are no answer of the training data.
            sha256: of the manifest, as `train.py` and `export` print it; another export is refused before any of it runs.

        Raises:
            UserError: the path holds none, a file is damaged, it is not the one that was asked for, the analyzer cannot
                start, or a language model is asked for what only answers have.
        """
        for _ in range(_MOST_TRIES):
            directory = find_export(Path(path))
            before = _mark(directory)
            try:
                responder = cls._load(directory, fallback, threshold, only_known_answers, sha256)
            except (UserError, OSError):
                if _mark(directory) == before:
                    raise
            else:
                if _mark(directory) == before:
                    return responder
        raise UserError(f"{path}: replaced over and over while it was loaded; try again when that has ended")

    @classmethod
    def _load(
        cls, directory: Path, fallback: str | None, threshold: float | None, only_known_answers: bool, sha256: str | None
    ) -> Responder:
        manifest, vocabulary = read_extra(directory, sha256)
        chosen = None
        if fallback is not None or threshold is not None or only_known_answers:
            if manifest.text.task != "chat":
                raise UserError(
                    f"{directory}: a language model continues any line; leave out fallback, threshold and known answers"
                )
            chosen = Fallback(
                DEFAULT_TEXT if fallback is None else normalize(fallback),
                manifest.threshold if threshold is None else threshold,
                read_known_answers(directory) if only_known_answers else None,
            )
        name = manifest.text.analyzer
        analyzer = shared_okt_process() if name == OktAnalyzer.name else make_analyzer(name)
        with ThreadPoolExecutor(1) as pool:
            loading = pool.submit(_load_saved_model, directory)
            analyzer.start()
            model = loading.result()
        return cls(
            TextPipeline(analyzer, vocabulary, manifest.text.max_question_length or 1), model, manifest.text.task, chosen
        )

    def reply(self, text: str) -> Reply:
        """Answers one question, whatever it is."""
        return self.replies([text])[0]

    def replies(self, texts: Sequence[str]) -> list[Reply]:
        """Answers questions in one batch."""
        questions = self.pipeline.questions(texts)
        asked = [question for question in questions if question.pieces]
        answers = iter(self._answer(asked) if asked else [])
        blank = Reply("", notices=(Notice.BLANK_QUESTION,))
        return [next(answers) if question.pieces else blank for question in questions]

    def log_probabilities(self, questions: Sequence[str], answers: Sequence[str]) -> list[list[float] | None]:
        """How probable the model finds given answers, in one batch.

        Returns:
            natural logarithms a pair: of each piece of the answer and of the end piece; None where the question is
            blank or the answer holds a sign that no piece of the vocabulary writes.
        """
        import tensorflow as tf

        asked = [question.pieces for question in self.pipeline.questions(questions)]
        analyzed = analyze([normalize(text) for text in answers], self.pipeline.analyzer)
        wanted = [to_pieces(morphemes, self.pipeline.vocabulary) for morphemes in analyzed]
        found: list[list[float] | None] = [None] * len(questions)
        rows = [row for row, pieces in enumerate(wanted) if asked[row] and not self.pipeline.has_unknown(pieces)]
        if not rows:
            return found
        output = self._explain(
            morphemes=tf.constant(pad_morphemes([asked[row] for row in rows])),
            reply_morphemes=tf.constant(pad_morphemes([[*wanted[row], ""] for row in rows])),  # room for the end piece
        )
        for row, logarithms in zip(rows, output["log_probabilities"].numpy(), strict=True):
            found[row] = logarithms[: len(wanted[row]) + 1].tolist()
        return found

    def _answer(self, questions: Sequence[Question]) -> list[Reply]:
        import tensorflow as tf

        output = self._serve(morphemes=tf.constant(pad_morphemes([question.pieces for question in questions])))
        columns = zip(
            questions,
            output["reply"].numpy(),
            output["reply_morphemes"].numpy(),
            output["log_probability"].numpy(),
            output["confidence"].numpy(),
            strict=True,
        )
        replies = [
            Reply(
                text=self._text(question, reply, reply_pieces),
                pieces=question.pieces,
                spelled=question.spelled,
                log_probability=float(log_probability),
                confidence=float(confidence),
                notices=_notices(question, is_cut=bool(reply_pieces[-1])),
            )
            for question, reply, reply_pieces, log_probability, confidence in columns
        ]
        return [self._or_fallback(reply) for reply in replies]

    def _text(self, question: Question, reply: bytes, reply_pieces: Sequence[bytes]) -> str:
        """The finished sentence, with nothing in it that could steer a terminal."""
        said = reply.decode("utf-8", "replace")
        if self.task == "language-model":  # the line as it was typed, not as its pieces spell it
            said = question.text + b"".join(reply_pieces).decode("utf-8", "replace").replace(WORD_START, " ")
        return normalize(said)

    def _or_fallback(self, reply: Reply) -> Reply:
        if self.fallback is None:
            return reply
        reason = self.fallback.reason(reply.text, reply.confidence, Notice.NOTHING_KNOWN not in reply.notices)
        if reason is None:
            return reply
        kept = tuple(notice for notice in reply.notices if notice not in (Notice.NOTHING_KNOWN, Notice.CUT_REPLY))
        return dataclasses.replace(reply, text=self.fallback.text, withheld=reply.text, notices=(reason, *kept))


def _notices(question: Question, is_cut: bool) -> tuple[Notice, ...]:
    found = {
        Notice.CUT_QUESTION: question.is_cut,
        Notice.NOTHING_KNOWN: not question.is_known,
        Notice.CUT_REPLY: is_cut,
    }
    return tuple(notice for notice, applies in found.items() if applies)


def _mark(directory: Path) -> str | None:
    """What tells one export from the next at the same place; None where there is none at the moment."""
    try:
        return file_digest(directory / MANIFEST)
    except OSError:
        return None


def _load_saved_model(directory: Path) -> Any:
    import tensorflow as tf

    try:
        return tf.saved_model.load(str(directory))
    except Exception as error:
        raise UserError(f"{directory}: TensorFlow cannot load it ({' '.join(str(error).split())[:200]})") from error
