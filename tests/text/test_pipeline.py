from __future__ import annotations

import time
import unicodedata
from pathlib import Path

import pytest

from chatbot.text.analyzer import Analyzer, CharacterAnalyzer, OktAnalyzer
from chatbot.text.normalize import normalize
from chatbot.text.pipeline import TextPipeline, analyze, to_pieces
from chatbot.text.vocabulary import UNKNOWN_ID, Vocabulary, build_vocabulary
from tests.conftest import ROOT, read_columns

AWKWARD = [
    "ㅋㅋㅋㅋㅋ 가네요~!!",
    "가격은 1,000원, 2만원(할인 10%)이에요.",
    "가족 👨\u200d👩\u200d👧 사랑해요 ❤\ufe0f",
    "<start> ▁ <end>",
    "Hello, World! C++ #1 @home http://example.com/a?b=c",
    "띄어쓰기없이계속이어지는아주긴문장은서른두글자를넘어가면잘라서분석하지만다시붙이면같아야해요.",
    "ㅠㅠ...  ……  ?!",
    "１２３ＡＢＣ ㈜한국 ①②",
    "日本語と漢字 русский ไทย العربية",
]


def assert_round_trip(pairs: list[tuple[str, str]], analyzer: Analyzer, sizes: tuple[int, ...]) -> None:
    """Every answer comes back from its ids, every sentence from its pieces, at each vocabulary size."""
    questions = [normalize(question) for question, _ in pairs]
    answers = [normalize(answer) for _, answer in pairs]
    texts = sorted({*questions, *answers})
    morphemes = dict(zip(texts, analyze(texts, analyzer), strict=True))
    for size in sizes:
        vocabulary = build_vocabulary(map(morphemes.__getitem__, questions), map(morphemes.__getitem__, answers), size)
        pipeline = TextPipeline(analyzer, vocabulary, 64)
        assert len(vocabulary) <= size
        for text, pieces in morphemes.items():
            ids = pipeline.ids(to_pieces(pieces, vocabulary))
            if UNKNOWN_ID not in ids and unicodedata.is_normalized("NFKC", text):
                assert normalize(pipeline.text(ids)) == text
        for answer in answers:
            assert pipeline.text(pipeline.ids(to_pieces(morphemes[answer], vocabulary))) == answer


def test_all_of_the_public_corpus(okt: OktAnalyzer, songys: list[tuple[str, str]]) -> None:
    assert len(songys) == 10_747
    assert_round_trip(songys, okt, (2_000, 8_000))


@pytest.mark.parametrize("path", sorted((ROOT / "data").glob("*.csv")), ids=lambda path: path.name)
@pytest.mark.parametrize("name", ["okt", "character"])
def test_all_of_the_bundled_data(okt: OktAnalyzer, path: Path, name: str) -> None:
    assert_round_trip(read_columns(path), okt if name == "okt" else CharacterAnalyzer(), (2_000, 8_000))


@pytest.mark.parametrize("name", ["okt", "character"])
def test_awkward_sentences_at_the_smallest_size(okt: OktAnalyzer, name: str) -> None:
    analyzer = okt if name == "okt" else CharacterAnalyzer()
    assert_round_trip([(text, text) for text in AWKWARD], analyzer, (400, 2_000))
    assert_round_trip([(text, text) for text in AWKWARD[:1]], analyzer, (200,))


def vocabulary_of(*texts: str) -> Vocabulary:
    morphemes = [list(map("".join, zip(["▁" + text[0], *text[1:]], strict=False))) for text in texts]
    return build_vocabulary(morphemes, morphemes, 300)


def test_question_of_nothing() -> None:
    pipeline = TextPipeline(CharacterAnalyzer(), vocabulary_of("안녕"), 8)
    for text in ("", " \t", "\u200b", "\ufeff\r\n"):
        assert pipeline.questions([text])[0].pieces == ()


def test_question_is_cut_at_its_end_and_says_so() -> None:
    pipeline = TextPipeline(CharacterAnalyzer(), vocabulary_of("안녕하세요"), 3)
    assert pipeline.questions(["안녕하세요"])[0].pieces == ("▁안", "녕", "하")
    assert pipeline.questions(["안녕하세요"])[0].is_cut
    assert not pipeline.questions(["안녕하"])[0].is_cut


def test_spelled_and_unknown() -> None:
    pipeline = TextPipeline(CharacterAnalyzer(), vocabulary_of("안녕"), 16)
    question = pipeline.questions(["안힣"])[0]
    assert question.spelled == ("힣",)
    assert question.is_known
    stranger = pipeline.questions(["鬱"])[0]
    assert not stranger.is_known
    assert pipeline.has_unknown(stranger.pieces)
    assert not pipeline.has_unknown(question.pieces)


def test_decomposed_and_composed_questions_are_one(okt: OktAnalyzer) -> None:
    pipeline = TextPipeline(okt, vocabulary_of("안녕"), 16)
    assert pipeline.questions([unicodedata.normalize("NFD", "오늘 뭐 먹지?")])[0] == pipeline.questions(["오늘 뭐 먹지?"])[0]


@pytest.mark.parametrize(
    ("unit", "times"), [("가", 5_000), ("가나다라마바사", 150_000), ("ㅋ", 100_000), ("a1", 5_000), ("가 ", 5_000)]
)
def test_a_very_long_line_is_bounded(okt: OktAnalyzer, unit: str, times: int) -> None:
    pipeline = TextPipeline(okt, vocabulary_of("안녕"), 64)
    begin = time.monotonic()
    assert pipeline.questions([unit * times])[0].is_cut
    assert time.monotonic() - begin < 5, "the promise to a user, met about five times over on two cores"
