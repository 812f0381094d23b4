"""The same training again, elsewhere: other place, user, locale, hash seed and time; and where it may not write."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from tests.conftest import ROOT, run_program
from tests.reliability.conftest import SMALL, TWO_EPOCHS, Elsewhere, record_of


def test_blanks_hangul_links_and_what_is_read_only_change_nothing(unbroken: Path, elsewhere: Elsewhere) -> None:
    """`test_killed.py` compares this run with one from an ordinary place, which is the promise that a seed decides all."""
    data, output = elsewhere.data.parent.name, elsewhere.open.name
    assert (unicodedata.is_normalized("NFC", data), unicodedata.is_normalized("NFC", output)) == (False, True)
    assert (elsewhere.open / unbroken.name / "export").is_dir(), "through the link"
    assert list(elsewhere.data.parent.iterdir()) == [elsewhere.data], "nothing is written beside the data"
    assert list(elsewhere.closed.iterdir()) == []


@pytest.mark.stress
def test_the_same_seed_gives_the_same_run_with_java_and_all_threads(elsewhere: Elsewhere, tmp_path: Path) -> None:
    flags = [*SMALL, "--analyzer", "okt", "--epochs", "2", "--refit"]
    here = run_program(
        ROOT / "train.py", "--data", elsewhere.data, "--output", tmp_path / "run", *flags, XDG_CACHE_HOME=str(tmp_path)
    )
    assert here.returncode == 0, here.stderr.decode()
    run = elsewhere.link / "모델 2"
    there = elsewhere.run(
        "-m", "tests.reliability.elsewhere", "--data", elsewhere.data, "--output", run, *flags,
        PYTHONHASHSEED="1", LC_ALL="POSIX", TZ="America/New_York",
    )  # fmt: skip
    assert there.returncode == 0, there.stderr.decode()
    assert record_of(run) == record_of(tmp_path / "run")


@pytest.mark.parametrize("place", ["closed", "below a file", "closed later"])
def test_an_output_that_cannot_be_written_is_named_before_training(elsewhere: Elsewhere, place: str) -> None:
    run = {
        "closed": elsewhere.closed / "run",
        "below a file": elsewhere.data / "run",
        "closed later": elsewhere.open / "later",
    }[place]
    if not elsewhere.is_bound and place != "below a file":
        pytest.skip("permissions do not bind root, and there is no setpriv to change that")
    if place == "closed later":
        run.mkdir(mode=0o555)
    done = elsewhere.run(ROOT / "train.py", "--data", elsewhere.data, "--output", run, *TWO_EPOCHS)
    last = done.stderr.decode().splitlines()[-1]
    assert (done.returncode, "devices" in done.stderr.decode()) == (2, False), done.stderr.decode()
    assert last.startswith(f"error: {run}: cannot be written to (")
    assert last.endswith("choose another --output")
