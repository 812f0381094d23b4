"""What the whole suite shares: one Okt, the corpora, and (in other fixtures) one trained export."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from chatbot.text.analyzer import OktAnalyzer

ROOT = Path(__file__).resolve().parent.parent
SONGYS = ROOT.parent / "shared" / "data" / "songys"


@pytest.fixture(scope="session")
def okt() -> OktAnalyzer:
    analyzer = OktAnalyzer()
    analyzer.start()
    return analyzer


def read_columns(path: Path) -> list[tuple[str, str]]:
    """Questions and answers by the standard library alone, so that the reader under test has a witness."""
    with path.open(encoding="utf-8", newline="") as file:
        return [(row["Q"], row["A"]) for row in csv.DictReader(file)]


@pytest.fixture(scope="session")
def songys() -> list[tuple[str, str]]:
    if not SONGYS.is_dir():
        pytest.skip("the public corpus is not beside this checkout")
    return [pair for name in ("train.csv", "valid.csv") for pair in read_columns(SONGYS / name)]
