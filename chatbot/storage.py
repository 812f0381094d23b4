"""Files and directories that are either whole or not there: written beside, then renamed."""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
"""Error numbers of a disk that takes no more."""


@contextmanager
def replace_file(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file beside `path` for writing and puts it in the place of `path` when the block has ended well.

    Raises:
        OSError: it cannot be written; `path` is as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def write_text(path: Path, text: str) -> None:
    """Writes a small text file, whole or not at all."""
    with replace_file(path) as file:
        file.write(text.encode())


def write_json(path: Path, document: Any) -> None:
    """Writes a JSON document, whole or not at all."""
    write_text(path, json.dumps(document, ensure_ascii=False, indent=2) + "\n")


@contextmanager
def replace_directory(path: Path) -> Iterator[Path]:
    """Gives an empty directory beside `path` to fill and puts it in the place of `path` when the block has ended well.

    Raises:
        OSError: it cannot be written; `path` is as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()
    old = path.with_name(f".{path.name}.{os.getpid()}.old")
    try:
        yield beside
        if path.exists():
            path.rename(old)
        beside.rename(path)  # for a moment there was none: see `wait_for_replacement`
        shutil.rmtree(old, ignore_errors=True)
    except BaseException:
        if old.exists() and not path.exists():
            old.rename(path)
        shutil.rmtree(beside, ignore_errors=True)
        raise


_LONGEST_MOMENT = 2.0
"""Seconds; what a killed process left half replaced is not waited for any longer."""


def wait_for_replacement(path: Path) -> None:
    """Returns at once, but where `replace_directory` has moved the old one away it waits for the new one."""
    deadline = time.monotonic() + _LONGEST_MOMENT
    while not path.exists() and any(path.parent.glob(f".{glob.escape(path.name)}.*.old")) and time.monotonic() < deadline:
        time.sleep(0.01)


def sweep(directory: Path) -> None:
    """Cleans up behind a killed process: what it had begun to write goes, what it had only moved away comes back.

    Nobody else may be writing into the directory.
    """
    for begun in directory.glob(".*.part"):
        shutil.rmtree(begun) if begun.is_dir() else begun.unlink()
    for old in directory.glob(".*.old"):
        place = directory / old.name[1:].rsplit(".", 2)[0]
        if place.exists():
            shutil.rmtree(old)
        else:
            old.rename(place)


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
