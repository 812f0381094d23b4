"""Texts -> marked morphemes, remembered on disk, so that the second training of a corpus starts no Java."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from chatbot.storage import replace_file
from chatbot.text.analyzer import Analyzer
from chatbot.text.pieces import LONGEST_RUN
from chatbot.text.pipeline import analyze

_FORMAT = 1
_TEXTS_AT_ONCE = 1_000
"""Enough to keep all cores busy, few enough that Ctrl-C does not wait."""


def cache_directory() -> Path:
    """Where caches go: $XDG_CACHE_HOME/korean-chatbot, by default below ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "korean-chatbot"


def analyze_all(
    texts: Sequence[str],
    analyzer: Analyzer,
    directory: Path | None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[list[str]]:
    """Returns the marked morphemes of each of `texts` (normalised), from the cache in `directory` if they are there.

    Args:
        texts: normalised.
        analyzer: started only when the cache does not help.
        directory: where to remember; None, or a directory that cannot be written: nowhere.
        on_progress: called now and then with the texts done and their number.
    """
    distinct = list(dict.fromkeys(texts))
    path = None if directory is None else directory / f"{_digest(distinct, analyzer)}.npz"
    analyzed = None if path is None else _load(path, len(distinct))
    if analyzed is None:
        analyzed = []
        same: dict[str, str] = {}  # one object for each distinct morpheme: a character each would take ten times the room
        for start in range(0, len(distinct), _TEXTS_AT_ONCE):
            on_progress(start, len(distinct))
            for morphemes in analyze(distinct[start : start + _TEXTS_AT_ONCE], analyzer):
                analyzed.append([same.setdefault(morpheme, morpheme) for morpheme in morphemes])
        on_progress(len(distinct), len(distinct))
        if path is not None:
            _save(path, analyzed)
    by_text = dict(zip(distinct, analyzed, strict=True))
    return [by_text[text] for text in texts]


def _digest(texts: Sequence[str], analyzer: Analyzer) -> str:
    """SHA-256 over all that the result depends on."""
    hasher = hashlib.sha256(json.dumps([_FORMAT, analyzer.name, analyzer.version, LONGEST_RUN]).encode())
    for text in texts:
        hasher.update(text.encode() + b"\n")
    return hasher.hexdigest()


def _save(path: Path, analyzed: Sequence[Sequence[str]]) -> None:
    """Writes every distinct morpheme once, and each text as their numbers. A cache that cannot be written is none."""
    distinct = list(dict.fromkeys(morpheme for morphemes in analyzed for morpheme in morphemes))
    numbers = {morpheme: number for number, morpheme in enumerate(distinct)}
    flat = np.array([numbers[morpheme] for morphemes in analyzed for morpheme in morphemes], dtype=np.uint32)
    lengths = np.array([len(morphemes) for morphemes in analyzed], dtype=np.uint32)
    pieces = np.frombuffer("\n".join(distinct).encode(), dtype=np.uint8)
    try:
        for begun in path.parent.glob(f".{path.name}.*.part"):
            begun.unlink()  # of a training that was killed; one that lives would just not get to remember this
        with replace_file(path) as file:
            np.savez_compressed(file, pieces=pieces, flat=flat, lengths=lengths)
    except OSError:
        return


def _load(path: Path, count: int) -> list[list[str]] | None:
    """What `_save` wrote; None where it is missing or damaged."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            distinct = archive["pieces"].tobytes().decode().split("\n")
            flat, ends = archive["flat"], np.cumsum(archive["lengths"], dtype=np.int64)
        if len(ends) != count or (count and ends[-1] != len(flat)) or (len(flat) and flat.max() >= len(distinct)):
            return None
    except Exception:  # whatever is wrong with it, it is made again
        return None
    starts = [0, *ends[:-1]]
    return [[distinct[number] for number in flat[start:end]] for start, end in zip(starts, ends, strict=True)]
