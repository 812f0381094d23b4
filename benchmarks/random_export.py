"""An export with random weights: python -m benchmarks.random_export DIRECTORY"""

from __future__ import annotations

import sys
from pathlib import Path

import keras
import numpy as np

from benchmarks.workload import read_texts
from chatbot.artifact import KnownAnswers
from chatbot.config import TextSettings
from chatbot.dataset.encode import make_pair_encoder
from chatbot.dataset.morphemes import analyze_all, cache_directory
from chatbot.drafts import make_drafts
from chatbot.export import export
from chatbot.layers.ngram_bag import NGRAMS_PER_PIECE
from chatbot.presets import default_preset, preset
from chatbot.text.analyzer import OktAnalyzer
from chatbot.text.ngrams import ngram_table
from chatbot.transformer.make import make_transformer


def main(directory: Path) -> None:
    """Writes what train.py would write, but for the weights, and prints how large it is."""
    corpus = read_texts()
    morphemes = analyze_all(corpus.questions + corpus.answers, OktAnalyzer(), cache_directory())
    encoder = make_pair_encoder(TextSettings(), morphemes[: len(corpus.pairs)], morphemes[len(corpus.pairs) :])
    drafts = make_drafts(encoder, morphemes[len(corpus.pairs) :], corpus.answer_numbers)
    vocabulary, answers = encoder.vocabulary, tuple(dict.fromkeys(corpus.answers))
    settings = preset(default_preset(len(corpus.pairs)))
    keras.utils.set_random_seed(0)
    model = make_transformer(len(vocabulary), len(answers), settings)
    surfaces = [vocabulary.surface(index) for index in range(len(vocabulary))]
    model.set_ngrams(ngram_table(surfaces, settings.ngram_buckets, NGRAMS_PER_PIECE))
    export(model, vocabulary, encoder.settings, directory, [["안녕"]], KnownAnswers(answers), drafts)
    size = sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
    weights = 4 * sum(int(np.prod(variable.shape)) for variable in model.weights)
    print(f"export {size / 2**20:.1f} MB, its weights {weights / 2**20:.1f} MB", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
