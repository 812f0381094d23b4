"""The real train.py: memorising, resuming, refusing, stopping."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

from chatbot.config import FORMAT
from tests.conftest import ROOT, TWENTY, Trained, run_program, write_pairs

SMALL = [
    *("--analyzer", "character", "--hidden-dim", "16", "--num-heads", "2", "--intermediate-dim", "16"),
    *("--num-encoder-layers", "1", "--num-decoder-layers", "1", "--epochs", "2", "--validation-split", "0"),
]


def train(*arguments: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return run_program(ROOT / "train.py", *arguments, cwd=cwd, **environment)


def error_line(done: subprocess.CompletedProcess[bytes]) -> str:
    assert done.returncode == 2, done.stderr.decode()
    lines = [line for line in done.stderr.decode().splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    return lines[0]


def test_twenty_pairs_are_remembered_and_the_log_says_what_happens(twenty: Trained) -> None:
    assert twenty.stdout == b"", "stdout is for replies"
    for said in (
        "20 pairs; 0 rows skipped",
        "preset compact, seed 0",
        "no pairs are held out",
        "vocabulary:",
        "estimated:",
        "questions, trained on since none are held out",
        "exported and checked",
    ):
        assert said in twenty.log
    last = (twenty.run / "samples.txt").read_text(encoding="utf-8").rsplit("epoch", 1)[1]
    replies = dict(line.strip().split(" -> ") for line in last.splitlines() if " -> " in line)
    assert len(replies) == 5
    assert all(dict(TWENTY)[question] == reply for question, reply in replies.items())


def test_the_run_directory_is_the_whole_record(twenty: Trained) -> None:
    names = {path.name for path in twenty.run.iterdir()} - {".lock"}
    assert names == {"config.json", "vocabulary.json", "history.jsonl", "samples.txt", "checkpoints", "export"}
    config = json.loads((twenty.run / "config.json").read_text())
    assert config["config"]["format"] == FORMAT
    assert config["config"]["training"]["seed"] == 0
    assert config["threads"] >= 1
    assert config["versions"]["tensorflow"].startswith("2.")
    history = [json.loads(line) for line in (twenty.run / "history.jsonl").read_text().splitlines()]
    assert [record["epoch"] for record in history] == list(range(1, len(history) + 1))
    assert history[-1]["accuracy"] > 0.99
    assert len(list((twenty.run / "checkpoints").iterdir())) == 2
    assert not [path for path in twenty.run.rglob("*") if path.name.endswith((".part", ".old"))]


def test_the_same_command_again_says_so_and_starts_nothing(twenty: Trained) -> None:
    before = {path: path.stat().st_mtime_ns for path in twenty.run.rglob("*") if path.name != ".lock"}
    done = train("--data", twenty.data, "--output", twenty.run, "--validation-split", "0", PYTHONWARNINGS="ignore")
    assert done.returncode == 0
    assert "finished and nothing has changed" in done.stderr.decode()
    assert before == {path: path.stat().st_mtime_ns for path in twenty.run.rglob("*") if path.name != ".lock"}


@pytest.mark.parametrize("change", ["data", "model"])
def test_other_data_or_sizes_are_refused_with_three_ways_on(twenty: Trained, tmp_path: Path, change: str) -> None:
    data, more = twenty.data, []
    if change == "data":
        data = write_pairs(tmp_path / "other.csv", TWENTY[:-1])
    else:
        more = ["--hidden-dim", "64"]
    line = error_line(train("--data", data, "--output", twenty.run, "--validation-split", "0", *more))
    assert ("data.pairs 20 -> 19" if change == "data" else "model.hidden_dim 128 -> 64") in line
    assert all(way in line for way in ("another --output", "--overwrite", "--init-from"))


def test_a_second_training_starts_no_java_and_goes_on_from_another_run(twenty: Trained, tmp_path: Path) -> None:
    """Same texts, so the morphemes come from the cache: even a broken Java is not noticed."""
    fake = tmp_path / "libjvm.so"
    fake.write_text("not a library")
    output = tmp_path / "next"
    done = train(
        *("--data", twenty.data, "--output", output, "--validation-split", "0", "--epochs", "1", "--init-from", twenty.run),
        *("--learning-rate", "0.0001"),
        XDG_CACHE_HOME=str(twenty.cache), CHATBOT_JVM=str(fake),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    (record,) = map(json.loads, (output / "history.jsonl").read_text().splitlines())
    assert record["accuracy"] > 0.95, "it begins with what the other run had learnt"
    assert (output / "vocabulary.json").read_bytes() == (twenty.run / "vocabulary.json").read_bytes()


def test_a_memory_goes_on_with_the_right_answers_whatever_is_held_out(twenty: Trained, tmp_path: Path) -> None:
    """The other run held nothing out; this one splits and refits, and numbers mean the same answers all the same."""
    output = tmp_path / "next"
    flags = ["--validation-split", "0.2", "--refit", "--epochs", "1", "--learning-rate", "0.00001"]
    done = train("--data", twenty.data, "--output", output, "--init-from", twenty.run, *flags)
    assert done.returncode == 0, done.stderr.decode()
    records = [json.loads(line) for line in (output / "history.jsonl").read_text().splitlines()]
    assert [record["phase"] for record in records] == ["select", "refit"]
    assert records[0]["validation"]["exact"] == 1.0, "the four held out were learnt by the other run"


@pytest.mark.parametrize("flags", [["--analyzer", "character"], ["--task", "language-model"]])
def test_other_pieces_do_not_go_on_from_a_run(twenty: Trained, tmp_path: Path, flags: list[str]) -> None:
    done = train("--data", twenty.data, "--output", tmp_path / "next", "--init-from", twenty.run, *flags)
    assert done.returncode == 2
    assert f"leave out {flags[0]}" in done.stderr.decode().splitlines()[-1]


def test_a_run_does_not_go_on_from_itself(twenty: Trained) -> None:
    done = train("--data", twenty.data, "--output", twenty.run, "--init-from", twenty.run, "--overwrite")
    assert done.returncode == 2
    assert "choose another --output" in done.stderr.decode()
    assert twenty.export.is_dir()


def test_overwrite_sets_the_old_run_aside(tmp_path: Path) -> None:
    data, output = write_pairs(tmp_path / "a.csv", TWENTY[:3]), tmp_path / "run"
    output.mkdir()
    (output / "config.json").write_text("{}")
    (output / "precious.txt").write_text("kept")
    done = train("--data", data, "--output", output, "--overwrite", *SMALL, "--epochs", "1")
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "run.old-1" / "precious.txt").read_text() == "kept"
    assert (output / "export" / "saved_model.pb").is_file()


def test_bad_input_is_one_line_before_anything_heavy(tmp_path: Path) -> None:
    good = write_pairs(tmp_path / "good.csv", TWENTY[:3])
    (tmp_path / "bad.csv").write_bytes(b"Q,A\n\xff\xff,x\n")
    (tmp_path / "columns.csv").write_text("x,y\n1,2\n")
    (tmp_path / "strangers").mkdir()
    (tmp_path / "strangers" / "thesis.txt").write_text("mine")
    (tmp_path / "file").write_text("")
    out = tmp_path / "out"
    for arguments, named in [
        (["--data", tmp_path / "missing.csv", "--output", out], "missing.csv: no such file"),
        (["--data", tmp_path / "bad.csv", "--output", out], "byte 4"),
        (["--data", tmp_path / "columns.csv", "--output", out], "--question-column"),
        (["--data", good, "--output", tmp_path / "strangers"], "thesis.txt"),
        (["--data", good, "--output", tmp_path / "file" / "run"], "cannot be written to"),
        (["--data", good, "--output", out, "--hidden-dim", "10", "--num-heads", "4"], "hidden_dim 10"),
        (["--data", good, "--output", out, "--epochs", "0"], "epochs must be at least 1"),
        (["--data", good, "--output", out, "--preset", "huge"], "tiny"),
        (["--data", good, "--output", out, "--init-from", tmp_path], "--init-from"),
        (["--data", good], "--output"),
    ]:
        begin = time.monotonic()
        line = error_line(train(*arguments))
        assert named in line
        assert time.monotonic() - begin < 20
        assert not (tmp_path / "out" / "config.json").exists()


def test_refit_trains_on_everything_for_the_chosen_steps(tmp_path: Path) -> None:
    pairs = [(f"질문 {number}번", f"대답 {number % 7}!") for number in range(40)]
    data, output = write_pairs(tmp_path / "a.csv", pairs), tmp_path / "run"
    done = train("--data", data, "--output", output, *SMALL, "--epochs", "3", "--validation-split", "0.25", "--refit")
    assert done.returncode == 0, done.stderr.decode()
    log = done.stderr.decode()
    assert "split: 30 pairs to train on, 10 held out" in log
    history = [json.loads(line) for line in (output / "history.jsonl").read_text().splitlines()]
    chosen = max((r for r in history if r["phase"] == "select" and r["is_best"]), key=lambda record: record["step"])
    refit = [record for record in history if record["phase"] == "refit"]
    assert refit[-1]["step"] == chosen["step"]
    assert f"all 40 pairs for the chosen {chosen['step']} steps" in log
    assert (output / "export" / "saved_model.pb").is_file()
