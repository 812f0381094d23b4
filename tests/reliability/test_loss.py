"""A loss that is no number stops a training of the command line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.reliability.conftest import SMALL, Nursery


@pytest.mark.stress
def test_a_training_that_explodes_names_the_step_and_keeps_weights_that_are_numbers(
    nursery: Nursery, pairs_file: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    flags = [*SMALL, "--learning-rate", "1e18"]
    done = nursery.train("--data", pairs_file, "--output", run, *flags, checkpoint_seconds=0.0)
    assert done.code == 2
    assert re.fullmatch(r"error: step \d+: .*the last good weights are kept\. Try a lower --learning-rate", done.last_line)
    (newest,) = sorted((run / "checkpoints").glob("select-*"))[-1:]
    with np.load(newest / "variables.npz") as saved:
        assert all(np.all(np.isfinite(saved[name])) for name in saved.files)
    assert not (run / "export").exists()
