"""Preparing larger and larger corpora: time by rows, memory, and the second run, from the cache.

Each size in a process of its own, from the CSV file to ids, as train.py does it. Rows are made from the corpus by numbers
in front, so that all differ.
"""

from __future__ import annotations

import csv
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.turns import Contender, Figures
from benchmarks.workload import read_texts


def prepared(rows: int, analyzer: str, is_second: bool = False) -> Callable[[], Figures]:
    """A turn over a file of so many rows."""
    corpus = read_texts()
    pairs = list(zip(corpus.questions, corpus.answers, strict=True))
    directory = Path(tempfile.mkdtemp())
    path = directory / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("Q", "A"))
        for number in range(rows):
            question, answer = pairs[number % len(pairs)]
            writer.writerow((f"{number} {question}", f"{number} {answer}"))
    before = prepare(path, analyzer, directory) if is_second else 0.0
    if not is_second and analyzer == "okt":
        prepare(path, analyzer, None)  # Java gets warm

    def turn() -> Figures:
        seconds = prepare(path, analyzer, directory if is_second else None)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {"rows/s": rows / seconds, "s": seconds, "peak MB": peak, **({"s before": before} if is_second else {})}

    return turn


def prepare(path: Path, analyzer: str, cache: Path | None) -> float:
    """From a file to ids; returns the seconds it took."""
    from chatbot.config import TextSettings
    from chatbot.dataset.corpus import read_corpus
    from chatbot.dataset.encode import make_pair_encoder
    from chatbot.dataset.morphemes import analyze_all
    from chatbot.text.analyzer import make_analyzer

    began = time.perf_counter()
    corpus = read_corpus([path])
    morphemes = analyze_all(corpus.questions + corpus.answers, make_analyzer(analyzer), cache)
    questions, answers = morphemes[: len(corpus.pairs)], morphemes[len(corpus.pairs) :]
    encoder = make_pair_encoder(TextSettings(analyzer=analyzer), questions, answers)
    encoder.encode(questions, answers, corpus.answer_numbers)
    return time.perf_counter() - began


CONTENDERS: dict[str, tuple[Contender, dict[str, Any]]] = {
    "20,000 rows": (prepared, {"rows": 20_000, "analyzer": "okt"}),
    "20,000 rows, second run": (prepared, {"rows": 20_000, "analyzer": "okt", "is_second": True}),
    "40,000 rows": (prepared, {"rows": 40_000, "analyzer": "okt"}),
    "80,000 rows": (prepared, {"rows": 80_000, "analyzer": "okt"}),
    "1,000,000 rows of characters": (prepared, {"rows": 1_000_000, "analyzer": "character"}),
}
