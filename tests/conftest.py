"""What the whole suite shares: one Okt, the corpora, one trained export, and how to run our programs."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chatbot.text.analyzer import OktAnalyzer

if TYPE_CHECKING:
    from chatbot.responder import Responder

ROOT = Path(__file__).resolve().parent.parent
SONGYS = ROOT.parent / "shared" / "data" / "songys"

TWENTY = [
    ("안녕", "안녕하세요!"),
    ("오늘 뭐 먹지?", "비빔밥, 국수, 김밥 중에 골라 보세요."),
    ("심심해", "ㅋㅋㅋㅋㅋ 저랑 놀아요~"),
    ("12시 땡!", "하루가 또 가네요."),
    ("이름이 뭐야", "저는 \"챗봇\"이라고 해요."),
    ("고마워", "별말씀을요 😊"),
    ("날씨 어때?", "창밖을 한번 보세요... 맑으면 좋겠네요!"),
    ("시험 망했어 ㅠㅠ", "괜찮아요, 다음엔 더 잘할 수 있어요."),
    ("졸려", "잠깐 눈 좀 붙이세요; 10분이면 충분해요."),
    ("배고프다", "밥은 먹고 다니시죠?"),
    ("여행 가고 싶다", "바다(또는 산)로 떠나 볼까요?"),
    ("운동할까", "네!! 지금 바로요."),
    ("돈이 없어", "가계부를 써 보세요. 1,000원부터요."),
    ("생일이야", "생일 축하해요 🎂🎉"),
    ("비 온다", "우산 챙기셨어요?"),
    ("회사 가기 싫어", "월요일이죠? 저도 그 마음 알아요."),
    ("노래 추천해 줘", "신나는 노래 어때요: 라라라~"),
    ("커피 마실까", "너무 많이 마시면 잠이 안 와요."),
    ("친구랑 싸웠어", "먼저 \"미안해\" 하고 말해 보세요."),
    ("잘 자", "좋은 꿈 꾸세요."),
]  # fmt: skip


@pytest.fixture(scope="session")
def okt() -> OktAnalyzer:
    analyzer = OktAnalyzer()
    analyzer.start()
    return analyzer


def read_columns(path: Path) -> list[tuple[str, str]]:
    """Questions and answers by the standard library alone, so that the reader under test has a witness."""
    with path.open(encoding="utf-8", newline="") as file:
        return [(row["Q"], row["A"]) for row in csv.DictReader(file)]


def write_pairs(path: Path, pairs: list[tuple[str, str]]) -> Path:
    """A CSV file of pairs."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("Q", "A"), *pairs])
    return path


@pytest.fixture(scope="session")
def songys() -> list[tuple[str, str]]:
    if not SONGYS.is_dir():
        pytest.skip("the public corpus is not beside this checkout")
    return [pair for name in ("train.csv", "valid.csv") for pair in read_columns(SONGYS / name)]


def run_program(
    *arguments: str | Path, stdin: bytes = b"", cwd: Path = ROOT, timeout: float = 300, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Runs a program of the project (`train.py`, `chat.py`, `-m chatbot`) as a user would."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        timeout=timeout,
        env={**os.environ, **environment},
        check=False,
    )


@dataclass(frozen=True)
class Trained:
    """The suite's one trained model.

    Attributes:
        data: the CSV file.
        run: its run directory.
        log: what train.py wrote to stderr.
        stdout: what it wrote to stdout.
        cache: $XDG_CACHE_HOME of the training.
    """

    data: Path
    run: Path
    log: str
    stdout: bytes
    cache: Path

    @property
    def export(self) -> Path:
        return self.run / "export"


@pytest.fixture(scope="session")
def twenty(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Twenty pairs with mixed punctuation, trained by the real train.py with what such a file gets by default."""
    directory = tmp_path_factory.mktemp("twenty")
    data = write_pairs(directory / "twenty.csv", TWENTY)
    run, cache = directory / "models" / "스무 쌍", directory / "cache"
    done = run_program(
        ROOT / "train.py", "--data", data, "--output", run, "--validation-split", "0", cwd=directory, XDG_CACHE_HOME=str(cache)
    )
    assert done.returncode == 0, done.stderr.decode()
    return Trained(data, run, done.stderr.decode(), done.stdout, cache)


@pytest.fixture(scope="session")
def loaded(twenty: Trained) -> Responder:
    """The one Responder of tests that only ask; its weights are in memory, so it outlives its directory."""
    from chatbot.responder import Responder

    return Responder.load(twenty.run)
