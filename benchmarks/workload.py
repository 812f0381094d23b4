"""What the benchmarks work on: the public corpus where it lies beside the project, else the bundled small talk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from chatbot.config import ModelSettings, TextSettings
from chatbot.dataset.corpus import Corpus, read_corpus
from chatbot.dataset.encode import EncodedPairs, make_pair_encoder
from chatbot.dataset.morphemes import analyze_all, cache_directory
from chatbot.text.analyzer import OktAnalyzer

ROOT = Path(__file__).resolve().parent.parent
PUBLIC, BUNDLED = ROOT.parent / "shared" / "data" / "songys" / "train.csv", ROOT / "data" / "smalltalk.csv"

VOCABULARY_SIZE = 8_000
BATCH = 64
SETTINGS = ModelSettings(
    hidden_dim=256,
    num_heads=8,
    num_encoder_layers=2,
    num_decoder_layers=2,
    intermediate_dim=512,
    dropout=0.1,
    norm="pre",
    answer_memory=False,  # no peer has one
)


class Workload(NamedTuple):
    """Pairs as every contender gets them."""

    pairs: EncodedPairs
    vocabulary_size: int


def read_texts() -> Corpus:
    """The corpus."""
    return read_corpus([PUBLIC if PUBLIC.is_file() else BUNDLED])


def read_pairs() -> Workload:
    """The corpus as ids."""
    corpus = read_texts()
    morphemes = analyze_all(corpus.questions + corpus.answers, OktAnalyzer(), cache_directory())
    questions, answers = morphemes[: len(corpus.pairs)], morphemes[len(corpus.pairs) :]
    encoder = make_pair_encoder(TextSettings(vocabulary_size=VOCABULARY_SIZE), questions, answers)
    return Workload(encoder.encode(questions, answers, corpus.answer_numbers()), len(encoder.vocabulary))
