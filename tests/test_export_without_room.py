from __future__ import annotations

import errno
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import keras
import pytest
import tensorflow as tf

from chatbot import export


@pytest.mark.parametrize(
    ("error", "number"),
    [
        (tf.errors.ResourceExhaustedError(None, None, "/run/export/saved_model.pb; No space left on device"), errno.ENOSPC),
        (tf.errors.OutOfRangeError(None, None, "{{function_node}} variables; File too large [Op:SaveV2]"), errno.EFBIG),
        (tf.errors.UnknownError(None, None, "/run/export; Input/output error"), errno.EIO),
    ],
)
def test_what_tensorflow_cannot_write_is_an_error_of_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: tf.errors.OpError, number: int
) -> None:
    def write_out(path: str, verbose: bool) -> None:
        raise error

    def nothing(*arguments: Any, **more: Any) -> None:
        pass

    archive = SimpleNamespace(track=nothing, add_endpoint=nothing, write_out=write_out)
    monkeypatch.setattr(keras.export, "ExportArchive", lambda: archive)
    serving: Any = SimpleNamespace(table=None, reply=None, explain=None)
    with pytest.raises(OSError, match="export") as raised:
        export._write_saved_model(serving, tmp_path / "export")
    assert raised.value.errno == number
