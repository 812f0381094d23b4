from __future__ import annotations

import csv
import os
import unicodedata
from pathlib import Path

import pytest

from chatbot.dataset.corpus import ReadOptions
from chatbot.doctor.cleaning import clean_copy, refuse_target
from chatbot.doctor.findings import find_in
from chatbot.doctor.scan import scan
from chatbot.doctor.source import open_source
from chatbot.errors import UserError


def cleaned(target: Path, *paths: Path) -> list[list[str]]:
    sources = [open_source(path, ReadOptions()) for path in paths]
    with clean_copy(target, sources) as keep:
        scan(sources, on_kept=keep)
    with target.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_the_copy_is_normal_and_keeps_every_column(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    nfd = unicodedata.normalize("NFD", "안녕")
    text = f' Q ;메모;A\n{nfd};1;"네\n!"\n안녕;2;네 !\n ;3;네\n심심\u200b해;4;"놀아요; 같이"\n끝;5;네;6\n'
    path.write_bytes(text.encode("utf-16"))
    before = path.read_bytes()
    rows = cleaned(tmp_path / "out.csv", path)
    assert rows == [["Q", "메모", "A"], ["안녕", "1", "네 !"], ["심심해", "4", "놀아요; 같이"]]
    assert path.read_bytes() == before
    assert find_in(scan([open_source(tmp_path / "out.csv", ReadOptions())])) == []


def test_files_with_other_headers_become_three_columns(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("번호,답변,질문\n1,네!,안녕\n", encoding="cp949")
    (tmp_path / "2.csv").write_text("Q,A,label\n안녕!,네,x\n심심해,놀아요!,y\n")
    assert cleaned(tmp_path / "out.csv", tmp_path / "1.csv", tmp_path / "2.csv") == [
        ["Q", "A", "label"],
        ["안녕", "네!", ""],
        ["심심해", "놀아요!", "y"],
    ]


def test_short_rows_are_filled_up(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Q,A,메모\n안녕,네!\n심심해,놀아요!,z,,\n")
    assert cleaned(tmp_path / "out.csv", tmp_path / "a.csv")[1:] == [["안녕", "네!", ""], ["심심해", "놀아요!", "z"]]


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('Q,A\n가,나\n다,"라\n' + "마,바\n" * 300)
    with pytest.raises(UserError):
        cleaned(tmp_path / "out.csv", path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.csv"]


def test_originals_are_never_overwritten(tmp_path: Path) -> None:
    path, other = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_text("Q,A\n")
    (tmp_path / "link.csv").symlink_to(path)
    os.link(path, tmp_path / "hard.csv")
    for target in (path, tmp_path / "link.csv", tmp_path / "hard.csv", tmp_path / "x" / ".." / "a.csv"):
        with pytest.raises(UserError, match="is one of the files to check"):
            refuse_target(target, [other, path], overwrite=True)
    other.write_text("")
    with pytest.raises(UserError, match=r"b\.csv: exists; .*--overwrite"):
        refuse_target(other, [path], overwrite=False)
    refuse_target(other, [path], overwrite=True)
    with pytest.raises(UserError, match="is a directory"):
        refuse_target(tmp_path, [path], overwrite=True)
