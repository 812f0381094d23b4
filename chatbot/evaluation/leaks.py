"""Test questions that stand in the training data measure memory, nothing else."""

from __future__ import annotations

import numpy as np

from chatbot.dataset.corpus import Corpus
from chatbot.text.normalize import question_key


def without_leaks(test: Corpus, training: Corpus) -> Corpus:
    """The part of `test` whose questions do not stand in `training`, however they are spelled."""
    known = set(map(question_key, training.questions))
    return test.take(np.flatnonzero([question_key(question) not in known for question in test.questions]))
