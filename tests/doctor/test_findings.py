from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from chatbot.dataset.corpus import ReadOptions, read_corpus
from chatbot.doctor.finding_texts import TEXTS
from chatbot.doctor.findings import Finding, find_in
from chatbot.doctor.scan import Scan, scan
from chatbot.doctor.source import UnreadableFile, open_source

CLEAN = [(f"{number}번 문을 어떻게 여나요?", f"{number}번 열쇠를 왼쪽으로 돌리세요.") for number in range(40)]


def scanned(*paths: Path, **options: str) -> Scan:
    return scan([open_source(path, ReadOptions(**options)) for path in paths])


def findings(*paths: Path) -> dict[str, Finding]:
    return {finding.code: finding for finding in find_in(scanned(*paths))}


def write(path: Path, rows: str, encoding: str = "utf-8", clean_end: str = "\n") -> Path:
    clean = "".join(f"{question},{answer}{clean_end}" for question, answer in CLEAN)
    path.write_bytes(f"Q,A{clean_end}{clean}{rows}".encode(encoding))
    return path


def test_a_clean_file_has_no_finding(tmp_path: Path) -> None:
    assert findings(write(tmp_path / "a.csv", "")) == {}


FIRST = ",".join(CLEAN[0])
FAULTS = [
    ("too_many_cells", "문, 하나,열쇠를 돌리세요.\n", 1, [42]),
    ("too_few_cells", "문 하나\n", 1, [42]),
    ("blank_question", "  ,열쇠를 돌리세요.\n", 1, [42]),
    ("blank_question", "\u200b\ufeff,열쇠를 돌리세요.\n", 1, [42]),
    ("blank_answer", "뭐 해?,\n어디야?,\u3164\n", 2, [42, 43]),
    ("exact_repeats", f"{FIRST}\n {FIRST} \n", 2, [42, 43]),
    ("near_repeats", FIRST.replace("?", "!!").replace(" ", "") + "\n", 1, [42]),
    ("contradictions", f"{CLEAN[3][0]},모르겠어요.\n", 1, [5, 42]),
    ("contradictions", f"{CLEAN[3][0].replace('?', '')},모르겠어요.\n", 1, [5, 42]),
    ("frequent_answer", "뭐 해?,네.\n어디야?,네.\n왜?,네.\n", 1, [42, 43, 44]),
    ("nfd", unicodedata.normalize("NFD", "뭐 해?") + ",쉬어요.\n", 1, [42]),
    ("control_characters", "뭐\x07 해?,쉬어\x00요.\n", 1, [42]),
    ("invisible_characters", "뭐\u200b 해?,쉬어요.\n", 1, [42]),
    ("invisible_characters", "뭐 해?,\u202e쉬어요.\n", 1, [42]),
    ("line_breaks", '뭐 해?,"쉬어요.\n밤이에요."\n', 1, [42]),
    ("lost_characters", "뭐 해?,쉬어\ufffd요.\n", 1, [42]),
    ("mixed_line_ends", "뭐 해?,쉬어요.\r\n", 1, []),
]


@pytest.mark.parametrize(("code", "rows", "count", "lines"), FAULTS)
def test_each_planted_fault_is_named_with_its_lines_and_nothing_else(
    tmp_path: Path, code: str, rows: str, count: int, lines: list[int]
) -> None:
    path = write(tmp_path / "a.csv", rows)
    found = findings(path)
    assert list(found) == [code]
    assert (found[code].count, list(found[code].lines), found[code].file) == (count, lines, str(path))


def test_one_file_with_one_of_each_kind(tmp_path: Path) -> None:
    codes = {code for code, *_ in FAULTS}
    path = write(tmp_path / "a.csv", "".join(rows for _, rows, *_ in FAULTS))
    assert codes == set(findings(path))
    english, korean = ([finding.text(language) for finding in find_in(scanned(path))] for language in ("en", "ko"))
    assert not any("가" <= character <= "힣" for text in english for character in text.split("“")[0])
    assert all(any("가" <= character <= "힣" for character in text) for text in korean)


def test_an_old_encoding_is_information(tmp_path: Path) -> None:
    found = findings(write(tmp_path / "a.csv", "", "cp949"))
    assert [(code, finding.severity.value) for code, finding in found.items()] == [("not_unicode", "information")]


def test_a_line_break_in_a_cell_is_no_mixed_line_end(tmp_path: Path) -> None:
    assert list(findings(write(tmp_path / "a.csv", '뭐 해?,"쉬어요.\n밤이에요."\r\n', clean_end="\r\n"))) == ["line_breaks"]


def test_repeats_and_contradictions_across_files(tmp_path: Path) -> None:
    one = write(tmp_path / "1.csv", "")
    two = tmp_path / "2.csv"
    two.write_text(f"질문,답변\n{FIRST}\n{CLEAN[1][0]},몰라요.\n", encoding="utf-8")
    found = [(finding.code, Path(finding.file or "").name, finding.lines) for finding in find_in(scanned(one, two))]
    assert found == [
        ("exact_repeats", "2.csv", (2,)),
        ("contradictions", "1.csv", (3,)),
        ("contradictions", "2.csv", (3,)),
    ]


def test_only_the_first_twenty_lines_are_kept(tmp_path: Path) -> None:
    found = findings(write(tmp_path / "a.csv", f"{FIRST}\n" * 30))["exact_repeats"]
    assert (found.count, found.lines) == (30, tuple(range(42, 62)))


@pytest.mark.parametrize("rows", ["", ",\n", " ,네.\n"])
def test_a_file_without_a_pair_is_an_error(tmp_path: Path, rows: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Q,A\n" + rows)
    found = find_in(scanned(path))
    assert (found[0].code, found[0].severity.value) == ("no_pairs", "error")


def test_frequent_means_on_more_than_a_twentieth_and_more_than_once(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Q,A\n가,네.\n나,아니요.\n")
    assert findings(path) == {}, "two answers, each on half of two rows"
    pairs = [f"질문 {number},답 {number}." for number in range(37)]
    path.write_text("Q,A\n" + "\n".join([*pairs, "가,네.", "나,네.", "다,답."]))
    assert findings(path) == {}, "two of forty are just a twentieth"
    path.write_text("Q,A\n" + "\n".join([*pairs, "가,네.", "나,네.", "다,네."]))
    assert findings(path)["frequent_answer"].values == {"answer": "네.", "share": 3 / 40}


def test_the_scan_sees_the_pairs_that_training_reads(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "".join(rows for _, rows, *_ in FAULTS))
    corpus, result = read_corpus([path]), scanned(path)
    assert [(pair.question, pair.answer) for pair in result.sample.pairs] == list(
        zip(corpus.questions, corpus.answers, strict=True)
    )
    assert [pair.line for pair in result.sample.pairs] == list(corpus.pairs["line"])
    assert result.sources[0].skipped == len(corpus.skipped)
    assert result.sources[0].tallies[_code("exact_repeats", result)].count == corpus.repeats


def _code(code: str, result: Scan) -> object:
    return next(fault for fault in result.sources[0].tallies if fault.value == code)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("가,나\n1,2\n")
    with pytest.raises(UnreadableFile, match="no question column") as caught:
        scanned(path)
    assert caught.value.path == path
    path.write_text('Q,A\n가,나\n다,"라\n' + "마,바\n" * 300)
    with pytest.raises(UnreadableFile, match="is a quote never closed"):
        scanned(path)


def test_alternating_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("안녕\n네!\n안녕\n아니요!\n")
    found = find_in(scanned(path, format="alternating"))
    assert [(finding.code, finding.lines) for finding in found] == [("contradictions", (1, 3))]


def test_every_finding_has_a_text_in_both_languages() -> None:
    values = {"answer": "네.", "share": 0.5, "length": 64, "where": "", "where_ko": "", "ends": "LF 1", "encoding": "cp949"}
    for code in TEXTS:
        for count in (1, 1200):
            for language in ("en", "ko"):
                text = Finding(code, count, values={**values, "message": "M"}).text(language)
                assert text
                assert "{" not in text
    assert "1 row " in Finding("line_breaks", 1).text("en")
    assert "1,200 rows" in Finding("line_breaks", 1200).text("en")
