"""The same train.py command on a run whose files were damaged: it goes on rightly, or one clear line."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from chatbot.artifact import ANSWERS, SAVED_MODEL, VOCABULARY, read_extra, read_known_answers
from tests.conftest import ROOT, TWENTY, run_program, write_pairs

SMALL = [
    *("--analyzer", "character", "--hidden-dim", "16", "--num-heads", "2", "--intermediate-dim", "16"),
    *("--num-encoder-layers", "1", "--num-decoder-layers", "1", "--epochs", "2", "--validation-split", "0"),
]


def train(data: Path, output: Path, *flags: str | Path) -> subprocess.CompletedProcess[bytes]:
    done = run_program(ROOT / "train.py", "--data", data, "--output", output, *flags)
    assert b"Traceback" not in done.stderr
    assert b"internal" not in done.stderr
    return done


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The data and the run of a training of seconds."""
    directory = tmp_path_factory.mktemp("short")
    data = write_pairs(directory / "data.csv", TWENTY[:4])
    done = train(data, directory / "run", *SMALL)
    assert done.returncode == 0, done.stderr.decode()
    return data, directory / "run"


def damage(file: Path, how: str) -> None:
    content = file.read_bytes()
    if how == "removed":
        file.unlink()
    elif how == "foreign":
        file.write_bytes(b"[" * 100_000)
    elif how == "flipped":
        file.write_bytes(
            content[: len(content) // 2] + bytes([content[len(content) // 2] ^ 1]) + content[len(content) // 2 + 1 :]
        )
    else:
        file.write_bytes(content[: len(content) // 2] if how == "cut" else b"")


def weights(run: Path) -> list[bytes]:
    """The values in an export, sorted: their names are numbers, given anew each time."""
    import tensorflow as tf

    reader = tf.train.load_checkpoint(str(run / "export" / "variables" / "variables"))
    names = (name for name in reader.get_variable_to_shape_map() if "OBJECT_GRAPH" not in name)
    return sorted(reader.get_tensor(name).tobytes() for name in names)


@pytest.mark.stress
def test_a_damaged_export_of_a_finished_run_is_exported_again(short: tuple[Path, Path], tmp_path: Path) -> None:
    data, run = short[0], Path(shutil.copytree(short[1], tmp_path / "run"))
    damage(run / "export" / VOCABULARY, "flipped")
    done = train(data, run, *SMALL)
    assert done.returncode == 0, done.stderr.decode()
    assert "vocabulary.json: damaged" in done.stderr.decode()
    assert "going on from step" in done.stderr.decode()
    assert read_known_answers(run / "export") == {answer for _, answer in TWENTY[:4]}
    assert weights(run) == weights(short[1])
    again = train(data, run, *SMALL)
    assert "nothing has changed" in again.stderr.decode()


@pytest.mark.stress
@pytest.mark.parametrize("how", ["emptied", "cut", "flipped", "foreign"])
def test_a_damaged_config_is_one_line_and_overwrite_is_a_way_on(short: tuple[Path, Path], tmp_path: Path, how: str) -> None:
    data, run = short[0], Path(shutil.copytree(short[1], tmp_path / "run"))
    damage(run / "config.json", how)
    done = train(data, run, *SMALL)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.decode().splitlines() if line.startswith("error: ")]
    assert "config.json: damaged" in line
    assert "--overwrite" in line
    done = train(data, tmp_path / "next", "--init-from", run, "--epochs", "1", "--validation-split", "0")
    assert done.returncode == 2
    assert "config.json: damaged" in done.stderr.decode()


@pytest.mark.stress
@pytest.mark.parametrize("how", ["flipped", "removed"])
def test_an_unfinished_run_goes_on_whatever_else_is_damaged(short: tuple[Path, Path], tmp_path: Path, how: str) -> None:
    """Everything but the older checkpoint is damaged at once; the result is that of the run that nothing befell."""
    data, run = short[0], Path(shutil.copytree(short[1], tmp_path / "run"))
    shutil.rmtree(run / "export")
    newest = max((run / "checkpoints").glob("select-*"))
    for file in (
        newest / "state.json",
        newest / "variables.npz",
        *(run / name for name in ("history.jsonl", "vocabulary.json")),
    ):
        damage(file, how)
    done = train(data, run, *SMALL)
    assert done.returncode == 0, done.stderr.decode()
    assert "damaged" in done.stderr.decode()
    for line in (run / "history.jsonl").read_text().splitlines():
        json.loads(line)
    wanted, found = (read_extra(path / "export")[0].files for path in (short[1], run))
    assert found[VOCABULARY] == wanted[VOCABULARY]
    assert found[ANSWERS] == wanted[ANSWERS]
    assert weights(run) == weights(short[1])


@pytest.mark.stress
def test_a_selection_whose_best_weights_are_damaged_is_made_again(short: tuple[Path, Path], tmp_path: Path) -> None:
    flags = [*SMALL[:-2], "--validation-split", "0.25"]
    assert train(short[0], tmp_path / "run", *flags).returncode == 0
    wanted, history = weights(tmp_path / "run"), (tmp_path / "run/history.jsonl").read_bytes()
    shutil.rmtree(tmp_path / "run/export")
    damage(tmp_path / "run/checkpoints/best/variables.npz", "flipped")
    done = train(short[0], tmp_path / "run", *flags)
    assert done.returncode == 0, done.stderr.decode()
    assert "best: the checkpoint is damaged" in done.stderr.decode()
    assert weights(tmp_path / "run") == wanted
    assert (tmp_path / "run/history.jsonl").read_bytes() == history


@pytest.mark.stress
def test_a_run_to_begin_from_is_whole_and_itself(short: tuple[Path, Path], tmp_path: Path) -> None:
    """A vocabulary of another run would put other words to the same weights."""
    data, run = short[0], Path(shutil.copytree(short[1], tmp_path / "run"))
    (other := tmp_path / "other").mkdir()
    assert train(write_pairs(tmp_path / "other.csv", TWENTY[4:8]), other / "run", *SMALL).returncode == 0
    vocabulary = (run / "vocabulary.json").read_bytes()
    for content in (
        b"",
        vocabulary[:-9],
        vocabulary.replace("안".encode(), "않".encode()),
        (other / "run/vocabulary.json").read_bytes(),
    ):
        (run / "vocabulary.json").write_bytes(content)
        done = train(data, tmp_path / "next", "--init-from", run, "--epochs", "1", "--validation-split", "0")
        assert done.returncode == 2
        assert "vocabulary.json" in done.stderr.decode()
    (run / "vocabulary.json").write_bytes(vocabulary)
    (run / "export" / SAVED_MODEL).unlink()
    done = train(data, tmp_path / "next", "--init-from", run, "--epochs", "1", "--validation-split", "0")
    assert done.returncode == 2
    assert "finished training" in done.stderr.decode()
