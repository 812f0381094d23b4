"""Figures of a model and its baselines, split by kind, as a document that goes to JSON."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chatbot.evaluation import metrics
from chatbot.evaluation.answers import Answers
from chatbot.training.scoring import chrf, exact_share

FORMAT = 1
MOST_KINDS = 20
"""A column with more different values than this tells rows apart, not kinds."""

Figures = dict[str, float | None]


@dataclass(frozen=True)
class QuestionSet:
    """What is measured on.

    Attributes:
        questions: normalised.
        answers: wanted, normalised.
        kinds: of each question, "" where there is none.
        training_answers: to tell replies that are one of them; None: not known.
    """

    questions: Sequence[str]
    answers: Sequence[str]
    kinds: Sequence[str]
    training_answers: Collection[str] | None = None


def kind_rows(kinds: Sequence[str]) -> dict[str, list[int]]:
    """The rows of each kind, in order of first appearance; none where there is one kind or more than 20."""
    rows: dict[str, list[int]] = {}
    for row, kind in enumerate(kinds):
        rows.setdefault(kind, []).append(row)
    return rows if 1 < len(rows) <= MOST_KINDS else {}


def figures(test: QuestionSet, given: Answers, rows: Sequence[int]) -> Figures:
    """All figures of one system on some rows; None where there is none for it."""
    replies, is_cut = [given.replies[row] for row in rows], [given.is_cut[row] for row in rows]
    answers = [test.answers[row] for row in rows]
    known = test.training_answers
    is_all = len(rows) == len(given.replies)
    return {
        "exact": exact_share(replies, answers),
        "chrf": chrf(replies, answers),
        "bleu": metrics.character_bleu(replies, answers),
        **_likelihood_figures(given, test.answers, rows),
        "distinct_replies": metrics.distinct_share(replies),
        "distinct_bigrams": metrics.distinct_bigram_share(replies),
        "empty": metrics.empty_share(replies),
        "cut": sum(is_cut) / max(1, len(rows)),
        "endless": metrics.endless_share(replies, is_cut),
        "training_answers": None if known is None else metrics.share_of(replies, known),
        "answers_per_second": len(rows) / max(given.seconds, 1e-9) if given.seconds is not None and is_all else None,
    }


def _likelihood_figures(given: Answers, answers: Sequence[str], rows: Sequence[int]) -> Figures:
    """Perplexity and bits per character, over the answers that the model's pieces can write."""
    likelihoods = given.likelihoods or []
    scored = [(likelihood, len(answers[row])) for row in rows if likelihoods and (likelihood := likelihoods[row])]
    if not scored:
        return {"perplexity": None, "bits_per_character": None}
    log_probability = sum(likelihood.log_probability for likelihood, _ in scored)
    return {
        "perplexity": metrics.perplexity(log_probability, sum(likelihood.num_tokens for likelihood, _ in scored)),
        "bits_per_character": metrics.bits_per_character(log_probability, sum(characters for _, characters in scored)),
    }


def make_report(test: QuestionSet, systems: Mapping[str, Answers], num_samples: int = 0) -> dict[str, Any]:
    """The figures of all systems, over all questions and by kind, as JSON values.

    Args:
        test: what was asked.
        systems: the model and its baselines, by name.
        num_samples: questions to show with every reply, spread evenly over the rows.
    """
    parts = [("all", list(range(len(test.questions)))), *kind_rows(test.kinds).items()]
    groups = [
        {
            "kind": None if number == 0 else name,
            "questions": len(rows),
            "figures": {system: figures(test, given, rows) for system, given in systems.items()},
        }
        for number, (name, rows) in enumerate(parts)
    ]
    unscored = sum(likelihood is None for given in systems.values() for likelihood in given.likelihoods or [])
    return {
        "format": FORMAT,
        "questions": len(test.questions),
        "answers_without_perplexity": unscored,
        "groups": groups,
        "samples": _samples(test, systems, num_samples),
    }


def _samples(test: QuestionSet, systems: Mapping[str, Answers], number: int) -> list[dict[str, Any]]:
    total = len(test.questions)
    number = min(number, total)
    return [
        {
            "question": test.questions[row],
            "answer": test.answers[row],
            "kind": test.kinds[row],
            "replies": {system: given.replies[row] for system, given in systems.items()},
        }
        for row in (index * total // number for index in range(number))
    ]
