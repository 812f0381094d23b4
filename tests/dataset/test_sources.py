from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chatbot.dataset.corpus import ReadOptions, read_corpus
from chatbot.dataset.sources import describe_sources, read_sources
from chatbot.errors import UserError


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a run records that read a CP949 file by a relative path and by a column of its own."""
    (tmp_path / "a.csv").write_bytes("물어본 것,A\n안녕,네!\n".encode("cp949"))
    monkeypatch.chdir(tmp_path)
    options = ReadOptions(encoding="cp949", question_column="물어본 것")
    corpus = read_corpus([Path("a.csv")], options)
    recorded = {"sources": describe_sources([Path("a.csv")], options), "data": {"digest": corpus.digest()}}
    return dict(json.loads(json.dumps(recorded)))


def test_a_run_finds_its_pairs_again_from_anywhere(
    config: dict[str, Any], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert read_sources(config).questions == ["안녕"]


def test_a_file_that_is_gone_or_changed_is_named(config: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("물어본 것,A\n안녕,아니!\n".encode("cp949"))
    with pytest.raises(UserError, match=r"a\.csv: not the pairs any more"):
        read_sources(config)
    (tmp_path / "a.csv").unlink()
    with pytest.raises(UserError, match=r"a\.csv, which it was trained on, is not there any more"):
        read_sources(config)


@pytest.mark.parametrize("broken", [{}, {"sources": None}, {"sources": {"paths": ["a.csv"], "options": {"colour": "red"}}}])
def test_a_run_that_does_not_say_is_told_apart(broken: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="does not say which files"):
        read_sources(broken)
