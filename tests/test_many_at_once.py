"""Many at once: threads, processes, and a model that is replaced while it is read."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from chatbot import responder as responder_module
from chatbot.artifact import MANIFEST, KnownAnswers, find_export, read_extra, write_extra
from chatbot.cli.remote import RemoteResponder
from chatbot.errors import UserError
from chatbot.responder import Responder
from chatbot.storage import replace_directory
from chatbot.text.analyzer import OktAnalyzer
from tests.conftest import ROOT, TWENTY, Trained
from tests.fuzz import any_texts

THREADS = 16


@pytest.mark.parametrize("count", [200, pytest.param(2_000, marks=pytest.mark.stress)])
def test_sixteen_threads_get_what_one_gets(loaded: Responder, count: int) -> None:
    """Known questions and any others; batch mates change nothing either, so it does not matter who comes when."""
    known, others = [question for question, _ in TWENTY], list(any_texts(count // 10, seed=6))
    questions = [question for pair in zip(known * count, others * 5, strict=False) for question in pair]
    assert len(questions) == count
    one_by_one = {question: loaded.reply(question) for question in dict.fromkeys(questions)}
    with ThreadPoolExecutor(THREADS) as pool:
        at_once = list(pool.map(loaded.reply, questions))
    for question, reply in zip(questions, at_once, strict=True):
        assert (reply.text, reply.pieces, reply.notices) == (
            one_by_one[question].text,
            one_by_one[question].pieces,
            one_by_one[question].notices,
        )
    assert [reply.text for reply in at_once[::2]] == [dict(TWENTY)[question] for question in questions[::2]]


def test_sixteen_threads_may_be_the_first_to_ask_okt() -> None:
    analyzer, gate = OktAnalyzer(), threading.Barrier(THREADS)

    def first(text: str) -> list[str]:
        gate.wait()
        return list(analyzer.morphemes([text])[0])

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(first, ["아버지가 방에 들어가신다"] * THREADS))
    assert all(morphemes == found[0] for morphemes in found)
    assert "".join(found[0]) == "아버지가방에들어가신다"


def copy_export(twenty: Trained, target: Path, answer: str = "") -> Path:
    """A copy; with an `answer`, a whole export whose list of known answers is that one, so that it can be told."""
    shutil.copytree(twenty.export, target)
    if answer:
        manifest, vocabulary = read_extra(target)
        (target / MANIFEST).unlink()
        write_extra(target, vocabulary, manifest.text, KnownAnswers((answer,)), {})
    return target


def replace(served: Path, by: Path) -> None:
    with replace_directory(served) as beside:
        shutil.copytree(by, beside, dirs_exist_ok=True)


def test_a_model_that_is_loaded_outlives_its_directory(loaded: Responder, twenty: Trained, tmp_path: Path) -> None:
    """The one process that has it answers on, while another puts a new one in its place, or takes the old one away."""
    served, gone = tmp_path / "served", twenty.run.with_name("away")
    copy_export(twenty, served)
    twenty.run.rename(gone)
    try:
        assert loaded.reply(TWENTY[1][0]).text == TWENTY[1][1]
    finally:
        gone.rename(twenty.run)


class Whatever:
    """Stands for a loaded SavedModel."""

    signatures = {"serving_default": None, "explain": None}


def known_answers(responder: Responder) -> frozenset[str] | None:
    assert responder.fallback is not None
    return responder.fallback.known_answers


@pytest.mark.parametrize("error", [None, UserError("damaged"), FileNotFoundError("gone")])
def test_a_load_that_meets_a_replacement_begins_again(
    twenty: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception | None
) -> None:
    served, new = copy_export(twenty, tmp_path / "served"), copy_export(twenty, tmp_path / "new", "새 대답")
    loads: list[Path] = []

    def load(directory: Path) -> Any:
        loads.append(directory)
        if len(loads) == 1:
            replace(served, new)
            if error is not None:
                raise error  # a file was there a moment ago
        return Whatever()

    monkeypatch.setattr(responder_module, "_load_saved_model", load)
    assert known_answers(Responder.load(served, only_known_answers=True)) == {"새 대답"}
    assert len(loads) == 2


def test_a_model_that_is_replaced_without_end_is_one_line(
    twenty: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served, number = copy_export(twenty, tmp_path / "served"), iter(range(100))

    def load(directory: Path) -> Any:
        replace(served, copy_export(twenty, tmp_path / f"new{next(number)}", f"{next(number)}"))
        return Whatever()

    monkeypatch.setattr(responder_module, "_load_saved_model", load)
    with pytest.raises(UserError, match="replaced over and over"):
        Responder.load(served)


def test_the_moment_without_a_directory_is_waited_for(twenty: Trained, tmp_path: Path) -> None:
    """Between the two renames there is no export; a killed process may leave it so, and then it is told soon."""
    run = tmp_path / "run"
    served = copy_export(twenty, run / "export")
    old = served.with_name(".export.123.old")
    served.rename(old)
    timer = threading.Timer(0.3, lambda: old.rename(served))
    timer.start()
    assert find_export(run) == served
    timer.join()
    served.rename(old)
    with pytest.raises(UserError, match="neither an export"):
        find_export(run)


def test_a_replacement_that_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = tmp_path / "served"
    with replace_directory(served) as beside:
        (beside / "file").write_text("old")
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.suffix == ".part":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="No space"), replace_directory(served) as beside:
        (beside / "file").write_text("new")
    assert (served / "file").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["served"]


READER = """
import sys
from pathlib import Path
from chatbot.artifact import find_export, read_extra, read_known_answers
from chatbot.errors import UserError
seen = set()
for _ in range(int(sys.argv[2])):
    try:
        directory = find_export(Path(sys.argv[1]))
        read_extra(directory)
        seen |= read_known_answers(directory)
    except (UserError, OSError):
        pass  # torn between two: a load notices by the manifest and begins again
    assert find_export(Path(sys.argv[1]))
print(len(seen))
"""


@pytest.mark.stress
def test_two_processes_read_while_a_third_replaces(twenty: Trained, tmp_path: Path) -> None:
    served = copy_export(twenty, tmp_path / "run" / "export")
    others = [copy_export(twenty, tmp_path / name, name) for name in ("하나", "둘")]
    readers = [
        subprocess.Popen([sys.executable, "-c", READER, served.parent, "60"], cwd=ROOT, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    number = 0
    while any(reader.poll() is None for reader in readers):
        replace(served, others[number % 2])
        number += 1
    assert [reader.returncode for reader in readers] == [0, 0]
    assert number > 5


@pytest.mark.stress
def test_two_chats_on_one_export_and_a_question_before_anything_is_loaded(twenty: Trained, tmp_path: Path) -> None:
    """Both are asked at once, and while they load; one answers on after the export was replaced, then removed."""
    served = copy_export(twenty, tmp_path / "served")
    with RemoteResponder(served) as one, RemoteResponder(served) as two:
        assert not one.is_ready
        with ThreadPoolExecutor(2) as pool:
            first = list(pool.map(lambda chat: chat.reply(TWENTY[0][0]).text, (one, two)))
        assert first == [TWENTY[0][1]] * 2
        replace(served, copy_export(twenty, tmp_path / "new", "새 대답"))
        assert one.reply(TWENTY[1][0]).text == TWENTY[1][1]
        shutil.rmtree(served)
        assert two.reply(TWENTY[2][0]).text == TWENTY[2][1]
        os.kill(one._child._process.pid, signal.SIGKILL)
        with pytest.raises(UserError, match="has ended"):
            one.reply("안녕")
        assert two.reply(TWENTY[3][0]).text == TWENTY[3][1]
