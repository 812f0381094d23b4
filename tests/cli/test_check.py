from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from chatbot.cli import check
from tests.conftest import ROOT
from tests.doctor.test_findings import FAULTS

ROWS = "Q,A,label\n" + "".join(f"{n}번 문을 어떻게 여나요?,{n}번 열쇠를 왼쪽으로 돌리세요.,문\n" for n in range(40))
CHARACTER = ("--analyzer", "character")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def run(*arguments: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "chatbot", "check", *map(str, arguments)]
    env = {**os.environ, "PYTHONIOENCODING": "utf-8", **(env or {})}
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, env=env, check=False)


def checked(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, Any]]:
    code = check.main([*map(str, arguments), "--json", *CHARACTER])
    return code, json.loads(capsys.readouterr().out)


def codes(document: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in document["findings"]]


@pytest.mark.parametrize("name", ["smalltalk.csv", "faq.csv"])
def test_the_bundled_corpora_come_out_clean(name: str) -> None:
    done = run(ROOT / "data" / name, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["findings"] == []
    assert document["training"]["num_validation"] > 0
    assert document["texts"]["is_whole"]
    assert done.stderr == ""


def test_exit_codes(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(capsys, path) == (0, checked(capsys, path)[1]), "information alone is no finding"
    assert codes(checked(capsys, path)[1]) == ["few_pairs"]
    path.write_text(ROWS + ",답.\n", encoding="utf-8")
    code, document = checked(capsys, path)
    assert (code, codes(document)[0]) == (1, "blank_question")
    for unreadable in ("missing.csv", "."):
        done = run(path.parent / unreadable)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: ")
        assert len(done.stderr.splitlines()) == 1


def test_the_other_files_are_checked_when_one_cannot_be_read(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torn = path.with_name("torn.csv")
    torn.write_text('Q,A\n가,나\n다,"라\n' + "마,바\n" * 300)
    code = check.main([str(path), str(torn), "--json", "--fix", str(path.with_name("out.csv")), *CHARACTER])
    output = capsys.readouterr()
    document = json.loads(output.out)
    assert code == 2
    assert [entry["file"] for entry in document["unreadable"]] == [str(torn)]
    assert (document["pairs"], [entry["file"] for entry in document["files"]]) == (40, [str(path)])
    assert "torn.csv:3: a row of" in output.err
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["a.csv", "torn.csv"], "no half copy"


def test_one_file_with_one_fault_of_each_kind(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(rows for _, rows, *_ in FAULTS) + f"{'가' * 65},나.\n다,{'라' * 161}\n"
    path.write_bytes(("Q,A\n" + ROWS.split("\n", 1)[1].replace(",문\n", "\n") + rows).encode("utf-8"))
    code, document = checked(capsys, path)
    assert code == 1
    assert set(codes(document)) == {code for code, *_ in FAULTS} | {"cut_questions", "cut_answers", "few_pairs"}
    assert [finding["severity"] for finding in document["findings"]] == sorted(
        (finding["severity"] for finding in document["findings"]), key=["error", "warning", "information"].index
    )


def test_json_holds_everything(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text(ROWS.replace("label", "메모") + "안녕,네, 아니요,z\n,\n", encoding="cp949")
    code, document = checked(capsys, path)
    assert code == 1
    (file,) = document["files"]
    assert file["encoding"]["name"] == "cp949"
    assert "valid CP949" in file["encoding"]["how"]
    assert (file["line_ends"], file["delimiter"]) == ({"LF": 43}, ",")
    assert file["columns"] == {"question": "Q", "answer": "A", "label": None, "unused": ["메모"]}
    assert (file["rows"], file["blank_rows"], file["skipped"]["rows"]) == (41, 1, 1)
    assert file["skipped"]["reasons"] == {"too_many_cells": {"count": 1, "lines": [42]}}
    assert (document["pairs"], document["distinct_answers"]) == (40, 40)
    assert document["frequent_answers"][0] == {"answer": "0번 열쇠를 왼쪽으로 돌리세요.", "pairs": 1, "share": 1 / 40}
    assert document["question_characters"] == {"14": 10, "15": 30}
    assert document["training"]["preset"] == "compact"
    assert document["texts"]["max_question_length"] == max(map(int, document["texts"]["question_pieces"]))
    finding = document["findings"][0]
    assert (finding["code"], finding["severity"], finding["count"], finding["lines"]) == ("too_many_cells", "error", 1, [42])
    assert "cells" in finding["text"]["en"]
    assert "칸" in finding["text"]["ko"]


@pytest.mark.parametrize(("encoding", "delimiter"), [("utf-8-sig", ";"), ("utf-16", "\t"), ("cp949", ","), ("utf-16", ";")])
@pytest.mark.parametrize("packed", ["", ".gz", ".zip"])
def test_whatever_it_is_packed_and_written_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], encoding: str, delimiter: str, packed: str
) -> None:
    content = ROWS.replace(",", delimiter).encode(encoding)
    path = tmp_path / f"a.csv{packed}"
    if packed == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.csv", content)
    else:
        path.write_bytes(gzip.compress(content) if packed else content)
    code, document = checked(capsys, path)
    assert (code, document["pairs"]) == (0, 40)
    assert document["files"][0]["delimiter"] == delimiter
    assert document["files"][0]["encoding"]["name"] == encoding


def test_columns_encoding_and_format_by_flag(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text("들은 말,물은 말\n네.,뭐 해?\n", encoding="utf-16-le")
    code, document = checked(
        capsys, path, "--question-column", "물은 말", "--answer-column", "들은 말", "--encoding", "utf-16-le"
    )
    assert (code, document["pairs"], document["files"][0]["encoding"]["how"]) == (0, 1, "given")
    path.write_text("뭐 해?\n네.\n")
    assert checked(capsys, path, "--format", "alternating")[1]["pairs"] == 1


def test_the_report_in_two_languages(path: Path) -> None:
    path.write_text(ROWS + "[bold]뭐 해?[/bold],[red]쉬어요.\n" * 4, encoding="utf-8")
    english = run(path, *CHARACTER, "--lang", "en")
    korean = run(path, *CHARACTER, env={"LC_ALL": "ko_KR.UTF-8"})
    assert (english.returncode, korean.returncode) == (1, 1)
    for words, output in (
        (("warning", "3 rows repeat", "43, 44, 45", "delimiter", "comma", "LF 45", "to train on 41", "preset"), english.stdout),
        (("경고", "3행이", "43, 44, 45", "구분 문자", "쉼표", "LF 45", "학습 41", "어휘"), korean.stdout),
    ):
        assert [word for word in words if word not in output] == []
    path.write_text("Q,A\n뭐 해?,[red]쉬어요.[/red]\n", encoding="utf-8")
    assert "[red]쉬어요.[/red]" in run(path, *CHARACTER).stdout, "text is text, not mark-up"


def test_output_in_ascii_is_no_traceback(path: Path) -> None:
    done = run(path, *CHARACTER, "--lang", "ko", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"})
    assert (done.returncode, done.stderr) == (0, "")
    document = run(path, *CHARACTER, "--json", env={"PYTHONIOENCODING": "ascii"}).stdout
    assert "열쇠" in json.loads(document)["frequent_answers"][0]["answer"]


def test_fix(path: Path) -> None:
    repeat = "0번문을 어떻게 여나요,0번 열쇠를 왼쪽으로 돌리세요.,\n"
    out, original = path.with_name("out.csv"), (ROWS + " ,답.\n" + repeat).encode("cp949")
    path.write_bytes(original)
    done = run(path, *CHARACTER, "--fix", out)
    assert done.returncode == 1
    assert "40 of 42 rows" in done.stderr
    assert (path.read_bytes(), out.read_text(encoding="utf-8")) == (original, ROWS)
    assert run(out, *CHARACTER).returncode == 0
    again = run(path, *CHARACTER, "--fix", out)
    assert (again.returncode, again.stdout) == (2, "")
    assert "--overwrite" in again.stderr
    assert run(path, *CHARACTER, "--fix", out, "--overwrite").returncode == 1
    assert run(path, *CHARACTER, "--fix", path, "--overwrite").returncode == 2
    assert path.read_bytes() == original


def test_it_imports_no_tensorflow(path: Path) -> None:
    program = (
        "import sys; from chatbot.cli.entry import main; code = main(sys.argv[1:]); "
        "print([name for name in ('tensorflow', 'keras') if name in sys.modules], code, file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, "check", str(path), *CHARACTER]
    assert subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stderr.strip() == "[] 0"


def generate(path: Path, count: int) -> None:
    """Rows of made-up words, half a percent of them repeats."""
    random_ = random.Random(0)
    words = ["".join(chr(random_.randrange(0xAC00, 0xAC00 + 2000)) for _ in range(3)) for _ in range(5000)]
    with path.open("w", encoding="utf-8") as file:
        file.write("Q,A,label,memo\n")
        row = ""
        for number in range(count):
            if number % 200 != 1:
                row = f"{' '.join(random_.choices(words, k=6))}?,{' '.join(random_.choices(words, k=11))}.,{number % 7},x\n"
            file.write(row)


def peak_megabytes(*arguments: object) -> tuple[float, dict[str, Any]]:
    """Peak resident memory of a check in a process of its own, Java included, and what it says."""
    # Not by `getrusage`: there a process begins with the peak of the one that started it, which is this suite's.
    program = (
        "import pathlib, sys; from chatbot.cli.entry import main; main(['check', *sys.argv[1:]]); "
        "print(pathlib.Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0], file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, check=True)
    return int(done.stderr.split()[-1]) / 1024, json.loads(done.stdout)


def test_memory_grows_by_no_more_than_half_a_kilobyte_a_row(tmp_path: Path) -> None:
    generate(tmp_path / "small.csv", 25_000)
    generate(tmp_path / "large.csv", 75_000)
    small, _ = peak_megabytes(tmp_path / "small.csv", *CHARACTER)
    large, document = peak_megabytes(tmp_path / "large.csv", *CHARACTER)
    assert document["pairs"] == 75_000 - 375
    assert document["texts"]["num_sampled"] == 20_000
    assert 0 < (large - small) * 1024 / 50_000 < 0.5


@pytest.mark.stress
def test_a_million_rows_in_less_than_a_gigabyte(tmp_path: Path) -> None:
    generate(tmp_path / "million.csv", 1_000_000)
    peak, document = peak_megabytes(tmp_path / "million.csv")
    assert document["pairs"] == 995_000
    assert [finding["count"] for finding in document["findings"] if finding["code"] == "exact_repeats"] == [5000]
    assert peak < 1000
