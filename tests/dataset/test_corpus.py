from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chatbot.dataset.corpus import Corpus, ReadOptions, read_corpus, split_by_question
from chatbot.errors import UserError
from chatbot.text.normalize import question_key
from tests.conftest import SONGYS


def read(path: Path, text: str, **options: str) -> Corpus:
    path.write_text(text, encoding="utf-8")
    return read_corpus([path], ReadOptions(**options))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.csv"


@pytest.mark.parametrize(
    "header",
    ["Q,A", "질문,답변", "question,answer", " Q , A ", "Question,Answer,label", "q,a,메모,번호"],
)
def test_usual_columns(path: Path, header: str) -> None:
    corpus = read(path, f"{header}\n안녕,네!\n")
    assert (corpus.questions, corpus.answers) == (["안녕"], ["네!"])


def test_columns_in_any_order_and_named_by_flag(path: Path) -> None:
    assert read(path, "label,A,Q\n0,네!,안녕\n").questions == ["안녕"]
    corpus = read(path, "물어본 것,A,들은 말\n안녕,아니,네!\n", question_column="물어본 것", answer_column="들은 말")
    assert (corpus.questions, corpus.answers) == (["안녕"], ["네!"])


def test_unknown_columns_are_listed_with_the_flag_to_use(path: Path) -> None:
    with pytest.raises(UserError, match=r"no question column among '가', 'A'; name it with --question-column"):
        read(path, "가,A\n1,2\n")
    with pytest.raises(UserError, match=r"no answer column .*--answer-column"):
        read(path, "Q,A\n1,2\n", answer_column="없음")


@pytest.mark.parametrize(
    ("header", "expected"),
    [("Q,A,label,kind", "k"), ("Q,A,Kind,label", "l"), ("Q,A,label,메모", "l"), ("Q,A,메모,번호", "")],
)
def test_the_label_is_the_kind_where_a_file_has_both(path: Path, header: str, expected: str) -> None:
    assert list(read(path, f"{header}\n안녕,네!,l,k\n").pairs["label"]) == [expected]


def test_words_that_look_like_missing_values_are_answers(path: Path) -> None:
    corpus = read(path, "Q,A\n1번,NA\n2번,None\n3번,null\n4번,nan\n5번,N/A\n")
    assert corpus.answers == ["NA", "None", "null", "nan", "N/A"]


@pytest.mark.parametrize("line", [2, 4])
def test_an_unquoted_comma_is_named_by_line_and_shifts_nothing(path: Path, line: int) -> None:
    lines = ["Q,A,label", "가,나,0", "다,라,1", "마,바,0"]
    lines.insert(line - 1, "안녕,네, 안녕하세요,0")
    corpus = read(path, "\n".join(lines))
    assert corpus.questions == ["가", "다", "마"]
    assert corpus.answers == ["나", "라", "바"]
    assert [(skipped.line, "4 cells where the header has 3" in skipped.reason) for skipped in corpus.skipped] == [(line, True)]


def test_empty_cells_behind_the_last_column_do_no_harm(path: Path) -> None:
    assert read(path, "Q,A\n안녕,네!,,\n").answers == ["네!"]


def test_blank_and_invisible_cells_are_named_by_line(path: Path) -> None:
    corpus = read(path, "Q,A\n ,네!\n안녕,\u200b\n심심해,놀아요!\n짧다\n")
    assert corpus.questions == ["심심해"]
    reasons = [(skipped.line, skipped.reason) for skipped in corpus.skipped]
    assert reasons[:2] == [(2, "the question is blank"), (3, "the answer is blank")]
    assert reasons[2][0] == 5


def test_exact_repeats_are_dropped_and_counted(path: Path) -> None:
    corpus = read(path, "Q,A\n안녕,네!\n 안녕 ,네!\n안녕,안녕하세요!\n")
    assert corpus.repeats == 1
    assert corpus.answers == ["네!", "안녕하세요!"]


@pytest.mark.parametrize("text", ["", "\n\n", "Q,A\n", "Q,A\n,\n"])
def test_files_without_a_pair_are_refused(path: Path, text: str) -> None:
    with pytest.raises(UserError, match=r"a\.csv: .*(empty|no question and answer pair)"):
        read(path, text)


def test_several_files_in_order(tmp_path: Path) -> None:
    for name, row in (("1.csv", "가,나"), ("2.csv", "다,라")):
        (tmp_path / name).write_text(f"Q,A\n{row}\n")
    corpus = read_corpus([tmp_path / "1.csv", tmp_path / "2.csv"])
    assert corpus.questions == ["가", "다"]
    assert [path.name for path in corpus.pairs["path"]] == ["1.csv", "2.csv"]


def test_alternating_lines(path: Path) -> None:
    corpus = read(path, "안녕\n네, 안녕하세요!\n심심해\n놀아요!\n\n", format="alternating")
    assert (corpus.questions, corpus.answers) == (["안녕", "심심해"], ["네, 안녕하세요!", "놀아요!"])
    assert list(corpus.pairs["line"]) == [1, 3]
    with pytest.raises(UserError, match="3 lines"):
        read(path, "안녕\n네!\n심심해\n", format="alternating")


def test_digest_follows_the_pairs(path: Path, tmp_path: Path) -> None:
    one = read(path, "Q,A\n안녕,네!\n")
    assert read(tmp_path / "b.csv", "질문,답변,메모\n안녕 ,네!,x\n").digest() == one.digest()
    assert read(path, "Q,A\n안녕,네\n").digest() != one.digest()


def test_no_question_on_both_sides_however_it_is_spelled(path: Path) -> None:
    spellings = "".join(f"질문 {n}번,답 {n}.\n질문{n}번!!,다른 답 {n}.\n" for n in range(100))
    corpus = read(path, "Q,A\n" + spellings)
    train, validation = split_by_question(corpus, 0.1, seed=0)
    assert sorted([*train, *validation]) == list(range(200))
    assert len(validation) == 20, "ten questions in two spellings"
    keys = [question_key(question) for question in corpus.questions]
    assert not {keys[row] for row in train} & {keys[row] for row in validation}
    assert np.array_equal(validation, split_by_question(corpus, 0.1, seed=0)[1])
    assert not np.array_equal(validation, split_by_question(corpus, 0.1, seed=1)[1])
    assert len(split_by_question(corpus, 0.0, seed=0)[1]) == 0


def test_the_public_corpus_splits_without_a_leak() -> None:
    if not SONGYS.is_dir():
        pytest.skip("the public corpus is not beside this checkout")
    corpus = read_corpus([SONGYS / "train.csv"])
    assert len(corpus.pairs) == 10_245
    train, validation = split_by_question(corpus, 0.1, seed=0)
    keys = np.array([question_key(question) for question in corpus.questions], dtype=object)
    assert not set(keys[train]) & set(keys[validation])
    assert 0.08 < len(validation) / len(corpus.pairs) < 0.12


def test_equal_answers_have_one_number(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Q,A\n가,네!\n나,아니요.\n다,  네! \n", encoding="utf-8")
    corpus = read_corpus([path])
    assert corpus.answer_numbers.tolist() == [0, 1, 0]
    assert corpus.answer_numbers.dtype == np.int32
