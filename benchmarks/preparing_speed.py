"""Preparing a corpus: sentences a second into morphemes, beside the loop over `Okt().morphs` that everybody writes.

Both are warm, in a Java of their own, and must find the same morphemes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.turns import Contender, Figures
from benchmarks.workload import read_texts

Split = Callable[[Sequence[str]], list[Any]]


def timed(split: Split) -> Callable[[], Figures]:
    """A turn over the whole corpus."""
    corpus = read_texts()
    texts = list(dict.fromkeys([*corpus.questions, *corpus.answers]))
    found = split(texts)

    def turn() -> Figures:
        began = time.perf_counter()
        split(texts)
        return {"sentences/s": len(texts) / (time.perf_counter() - began), "morphemes": sum(map(len, found))}

    return turn


def ours() -> Callable[[], Figures]:
    """As train.py splits texts."""
    from chatbot.text.analyzer import OktAnalyzer

    return timed(OktAnalyzer().morphemes)


def konlpy_loop() -> Callable[[], Figures]:
    """A sentence at a time."""
    from chatbot.text.analyzer import start_jvm

    start_jvm()  # the same Java, started in the same way
    from konlpy.tag import Okt

    okt = Okt()
    return timed(lambda texts: [okt.morphs(text) for text in texts])


CONTENDERS: dict[str, tuple[Contender, dict[str, Any]]] = {"ours": (ours, {}), "loop over Okt().morphs": (konlpy_loop, {})}
