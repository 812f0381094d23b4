"""The defects of the Korean Keras original, each as a test that our version passes.

Those of its attention, masks and decoder input are held by the tests of layers, transformer and data set as well; here
each stands by the number it has in the description of the original.
"""

from __future__ import annotations

import ast
import csv
from pathlib import Path

import keras
import numpy as np
import pytest

import chatbot
from chatbot.config import ModelSettings, TextSettings
from chatbot.dataset.batches import Batches
from chatbot.dataset.corpus import read_corpus, split_by_question
from chatbot.dataset.encode import make_pair_encoder
from chatbot.layers.attention import MultiHeadAttention
from chatbot.presets import preset
from chatbot.text.analyzer import OktAnalyzer
from chatbot.text.pipeline import TextPipeline, analyze, to_pieces
from chatbot.text.vocabulary import END_ID, START_ID, UNKNOWN_ID, build_vocabulary
from chatbot.training.losses import smoothed_cross_entropy
from chatbot.transformer.seq2seq import Seq2SeqTransformer

PAIRS = [
    ("안녕하세요?", "네, 반가워요!"),
    ("오늘 뭐 먹지?", "국수 한 그릇 어때요?"),
    ("너무 졸려요...", "잠깐 눈을 붙여 보세요."),
]


@pytest.fixture(scope="module")
def model() -> Seq2SeqTransformer:
    keras.utils.set_random_seed(0)
    model = Seq2SeqTransformer(
        30, 1, ModelSettings(answer_memory=False, norm="post", hidden_dim=16, num_heads=4, head_dim=16, intermediate_dim=64)
    )
    model.build()
    return model


def inputs(seed: int = 0) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    return {
        "question_ids": generator.integers(4, 30, (2, 6)).astype("int32"),
        "answer_ids": generator.integers(4, 30, (2, 7)).astype("int32"),
    }


def test_1_decoder_input_is_the_target_shifted(okt: OktAnalyzer) -> None:
    questions, answers = (analyze(side, okt) for side in zip(*PAIRS, strict=True))
    batch = Batches(make_pair_encoder(TextSettings(), questions, answers).encode(questions, answers, np.arange(3)), 8).batch(
        np.arange(3)
    )
    ends = batch.target_ids == END_ID
    assert (ends.sum(axis=1) == 1).all()
    assert (batch.answer_ids[:, 0] == START_ID).all()
    shifted, said = batch.answer_ids[:, 1:], batch.target_ids[:, :-1]
    np.testing.assert_array_equal(shifted, np.where(said == END_ID, 0, said))


def test_2_no_position_sees_a_later_one(model: Seq2SeqTransformer) -> None:
    given = inputs()
    before = model(given).numpy()
    changed = {**given, "answer_ids": given["answer_ids"].copy()}
    changed["answer_ids"][:, 4:] = 5
    np.testing.assert_array_equal(model(changed).numpy()[:, :4], before[:, :4])


def test_3_padding_is_masked(model: Seq2SeqTransformer) -> None:
    given = inputs()
    padded = {**given, "question_ids": np.pad(given["question_ids"], ((0, 0), (0, 5)))}
    np.testing.assert_allclose(model(padded), model(given), atol=1e-5)


def test_4_the_head_width_is_what_was_asked_for() -> None:
    layer = MultiHeadAttention(num_heads=4, head_dim=16)
    layer.build((None, None, 16))
    assert layer.self_projection.kernel.shape == (16, 3 * 4 * 16), "an inner width of 64 at a width of 16"
    assert layer.output_projection.kernel.shape == (64, 16)
    assert (preset("tiny").num_heads, preset("tiny").head_dim, preset("tiny").hidden_dim) == (4, 16, 16)


def test_5_start_and_end_are_pieces_of_their_own(okt: OktAnalyzer) -> None:
    answers = analyze([answer for _, answer in PAIRS], okt)
    vocabulary = build_vocabulary(answers, answers, 300)
    assert vocabulary.pieces[START_ID] == "<start>"
    assert vocabulary.pieces[END_ID] == "<end>"
    assert not any("\t" in piece or "\n" in piece for piece in vocabulary.pieces)
    assert "▁네" in vocabulary, "a first word is the word it is elsewhere"


def test_6_nothing_vanishes(okt: OktAnalyzer) -> None:
    answers = ["OK, 3시에 Seoul역 1번 출구! (늦으면 전화 주세요…)", *(answer for _, answer in PAIRS)]
    morphemes = analyze(answers, okt)
    vocabulary = build_vocabulary(morphemes, morphemes, 150, minimum_frequency=100)
    pipeline = TextPipeline(okt, vocabulary, 64)
    for answer, pieces in zip(answers, morphemes, strict=True):
        ids = pipeline.ids(to_pieces(pieces, vocabulary))
        assert UNKNOWN_ID not in ids
        assert pipeline.text(ids) == answer


def test_6_what_is_too_long_loses_its_end_not_its_beginning(okt: OktAnalyzer) -> None:
    (question,) = analyze(["하나 둘 셋 넷 다섯 여섯 일곱"], okt)
    settings = TextSettings(max_question_length=3, minimum_frequency=1)
    encoding = make_pair_encoder(settings, [question], [question])
    (ids,) = encoding.encode([question], [question], np.zeros(1, np.int32)).question_ids
    assert [encoding.vocabulary.surface(index) for index in ids] == question[:3]


def test_7_korean_spacing_comes_back(okt: OktAnalyzer) -> None:
    answer = "하루가 또 가네요. 괜찮을 거예요!"
    (morphemes,) = analyze([answer], okt)
    vocabulary = build_vocabulary([morphemes], [morphemes], 300)
    pipeline = TextPipeline(okt, vocabulary, 64)
    assert pipeline.text(pipeline.ids(morphemes)) == answer
    assert " ".join(okt.morphemes([answer])[0]) != answer, "joining by blanks, as the original does, would not do"


def test_8_one_vocabulary_and_questions_from_questions(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("Q", "A"), *((f"질문 {n}", f"대답 {n}!") for n in range(300))])
    corpus = read_corpus([path])
    train, validation = split_by_question(corpus, 0.2, seed=0)
    assert len(validation) == 60
    assert all(corpus.questions[row].startswith("질문") for row in [*train, *validation])


def test_9_padding_counts_neither_in_loss_nor_in_accuracy() -> None:
    logits = np.zeros((1, 4, 5), "float32")
    logits[0, :, 0] = 9.0  # says "padding" everywhere
    sums = smoothed_cross_entropy(logits, np.array([[3, 0, 0, 0]]), 0.0)
    assert (float(sums.correct), float(sums.tokens)) == (0.0, 1.0)


def test_9_the_model_returns_logits_and_can_be_saved(model: Seq2SeqTransformer, tmp_path: Path) -> None:
    logits = model(inputs()).numpy()
    assert not np.allclose(logits.sum(axis=-1), 1), "no softmax before the loss"
    model.save(tmp_path / "model.keras")
    np.testing.assert_array_equal(keras.models.load_model(tmp_path / "model.keras")(inputs()), logits)


def test_9_and_10_no_lambda_layers_and_nothing_that_keras_3_dropped() -> None:
    root = Path(chatbot.__file__).parent
    for path in root.rglob("*.py"):
        names = {node.attr for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Attribute)}
        assert not names & {"Lambda", "preprocessing", "Tokenizer"}, path
