"""Every architecture through the real programs: trained, exported, chatted with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from chatbot.notices import Notice
from chatbot.responder import Responder
from tests.conftest import ROOT, TWENTY, read_columns, run_program, write_pairs

LINES = [
    "봄이 오면 산에 들에 진달래가 피어요.",
    "여름이 오면 바다에 파도가 출렁여요.",
    "가을이 오면 들판에 벼가 익어요.",
    "겨울이 오면 지붕에 눈이 쌓여요.",
    "The quick brown fox jumps over the lazy dog.",
    "고양이는 따뜻한 곳을 좋아해요 😺",
] * 2


SMALLER = ("--hidden-dim", "64", "--num-heads", "4", "--intermediate-dim", "128")


def exact(responder: Responder, pairs: list[tuple[str, str]]) -> float:
    replies = responder.replies([question for question, _ in pairs])
    return float(np.mean([reply.text == answer for reply, (_, answer) in zip(replies, pairs, strict=True)]))


def test_system_a_as_a_chatbot(tmp_path: Path) -> None:
    """Question, separator, answer in one sequence; loss on the answer only."""
    run, data = tmp_path / "run", write_pairs(tmp_path / "twenty.csv", TWENTY)
    flags = ["--architecture", "decoder-only", "--norm", "post", "--learning-rate", "0.003", "--epochs", "12"]
    done = run_program("train.py", "--data", data, "--output", run, *SMALLER, *flags)
    assert done.returncode == 0, done.stderr.decode()
    settings = json.loads((run / "config.json").read_text(encoding="utf-8"))["config"]["model"]
    assert (settings["architecture"], settings["num_encoder_layers"], settings["num_decoder_layers"]) == ("decoder-only", 0, 4)
    responder = Responder.load(run)
    assert exact(responder, TWENTY) == 1.0
    scored = responder.log_probabilities([TWENTY[3][0]], [TWENTY[3][1]])[0]
    assert scored is not None
    assert np.isclose(sum(scored), responder.reply(TWENTY[3][0]).log_probability, atol=1e-3), "explain agrees with the search"
    explain = tf.saved_model.load(str(run / "export")).signatures["explain"]
    given = {"morphemes": tf.constant([["▁안녕", ""]]), "reply_morphemes": tf.constant([["▁안녕", "하세요", "!"]])}
    weights = explain(**given)["cross_attention"].numpy()
    assert weights.shape == (1, 4, 4, 3, 2)
    assert (weights[..., 1] == 0).all(), "nothing looks at padding"
    assert ((weights[..., 0] > 0) & (weights[..., 0] < 1)).all()


@pytest.fixture(scope="module")
def language_model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    directory = tmp_path_factory.mktemp("lines")
    data = directory / "text.txt"
    data.write_text("\ufeff" + "\r\n\r\n".join(LINES) + "\n", encoding="utf-8")
    done = run_program(
        "train.py", "--task", "language-model", "--data", data, "--output", directory / "run", "--validation-split", "0.2",
        "--refit", "--epochs", "10", *SMALLER,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return directory / "run", done.stderr.decode()


def test_a_language_model_reports_loss_and_bits(language_model: tuple[Path, str]) -> None:
    run, log = language_model
    config = json.loads((run / "config.json").read_text(encoding="utf-8"))["config"]
    assert (config["text"]["analyzer"], config["model"]["architecture"]) == ("character", "decoder-only")
    assert "6 lines; 0 rows skipped, 6 exact repeats dropped" in log
    records = [json.loads(line) for line in (run / "history.jsonl").read_text(encoding="utf-8").splitlines()]
    held_out = [record["validation"] for record in records if "validation" in record]
    for figures in held_out:
        assert figures["bits_per_character"] > 0
        ratio = figures["bits_per_character"] / (figures["nll"] / np.log(2))  # pieces, end piece included, by characters
        assert 0.5 < ratio < 3
    best = min(range(len(held_out)), key=lambda index: held_out[index]["nll"])
    assert [record["is_best"] for record in records if "validation" in record][best], "the lowest loss is the best"
    assert "bits per character" in log
    assert "lines to continue, held out" in log


def test_a_language_model_continues_lines(language_model: tuple[Path, str]) -> None:
    run, _ = language_model
    beginnings = ["봄이 오면 산", "겨울이 오면", "", "The quick br", "고양이는 따뜻"]
    done = run_program(ROOT / "chat.py", run, stdin=("\n".join(beginnings) + "\n").encode())
    lines = done.stdout.decode().splitlines()
    assert len(lines) == len(beginnings)
    for beginning, line in zip(beginnings, lines, strict=True):
        assert line.startswith(beginning)
    assert lines[2] == ""
    whole = [line for line in (lines[0], lines[1], lines[3], lines[4]) if line in LINES]
    assert len(whole) >= 3, lines
    refused = run_program("-m", "chatbot", "evaluate", run, "--data", "data/faq.csv")
    assert refused.returncode == 2
    assert b"a language model has no answers to compare" in refused.stderr
    refused = run_program("chat.py", run, "--only-known-answers", "--threshold", "-1")
    assert refused.returncode == 2
    assert b"leave out --threshold, --only-known-answers" in refused.stderr


def test_a_language_model_in_python(language_model: tuple[Path, str]) -> None:
    responder = Responder.load(language_model[0])
    for line in ("봄이 오면 산에 쾍", "봄이 오면 ①㎏ Ａ…", "봄이 오면 " + "산에 들에 " * 20):
        reply = responder.reply(line)
        assert reply.text.startswith(line.strip()), "what was typed stands there as it was typed, known or not"
        assert Notice.CUT_QUESTION not in reply.notices
    assert Notice.CUT_REPLY not in responder.reply("가을이 오면").notices


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--task", "language-model", "--data", "data/faq.csv", "--format", "csv"], "--format is for questions and answers"),
        (["--task", "language-model", "--data", "data/faq.csv", "--architecture", "encoder-decoder"], "needs architecture"),
        (["--data", "data/faq.csv", "--architecture", "decoder-only", "--answer-memory"], "no answer_memory"),
        (["--data", "data/faq.csv", "--architecture", "both"], "invalid choice: 'both'"),
        (["--data", "data/faq.csv", "--preset", "base-decoder-only", "--num-heads", "7"], "multiple of num_heads"),
        (["--data", "data/faq.csv", "--no-scale-embeddings"], "tie_embeddings false"),
    ],
)
def test_what_does_not_go_together_is_one_line(arguments: list[str], named: str, tmp_path: Path) -> None:
    done = run_program("train.py", *arguments, "--output", tmp_path / "run")
    assert done.returncode == 2
    assert named in done.stderr.decode().splitlines()[-1]
    assert not (tmp_path / "run").exists()


@pytest.mark.stress
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("architecture", ["encoder-decoder", "decoder-only"])
def test_learns_a_shop_at_width_256(architecture: str, norm: str, tmp_path: Path) -> None:
    """95 % of the training questions answered to the letter, from the export."""
    data = ROOT / "data" / "faq.csv"
    run = tmp_path / "run"
    arguments = ["--architecture", architecture, "--norm", norm, "--preset", "small", "--no-answer-memory"]
    done = run_program("train.py", "--data", data, "--output", run, *arguments, "--validation-split", "0", timeout=600)
    assert done.returncode == 0, done.stderr.decode()
    assert exact(Responder.load(run), read_columns(data)) >= 0.95
