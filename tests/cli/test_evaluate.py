"""`python -m chatbot evaluate` on a real run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chatbot.cli.entry import main
from chatbot.responder import Responder
from tests.conftest import ROOT

PAIRS = [
    ("안녕", "안녕하세요!"),
    ("이름이 뭐야?", "저는 챗봇이에요."),
    ("배고파", "맛있는 거 먹어요."),
    ("졸려", "푹 주무세요."),
    ("심심해", "저랑 놀아요!"),
    ("고마워", "저도 고마워요."),
]


def write_csv(path: Path, pairs: list[tuple[str, ...]], header: str = "Q,A") -> Path:
    path.write_text("\n".join([header, *map(",".join, pairs)]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that knows its few pairs by heart; trained in a process of its own, which may set its threads."""
    directory = tmp_path_factory.mktemp("evaluate")
    data = write_csv(directory / "train.csv", [*PAIRS])
    flags = ["--analyzer", "character", "--epochs", "4", "--validation-split", "0", "--preset", "compact", "--threads", "1"]
    command = [sys.executable, "train.py", "--data", data, "--output", directory / "run", *flags]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return directory / "run"


def evaluate(capfd: pytest.CaptureFixture[str], *argv: object) -> tuple[int, str, str]:
    code = main(["evaluate", *map(str, argv)])
    captured = capfd.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def held_out(tmp_path: Path) -> Path:
    """Two questions of the training data, in other spellings, and three that are not, of two kinds."""
    pairs: list[tuple[str, ...]] = [
        ("안녕!!", "안녕하세요!", "paraphrase"),
        ("배 고파", "맛있는 거 먹어요.", "paraphrase"),
        ("너무 배고파", "맛있는 거 먹어요.", "paraphrase"),
        ("정말 졸려", "푹 주무세요.", "paraphrase"),
        ("[b]내일[/b] 뭐 해?", "글쎄요 ☂", "open"),
    ]
    return write_csv(tmp_path / "test.csv", pairs, "Q,A,kind")


def test_json_holds_every_figure_of_every_system_by_kind(run: Path, held_out: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = evaluate(capfd, run, "--data", held_out, "--json", "--samples", 2)
    assert code == 0
    report: dict[str, Any] = json.loads(out)
    assert (report["leaked"], report["questions"]) == (2, 3)
    assert "2 questions stand in the training data and are left out; 3 are asked" in err
    assert [(group["kind"], group["questions"]) for group in report["groups"]] == [(None, 3), ("paraphrase", 2), ("open", 1)]
    whole, paraphrase, _ = (group["figures"] for group in report["groups"])
    assert list(whole) == ["model", "retrieval", "constant"]
    assert all(value is not None for value in whole["model"].values())
    assert paraphrase["retrieval"]["exact"] == 1
    assert whole["constant"]["distinct_replies"] == pytest.approx(1 / 3)
    assert report["answers_without_perplexity"] == 1
    assert "without 1 answers" in err
    assert report["samples"][0]["replies"].keys() == whole.keys()
    assert report["samples"][0]["replies"]["constant"] == "안녕하세요!"


def test_coverage_against_precision(run: Path, held_out: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _, out, _ = evaluate(capfd, run, "--data", held_out, "--json", "--fallback")
    rows = json.loads(out)["fallback"]
    assert rows
    assert [row["coverage"] for row in rows] == sorted(row["coverage"] for row in rows)
    assert all(0 < row["coverage"] <= 1 and 0 <= row["precision"] <= 1 and row["threshold"] < 0 for row in rows)
    assert not any(row["is_own"] for row in rows), "no questions were held out, so training chose none"
    _, out, _ = evaluate(capfd, run, "--data", held_out, "--fallback")
    assert "questions answered" in out
    _, out, _ = evaluate(capfd, run, "--data", held_out)
    assert "questions answered" not in out, "off unless asked for"


def test_a_table_for_people(run: Path, held_out: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = evaluate(capfd, run / "export", "--data", held_out, "--samples", 3)
    assert code == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "model retrieval constant" in lines
    assert [line for line in lines if line.endswith("questions")] == [
        "all: 3 questions",
        "paraphrase: 2 questions",
        "open: 1 questions",
    ]
    assert "exact answers" in out
    assert "[b]내일[/b]" in out, "text of a file is no markup"
    assert "Traceback" not in err


def test_a_model_that_knows_its_pairs_is_measured_so(run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    other = write_csv(tmp_path / "other.csv", [("이것만", "알아요."), ("안녕", "네.")])
    code, out, err = evaluate(capfd, run, "--data", run.parent / "train.csv", "--train", other, "--json")
    assert code == 0
    report = json.loads(out)
    assert report["leaked"] == 1
    assert "1 questions stand in the training data" in err
    model = report["groups"][0]["figures"]["model"]
    assert model["exact"] == 1
    assert model["chrf"] == pytest.approx(100)
    assert model["bleu"] == pytest.approx(100)
    assert 1 < model["perplexity"] < 2
    assert 0 < model["bits_per_character"] < 1
    assert model["training_answers"] == 0, "none of them is an answer of the file given as training data"


def test_log_probabilities_of_a_reply_add_up_to_its_own(run: Path) -> None:
    responder = Responder.load(run)
    questions = [question for question, _ in PAIRS]
    replies = responder.replies(questions)
    scored = responder.log_probabilities([*questions, " ", "안녕"], [*(reply.text for reply in replies), "네", "☂"])
    assert scored[-2:] == [None, None], "a blank question, a sign that no piece writes"
    for reply, logarithms in zip(replies, scored, strict=False):
        assert logarithms is not None
        assert len(logarithms) > len(reply.text.replace(" ", "")), "a piece a character at least, and the end piece"
        assert sum(logarithms) == pytest.approx(reply.log_probability, abs=1e-3)


def test_questions_that_all_leak_are_refused(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = evaluate(capfd, run, "--data", run.parent / "train.csv")
    assert (code, out) == (2, "")
    assert "all 6 questions stand in the training data" in err.splitlines()[-1]


def test_an_export_alone_is_measured_without_baselines_and_says_why(
    run: Path, held_out: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(run), "--output", str(tmp_path / "bot")]) == 0
    code, out, err = evaluate(capfd, tmp_path / "bot", "--data", held_out, "--json")
    assert code == 0
    figures = json.loads(out)["groups"][0]["figures"]
    assert list(figures) == ["model"]
    assert figures["model"]["training_answers"] is None
    assert json.loads(out)["questions"] == 5, "nothing tells which of them leak"
    assert "without baselines and leak check: an export does not say" in err
    assert "--train FILE" in err


def test_without_scikit_learn_the_rest_is_measured(
    run: Path, held_out: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.feature_extraction.text", None)
    code, out, err = evaluate(capfd, run, "--data", held_out, "--json")
    assert code == 0
    assert list(json.loads(out)["groups"][0]["figures"]) == ["model", "constant"]
    assert "without the retrieval baseline: scikit-learn is missing: pip install -r requirements-evaluate.txt" in err


def test_training_writes_down_its_sources(run: Path) -> None:
    recorded = json.loads((run / "config.json").read_text(encoding="utf-8"))["sources"]
    assert recorded["paths"] == [str(run.parent / "train.csv")]
    assert recorded["options"]["format"] == "csv"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["nowhere", "--data", "a.csv"], "nowhere: no such directory"),
        (["RUN", "--data", "nothing.csv"], "nothing.csv: no such file"),
        (["RUN", "--data", "DATA", "--train", "nothing.csv"], "check the path given with --train"),
    ],
)
def test_mistakes_are_one_line(
    run: Path, held_out: Path, capfd: pytest.CaptureFixture[str], argv: list[str], message: str
) -> None:
    names = {"RUN": run, "DATA": held_out}
    code, out, err = evaluate(capfd, *(names.get(word, word) for word in argv))
    assert (code, out) == (2, "")
    assert message in err.splitlines()[-1]
