"""A run directory: the whole record of one training."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chatbot.errors import UserError
from chatbot.sealed import parse_json, seal, unseal
from chatbot.storage import file_digest, sweep, write_json, write_text

_RECORDED = {"config": dict, "data": dict, "preset": str, "threads": int}
_CONFIG, _HISTORY, _SAMPLES, _LOCK = "config.json", "history.jsonl", "samples.txt", ".lock"


class RunDirectory:
    """Names the files of a run.

    config.json     settings, digest of the data, versions, threads
    vocabulary.json the pieces
    history.jsonl   a line an epoch
    samples.txt     the same questions with their replies after each epoch
    checkpoints/    the newest two, and best
    export/         the SavedModel; there when the training is finished
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints = path / "checkpoints"
        self.export = path / "export"
        self.vocabulary = path / "vocabulary.json"

    @property
    def exists(self) -> bool:
        """Whether a run was begun there."""
        return (self.path / _CONFIG).is_file()

    @property
    def is_finished(self) -> bool:
        """Whether its export is there."""
        return (self.export / "saved_model.pb").is_file()

    def final_checkpoint(self) -> Path:
        """The checkpoint with the weights that were exported: of the refit, else the best, else the newest.

        Raises:
            UserError: there is none.
        """
        refit, select = (sorted(self.checkpoints.glob(f"{phase}-????????")) for phase in ("refit", "select"))
        best = [path for path in [self.checkpoints / "best"] if path.is_dir()]
        for candidates in (refit, best, select):
            if candidates:
                return candidates[-1]
        raise UserError(f"{self.path}: holds no checkpoint; train it first")

    def final_digest(self) -> str:
        """SHA-256 of the weights in `final_checkpoint`."""
        return file_digest(self.final_checkpoint() / "variables.npz")

    def prepare(self) -> None:
        """Makes the directory.

        Raises:
            UserError: it cannot be made, or holds something else.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._not_writable(error) from error
        names = sorted(entry.name for entry in self.path.iterdir())
        # A training killed in its first moment leaves its lock, and a file begun beside its place.
        strangers = [name for name in names if name != _LOCK and not (name.startswith(".") and name.endswith(".part"))]
        if strangers and not self.exists:
            raise UserError(f"{self.path}: holds something that is not a run ({strangers[0]}); choose another --output")

    def read_config(self) -> dict[str, Any]:
        """The document that `write_config` wrote.

        Raises:
            UserError: it is damaged.
        """
        try:
            document = unseal(parse_json((self.path / _CONFIG).read_bytes()))
            if not all(isinstance(document.get(name), kind) for name, kind in _RECORDED.items()):
                raise ValueError("not what write_config writes")
        except (OSError, ValueError) as error:
            raise UserError(
                f"{self.path / _CONFIG}: damaged; train into another --output, or with --overwrite, which sets this run aside"
            ) from error
        return document

    def write_config(self, document: dict[str, Any]) -> None:
        """Records what the run is made of: the first file of a run, so it shows whether there can be more.

        Raises:
            UserError: the directory cannot be written to.
        """
        try:
            write_json(self.path / _CONFIG, seal(document))
        except OSError as error:
            raise self._not_writable(error) from error

    def _not_writable(self, error: OSError) -> UserError:
        return UserError(f"{self.path}: cannot be written to ({error.strerror}); choose another --output")

    def set_aside(self) -> Path:
        """Gives a run another name, so that its place is free; nothing is deleted.

        Raises:
            UserError: a training is writing there.
        """
        with self.lock():
            number = 1
            while (aside := self.path.with_name(f"{self.path.name}.old-{number}")).exists():
                number += 1
            return self.path.rename(aside)

    def append_history(self, record: dict[str, Any]) -> None:
        """Adds a line for an epoch."""
        with (self.path / _HISTORY).open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def append_samples(self, text: str) -> None:
        """Adds the sample replies of an epoch."""
        with (self.path / _SAMPLES).open("a", encoding="utf-8") as file:
            file.write(text)

    def forget_after(self, phase: str, epoch: int) -> None:
        """Drops the records of epochs that the checkpoint to go on from does not know; a torn last one, too."""
        kept = []
        for line in self._read(_HISTORY).splitlines():
            try:
                record = json.loads(line)
                of_phase, of_epoch = record["phase"], record["epoch"]
                is_later = of_phase == phase and of_epoch > epoch
            except (ValueError, KeyError, TypeError, RecursionError):
                break
            if is_later:
                break
            kept.append(line + "\n")
        # Samples have no numbers, but come in the order of the history, and their first lines alone are not indented.
        samples = re.split(r"^(?! )", self._read(_SAMPLES), flags=re.MULTILINE)[1:]
        write_text(self.path / _HISTORY, "".join(kept))
        write_text(self.path / _SAMPLES, "".join(samples[: len(kept)]))

    def _read(self, name: str) -> str:
        """A file that a kill may have torn in the middle of a character; nothing where it is missing."""
        try:
            return (self.path / name).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""

    def sweep(self) -> None:
        """Cleans up behind a killed training. Only under `lock`."""
        for directory in (self.path, self.checkpoints):
            sweep(directory)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keeps a second training out of the directory, as long as this process lives.

        Raises:
            UserError: another training holds it, or it cannot be written to.
        """
        try:
            import fcntl
        except ImportError:  # Windows: no lock, and no harm as long as nobody starts two
            yield
            return
        try:
            lock = (self.path / _LOCK).open("w")
        except OSError as error:
            raise self._not_writable(error) from error
        with lock as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UserError(
                    f"{self.path}: another training is writing there; wait for it, or choose another --output"
                ) from None
            yield


def differences(recorded: dict[str, Any], wanted: dict[str, Any], prefix: str = "") -> list[str]:
    """What differs between two documents, a phrase each: `model.hidden_dim 128 -> 256`."""
    found: list[str] = []
    for name in sorted(recorded.keys() | wanted.keys()):
        old, new = recorded.get(name), wanted.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            found += differences(old, new, f"{prefix}{name}.")
        elif old != new:
            found.append(f"{prefix}{name} {_short(old)} -> {_short(new)}")
    return found


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 24 else text[:12] + "..."
