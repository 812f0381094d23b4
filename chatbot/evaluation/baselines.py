"""What a model has to beat: the nearest training question's answer, and one answer to everything."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

import numpy as np

from chatbot.errors import UserError
from chatbot.evaluation.answers import Answers

_BATCH = 64


def constant_answers(training_answers: Sequence[str], num_questions: int) -> Answers:
    """The most frequent training answer to every question; the first of those that are equally frequent."""
    ((answer, _),) = Counter(training_answers).most_common(1)
    return Answers([answer] * num_questions, [False] * num_questions)


def retrieval_answers(training_questions: Sequence[str], training_answers: Sequence[str], questions: Sequence[str]) -> Answers:
    """To each question the answer of the nearest training question, the first of those that are equally near.

    Nearness is the cosine of TF-IDF vectors of characters, their pairs and triples, as scikit-learn makes them.

    Raises:
        UserError: scikit-learn is not installed.
    """
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError:
        raise UserError("scikit-learn is missing: pip install -r requirements-evaluate.txt") from None
    # Any character counts, a lone "?" too; the default analyzer of words would leave an empty vocabulary.
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 3))
    known = vectorizer.fit_transform(training_questions).T.tocsr()  # [features, N], rows of length 1
    replies: list[str] = []
    began = time.monotonic()
    for start in range(0, len(questions), _BATCH):
        cosines = (vectorizer.transform(questions[start : start + _BATCH]) @ known).toarray()  # [B, N]
        replies += [training_answers[row] for row in np.argmax(cosines, axis=1)]
    return Answers(replies, [False] * len(replies), seconds=time.monotonic() - began)
