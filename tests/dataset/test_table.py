from __future__ import annotations

import gzip
import zipfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from chatbot.dataset.table import Layout, find_encoding, read_rows
from chatbot.errors import UserError

TEXT = 'Q,A\n오늘 뭐 먹지?,"국수, 어때요?"\n'


def rows(path: Path) -> list[tuple[int, list[str]]]:
    return [(row.line, row.cells) for row in read_rows(path, find_encoding(path))]


@pytest.mark.parametrize(
    ("encoding", "found"),
    [("utf-8", "utf-8"), ("utf-8-sig", "utf-8-sig"), ("cp949", "cp949"), ("utf-16", "utf-16")],
)
def test_encodings_are_found_by_their_bytes(tmp_path: Path, encoding: str, found: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT.encode(encoding))
    assert find_encoding(path).name == found
    assert rows(path) == [(1, ["Q", "A"]), (2, ["오늘 뭐 먹지?", "국수, 어때요?"])]


@pytest.mark.parametrize("prefix", [b"", b"x" * (1 << 20), b"\xea\xb0\x80" * 400_000])
def test_a_byte_that_is_nothing_is_named_by_its_offset(tmp_path: Path, prefix: bytes) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(prefix + b"\xff\xff rest")
    with pytest.raises(UserError, match=rf"bad\.csv: neither UTF-8 \(byte {len(prefix)}\).*--encoding"):
        find_encoding(path)


def test_a_character_over_the_edge_of_a_block_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "edge.csv"
    path.write_bytes(b"Q,A\n" + b"x" * ((1 << 20) - 5) + "가".encode() + b",a\n")
    assert find_encoding(path).name == "utf-8"


def test_an_encoding_given_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("\ufeff".encode() + TEXT.encode())
    assert next(row.cells for row in read_rows(path, find_encoding(path, "utf-8"))) == ["Q", "A"], "the mark is no letter"
    with pytest.raises(UserError, match=r"not ascii: byte 0"):
        find_encoding(path, "ascii")
    with pytest.raises(UserError, match="--encoding nonsense: no such encoding"):
        find_encoding(path, "nonsense")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiters(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"Q{delimiter}A{delimiter}label\n가{delimiter}나, 다{delimiter}0\n".replace(", ", " "))
    assert rows(path)[1] == (2, ["가", "나 다", "0"])


def test_archives(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("inside.csv", TEXT.encode("cp949"))
    assert len(rows(tmp_path / "a.csv.gz")) == 2
    assert len(rows(tmp_path / "a.zip")) == 2
    (tmp_path / "torn.gz").write_bytes(gzip.compress(TEXT.encode() * 1000)[:-30])
    with pytest.raises(UserError, match=r"torn\.gz: the archive is damaged"):
        find_encoding(tmp_path / "torn.gz")
    for name in ("a.csv.gz", "a.zip"):
        whole = (tmp_path / name).read_bytes()
        for offset in range(len(whole)):  # whatever byte is wrong: the right rows, or one clear line
            broken = tmp_path / f"broken{name[1:]}"
            broken.write_bytes(whole[:offset] + bytes([whole[offset] ^ 0xFF]) + whole[offset + 1 :])
            with suppress(UserError):
                assert len(rows(broken)) == 2
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("1.csv", TEXT)
        archive.writestr("2.csv", TEXT)
    with pytest.raises(UserError, match="must hold one file, it holds 2"):
        find_encoding(tmp_path / "two.zip")


def test_lines_are_counted_through_quoted_line_breaks_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes('Q,A\r\n\r\n"두\r\n줄","말 ""인용"" 끝"\r\n끝,네.\r\n'.encode())
    assert rows(path) == [(1, ["Q", "A"]), (3, ["두\r\n줄", '말 "인용" 끝']), (5, ["끝", "네."])]


def test_a_quote_that_is_never_closed_is_named_by_the_line_it_opens_on(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Q,A\n가,나\n" + '다,"라\n' + "마,바\n" * 300)
    with pytest.raises(UserError, match=r"a\.csv:3: a row of 30\d lines; is a quote never closed"):
        rows(path)


def test_a_cell_of_a_megabyte_is_read_and_one_of_twenty_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Q,A\n" + "가" * (1 << 20) + ",나\n")
    assert len(rows(path)[1][1][0]) == 1 << 20
    path.write_text("Q,A\n" + "x" * (20 << 20) + ",나\n")
    with pytest.raises(UserError, match=r"a\.csv:2: not readable as CSV"):
        rows(path)


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"missing\.csv: no such file"):
        find_encoding(tmp_path / "missing.csv")
    with pytest.raises(UserError, match="is a directory"):
        find_encoding(tmp_path)


def test_the_layout_says_how_rows_end_and_what_parts_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes('Q;A\r\n\r\n"두\n줄";네.\r\n하나;네.\n;\n둘;네.'.encode())
    layout = Layout()
    assert len(list(read_rows(path, find_encoding(path), layout))) == 4
    assert layout == Layout(";", Counter({"CRLF": 3, "LF": 2}), blank_rows=2)
